"""Which resources there are: one value per (group, version, plural).

Handlers, discovery, selectors, tables and storage read it and nothing else knows kinds by name.
Custom resources become values of the same type when their definition is stored.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

STANDARD_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource in one version."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: frozenset[str] = frozenset()
    verbs: tuple[str, ...] = STANDARD_VERBS
    has_generation: bool = False
    """Whether `metadata.generation` counts changes of the spec."""

    returns_deleted: bool = False
    """Whether DELETE answers with the object instead of a Status."""

    creates_on_update: bool = False
    unconditional_update: bool = True
    """Whether an update may leave out the resourceVersion."""

    type: str = ""
    """The built-in type; empty for custom resources."""

    stored_as: str = ""
    """Storage bucket; resources that are two views of the same objects share it."""

    list_kind: str = ""
    custom: bool = False
    selectable: tuple[str, ...] = ()
    """Fields beyond the metadata by which custom resources may be selected."""

    columns: tuple[Any, ...] = ()
    """What tables show of a custom resource, beside its name (`columns.Column`)."""

    deprecation: str = ""
    """A warning that every request to this version carries."""

    stored_version: str = ""
    """For custom resources, the version in which objects are stored."""

    from_storage: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    to_storage: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """How stored objects look in this version and back; None where they are stored in it."""

    schema: Mapping[str, Any] | None = None
    """For custom resources, the OpenAPI schema as it stands in the definition."""

    scale: tuple[str, str, str] | None = field(default=None)
    """Behind the scale subresource: the paths of spec and status replicas, and of the
    selector (`""` for none)."""

    @property
    def group_version(self) -> str:
        """Return what stands in `apiVersion`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """Return `plural.group`, the name that messages use and callers may ask for."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def bucket(self) -> str:
        """Return the storage bucket."""
        return self.stored_as or self.qualified

    @property
    def has_status(self) -> bool:
        """Tell whether status is a subresource."""
        return "status" in self.subresources

    @property
    def listing(self) -> str:
        """Return the kind of a list of these."""
        return self.list_kind or f"{self.kind}List"


class Catalogue:
    """The resources that are served now; looked up by path and by name."""

    def __init__(self, resources: Iterable[Resource] = ()) -> None:
        self._by_path: dict[tuple[str, str, str], Resource] = {}
        self._by_name: dict[str, Resource] = {}
        for resource in resources:
            self.add(resource)

    def add(self, resource: Resource) -> None:
        """Serve a resource; the first version added is the one found by name."""
        self._by_path[resource.group, resource.version, resource.plural] = resource
        self._by_name.setdefault(resource.qualified, resource)

    def drop(self, group: str, plural: str) -> None:
        """Stop serving every version of a resource."""
        for path in [path for path in self._by_path if path[0] == group and path[2] == plural]:
            del self._by_path[path]
        self._by_name.pop(f"{plural}.{group}" if group else plural, None)

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """Return the resource behind a path, None if there is none."""
        return self._by_path.get((group, version, plural))

    def named(self, name: str) -> Resource | None:
        """Return the resource called `pods`, `deployments.apps`, `nodeclaims.karpenter.sh`."""
        return self._by_name.get(name)

    def group_versions(self) -> dict[str, list[str]]:
        """Return the versions served per group, the core group under `""`."""
        found: dict[str, list[str]] = {}
        for group, version, _plural in self._by_path:
            versions = found.setdefault(group, [])
            if version not in versions:
                versions.append(version)
        return found

    def __iter__(self) -> Iterator[Resource]:
        return iter(list(self._by_path.values()))
