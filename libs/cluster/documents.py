"""From parsed YAML or JSON to Kubernetes objects, each with the place where it was read.

Apart from `files`, which makes a cluster of them: here an object is only what its document says, in
the namespace where kubectl would put it.

Laws:
    - A document that is no object is an error that names its source, and the object and the field.
    - Of two objects with one name the later one counts, with a note for each source.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from libs.domain.errors import InvalidRequest
from libs.kube.objects.decoding import from_document
from libs.kube.objects.kinds import KubeObject, is_namespaced, kind_of, struct_of

_NAMED = 3
"""Most objects that one note names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileObject:
    """An object and where it was read."""

    source: str
    obj: KubeObject
    document: Mapping[str, Any]
    """The object as it stands in the file."""

    @property
    def shown(self) -> str:
        """Return source, kind and name for messages."""
        metadata = self.obj.metadata
        name = "/".join(part for part in (metadata.namespace, metadata.name) if part)
        return f'{self.source}: {kind_of(self.obj)} "{name}"'

    @property
    def plain(self) -> Mapping[str, Any]:
        """Return the document in the namespace where kubectl would put it."""
        namespace = self.obj.metadata.namespace
        if not namespace:
            return self.document
        metadata = {**self.document["metadata"], "namespace": namespace}
        return {**self.document, "metadata": metadata}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileObjects:
    """All objects of some files, and what was left out."""

    objects: tuple[FileObject, ...]
    notes: tuple[str, ...] = ()


def objects_of(documents: Iterable[tuple[str, object]]) -> FileObjects:
    """Return the objects in the documents, Lists taken apart.

    Kinds that planning does not read are left out with a note.

    Raises:
        InvalidRequest: a document that is no object, or a field of the wrong type; names source,
            object and field.
    """
    gathered = _Gathered()
    for source, document in documents:
        try:
            for one in _flat(source, document):
                gathered.add(source, one)
        except RecursionError:
            raise InvalidRequest("is nested too deeply, or contains itself", field=source) from None
    return gathered.result()


@dataclass(slots=True)
class _Gathered:
    """Objects by kind and name, in the order in which they came."""

    found: dict[tuple[str, str, str], FileObject] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    again: dict[str, list[str]] = field(default_factory=dict)
    """What is there twice, by the source that has it last."""

    def add(self, source: str, document: Mapping[str, Any]) -> None:
        api_version, kind = _type_of(source, document)
        struct = struct_of(api_version, kind)
        if struct is None:
            self.skipped[f"{api_version} {kind}"] += 1
            return
        obj = _with_defaults(_converted(source, kind, document, struct))
        one = FileObject(source=source, obj=obj, document=document)
        if not obj.metadata.name:
            raise InvalidRequest(
                "has no name", field=f"{source}: {kind} number {len(self.found) + 1}: metadata.name"
            )
        key = kind, obj.metadata.namespace, obj.metadata.name
        if key in self.found:
            self.again.setdefault(source, []).append(one.shown)
        self.found[key] = one

    def result(self) -> FileObjects:
        left_out = [
            f"{count} of {kind} left out: planning does not read that kind"
            for kind, count in sorted(self.skipped.items())
        ]
        notes = (_twice(source, shown) for source, shown in self.again.items())
        return FileObjects(objects=tuple(self.found.values()), notes=(*notes, *left_out))


def _twice(source: str, shown: Sequence[str]) -> str:
    """Return what is to be said of objects of one source that are there twice."""
    if len(shown) == 1:
        return f"{shown[0]} is there twice; the later one counts"
    first = ", ".join(one.removeprefix(f"{source}: ") for one in shown[:_NAMED])
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return f"{source}: {len(shown)} objects are there twice; the later ones count: {first}{more}"


def _flat(source: str, document: object) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a document: itself, the items of a List, the members of an array."""
    if document is None:
        return
    if isinstance(document, list | tuple):
        for one in document:
            yield from _flat(source, one)
        return
    if not isinstance(document, Mapping):
        raise InvalidRequest(f"{document!r:.80} is not a Kubernetes object", field=source)
    kind = document.get("kind")
    is_list = isinstance(kind, str) and kind.endswith("List")
    if not (isinstance(kind, str) and is_list and ("items" in document or kind == "List")):
        yield document
        return
    items = document.get("items") or ()
    if not isinstance(items, list | tuple):
        raise InvalidRequest("is not a list", field=f"{source}: {kind}: items")
    own = {"apiVersion": document.get("apiVersion"), "kind": kind.removesuffix("List")}
    for one in items:
        # Items of a typed list, as the API answers, leave out what the list says already.
        typed = {**own, **one} if kind != "List" and isinstance(one, Mapping) else one
        yield from _flat(source, typed)


def _type_of(source: str, document: Mapping[str, Any]) -> tuple[str, str]:
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    shown = f'{source}: object "{name}"' if name else f"{source}: an object"
    found = []
    for key in ("apiVersion", "kind"):
        text = document.get(key)
        if not isinstance(text, str) or not text:
            raise InvalidRequest("is missing", field=f"{shown}: {key}")
        found.append(text)
    return found[0], found[1]


def _converted(
    source: str, kind: str, document: Mapping[str, Any], struct: type[KubeObject]
) -> KubeObject:
    try:
        return from_document(document, struct)
    except InvalidRequest as error:
        metadata = document.get("metadata")
        named = metadata if isinstance(metadata, Mapping) else {}
        name = "/".join(str(named[key]) for key in ("namespace", "name") if named.get(key))
        where = f'{source}: {kind} "{name}"' + (f": {error.field}" if error.field else "")
        raise InvalidRequest(error.detail, field=where) from None


def _with_defaults(obj: KubeObject) -> KubeObject:
    """Return the object in the namespace where kubectl would put it."""
    namespace = (obj.metadata.namespace or "default") if is_namespaced(obj) else ""
    if namespace == obj.metadata.namespace:
        return obj
    metadata = msgspec.structs.replace(obj.metadata, namespace=namespace)
    return msgspec.structs.replace(obj, metadata=metadata)
