"""The objects of a cluster other than pods, by kind, namespace and name.

Apart from the state so that each part of a snapshot gets its kind typed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar, cast

from libs.kube.objects.kinds import KubeObject, is_namespaced, kind_of

T = TypeVar("T", bound=KubeObject)

Key = tuple[str, str]
"""Namespace (empty for cluster-scoped kinds), name."""


class Objects:
    """Objects by kind. Node classes are kept by their own kind, all others by their struct."""

    def __init__(self) -> None:
        self._by_kind: dict[str, dict[Key, KubeObject]] = {}
        self._versions: Counter[str] = Counter()

    def upsert(self, obj: KubeObject) -> None:
        """Keep an object in the place of its predecessor."""
        namespace = obj.metadata.namespace if is_namespaced(obj) else ""
        key = namespace, obj.metadata.name
        kind = kind_of(obj)
        self._by_kind.setdefault(kind, {})[key] = obj
        self._versions[kind] += 1

    def remove(self, kind: str, key: Key) -> None:
        """Forget an object."""
        if self._by_kind.get(kind, {}).pop(key, None) is not None:
            self._versions[kind] += 1

    def of(self, struct: type[T], kind: str = "") -> Mapping[Key, T]:
        """Return the objects of a kind; its name may be given where it is not the struct's."""
        found = self._by_kind.get(kind or struct.__name__, {})
        return cast("Mapping[Key, T]", MappingProxyType(found))

    def version(self, kind: str) -> int:
        """Return a number that grows with each change of an object of a kind."""
        return self._versions[kind]

    def keys(self, kind: str) -> Iterator[Key]:
        """Return the keys of a kind."""
        yield from self._by_kind.get(kind, {})
