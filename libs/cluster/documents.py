"""From parsed YAML or JSON to Kubernetes objects, each with the place where it was read.

Apart from `files`, which makes a cluster of them: here an object is only what its document says, in
the namespace where kubectl would put it.

Laws:
    - What is no object or is illegible stops only itself: it is among the refused, with its source,
      the object and the field. What an API server would refuse has a problem.
    - Of two objects with one name the later one counts, with a note for each source.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import msgspec

from libs.apiserver.types.walking import UnknownField
from libs.cluster.judging import Judge, check_version, read_as, refusal, short, unknown_notes
from libs.domain.errors import InvalidRequest
from libs.kube.dump.files import is_header
from libs.kube.objects.decoding import from_plain, plain
from libs.kube.objects.kinds import (
    KubeObject,
    is_namespaced,
    is_of_namespaces,
    kind_of,
    struct_of,
)
from libs.kube.objects.pod import Pod

_NAMED = 3
"""Most objects that one note names."""
_DEFAULT_NAMESPACE = "default"
_NAMELESS = 1_000
"""Most of what is no object that is kept to be told of: nonsense comes in any size."""
_NOTED = 20
"""Most unknown fields that are told of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileObject:
    """An object and where it was read."""

    source: str
    obj: KubeObject
    document: Mapping[str, Any]
    """The object as it stands in the file, nulls left out."""
    problem: InvalidRequest | None = None
    """Why an API server would refuse it."""

    @property
    def shown(self) -> str:
        """Return source, kind and name for messages."""
        return f"{self.source}: {shown(self.obj)}"

    @property
    def plain(self) -> Mapping[str, Any]:
        """Return the document in the namespace where kubectl would put it."""
        namespace = self.obj.metadata.namespace
        if not namespace:
            return self.document
        metadata = {**self.document["metadata"], "namespace": namespace}
        return {**self.document, "metadata": metadata}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What stands in a file and is no object that counts."""

    message: str
    """Source, object, field, and what is wrong."""
    kind: str = ""
    """Empty where it is no object."""
    namespace: str = ""
    name: str = ""
    problem: InvalidRequest
    """The field in the object, and what is wrong."""
    pod: Pod | None = None
    """As much of a pod as is legible."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Return kind, namespace and name."""
        return self.kind, self.namespace, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class FileObjects:
    """All objects of some files, and what was left out."""

    objects: tuple[FileObject, ...]
    refused: tuple[Refused, ...] = ()
    notes: tuple[str, ...] = ()


def objects_of(documents: Iterable[tuple[str, object]]) -> FileObjects:
    """Return the objects in the documents, Lists taken apart.

    Kinds that planning does not read are left out with a note.
    """
    given = list(documents)
    totals = Counter(source for source, _ in given)
    numbers: Counter[str] = Counter()
    gathered = _Gathered()
    for source, document in given:
        numbers[source] += 1
        where = f"{source}: document {numbers[source]}" if totals[source] > 1 else source
        try:
            for one in _flat(where, document):
                if isinstance(one, InvalidRequest):
                    gathered.refuse(one)
                else:
                    gathered.take(source, one)
        except RecursionError:
            gathered.refuse(InvalidRequest("is nested too deeply, or contains itself", field=where))
    return gathered.result()


def shown(obj: KubeObject) -> str:
    """Return kind and name of an object for messages."""
    metadata = obj.metadata
    return _named(kind_of(obj), metadata.namespace, metadata.name)


def refused(one: FileObject, problem: InvalidRequest) -> Refused:
    """Return an object as one that does not count."""
    located = InvalidRequest(problem.detail, field=_located(one.shown, problem))
    return Refused(
        message=str(located),
        kind=kind_of(one.obj),
        namespace=one.obj.metadata.namespace,
        name=one.obj.metadata.name,
        problem=problem,
        pod=one.obj if isinstance(one.obj, Pod) else None,
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """What may be an object, and what to call its place."""

    where: str
    document: Mapping[str, Any]


@dataclass(slots=True)
class _Gathered:
    """Objects by kind and name, in the order in which they came."""

    found: dict[tuple[str, str, str], FileObject] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    nameless: int = 0
    """How much of it is no object at all."""
    skipped: Counter[str] = field(default_factory=Counter)
    read_as: Counter[tuple[str, str]] = field(default_factory=Counter)
    again: dict[str, list[str]] = field(default_factory=dict)
    """What is there twice, by the source that has it last."""
    unknown: list[tuple[str, UnknownField]] = field(default_factory=list)
    judge: Judge = field(default_factory=Judge)

    def refuse(self, error: InvalidRequest) -> None:
        """Note what is no object at all."""
        self.nameless += 1
        if self.nameless <= _NAMELESS:
            self.refused.append(Refused(message=str(error), problem=error))

    def take(self, source: str, piece: _Piece) -> None:
        """Take an object in, or note why it does not count."""
        try:
            api_version, kind = _type_of(piece)
            if is_header(piece.document):
                return
        except InvalidRequest as error:
            self.refuse(error)
            return
        struct = struct_of(api_version, kind)
        if struct is None:
            self.skipped[f"{api_version} {kind}"] += 1
            return
        try:
            check_version(api_version, kind)
            document = plain(piece.document)
            obj = _with_defaults(from_plain(document, struct))
        except InvalidRequest as problem:
            namespace = _DEFAULT_NAMESPACE if is_of_namespaces(struct) else ""
            self.refused.append(_illegible(source, piece.document, problem, namespace))
            return
        one = FileObject(source=source, obj=obj, document=document)
        if not obj.metadata.name:
            place = f"{piece.where}: {kind} number {len(self.found) + 1}: metadata.name"
            self.refuse(InvalidRequest("has no name", field=place))
        else:
            self._add(replace(one, problem=self._judged(one)))

    def _judged(self, one: FileObject) -> InvalidRequest | None:
        """Return why an API server would refuse an object; note what it would drop."""
        try:
            judgement = self.judge.of(one.document)
        except InvalidRequest as error:
            return error
        self.unknown += ((one.shown, unknown) for unknown in judgement.unknown)
        return refusal(judgement.errors)

    def _add(self, one: FileObject) -> None:
        metadata = one.obj.metadata
        kind, api_version = one.document["kind"], one.document["apiVersion"]
        if other := read_as(api_version, kind):
            self.read_as[f"{api_version} {kind}", other] += 1
        key = kind, metadata.namespace, metadata.name
        there = self.found.get(key)
        if there is None:
            self.found[key] = one
        elif one.problem is not None:
            self.refused.append(refused(one, one.problem))
        else:
            if there.problem is not None:
                self.refused.append(refused(there, there.problem))
            self.again.setdefault(one.source, []).append(one.shown)
            self.found[key] = one

    def result(self) -> FileObjects:
        """Return all, with what is to be said."""
        left_out = [
            f"{count} of {kind} left out: planning does not read that kind"
            for kind, count in sorted(self.skipped.items())
        ]
        versions = [
            f"{count} of {kind} read as {other}: fields that differ are passed over"
            for (kind, other), count in sorted(self.read_as.items())
        ]
        twice = (_twice(source, shown) for source, shown in self.again.items())
        hidden = max(self.nameless - _NAMELESS, 0)
        more = InvalidRequest(f"{hidden} more things in the input are no objects")
        return FileObjects(
            objects=tuple(self.found.values()),
            refused=(
                *self.refused,
                *([Refused(message=str(more), problem=more)] if hidden else []),
            ),
            notes=(*twice, *_few(unknown_notes(self.unknown)), *versions, *left_out),
        )


def _few(notes: Sequence[str]) -> list[str]:
    hidden = len(notes) - _NOTED
    more = [f"{hidden} more unknown fields"] if hidden > 0 else []
    return [*notes[:_NOTED], *more]


def _twice(source: str, shown: Sequence[str]) -> str:
    """Return what is to be said of objects of one source that are there twice."""
    if len(shown) == 1:
        return f"{shown[0]} is there twice; the later one counts"
    first = ", ".join(one.removeprefix(f"{source}: ") for one in shown[:_NAMED])
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return f"{source}: {len(shown)} objects are there twice; the later ones count: {first}{more}"


def _flat(where: str, document: object) -> Iterator[_Piece | InvalidRequest]:
    """Yield the objects of a document: itself, the items of a List, the members of an array.

    What is none is yielded as the error that says so: those after it are read all the same.
    """
    if document is None:
        return
    if isinstance(document, list | tuple):
        for number, one in enumerate(document, 1):
            yield from _flat(f"{where}: item {number}", one)
        return
    if not isinstance(document, Mapping):
        yield InvalidRequest(f"{document!r:.80} is not a Kubernetes object", field=where)
        return
    kind = document.get("kind")
    is_list = isinstance(kind, str) and kind.endswith("List")
    if not (isinstance(kind, str) and is_list and ("items" in document or kind == "List")):
        yield _Piece(where, document)
        return
    items = document.get("items") or ()
    if not isinstance(items, list | tuple):
        yield InvalidRequest("is not a list", field=f"{where}: {kind}: items")
        return
    own = {"apiVersion": document.get("apiVersion"), "kind": kind.removesuffix("List")}
    for number, one in enumerate(items, 1):
        # Items of a typed list, as the API answers, leave out what the list says already.
        typed = {**own, **one} if kind != "List" and isinstance(one, Mapping) else one
        yield from _flat(f"{where}: item {number}", typed)


def _type_of(piece: _Piece) -> tuple[str, str]:
    name = _names(piece.document)[1]
    place = f'{piece.where}: object "{name}"' if name else f"{piece.where}: an object"
    found = []
    for key in ("apiVersion", "kind"):
        text = piece.document.get(key)
        if not isinstance(text, str) or not text:
            raise InvalidRequest("is missing", field=f"{place}: {key}")
        found.append(text)
    return found[0], found[1]


def _names(document: Mapping[str, Any]) -> tuple[str, str]:
    """Return the namespace and the name of what may be illegible."""
    metadata = document.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    return str(named.get("namespace") or ""), str(named.get("name") or "")


def _named(kind: str, namespace: str, name: str) -> str:
    joined = "/".join(part for part in (namespace, name) if part)
    return f'{kind} "{short(joined)}"'


def _illegible(
    source: str, document: Mapping[str, Any], problem: InvalidRequest, default: str
) -> Refused:
    """Return an object that cannot be read; `default` is its namespace if it names none."""
    kind = document["kind"]
    namespace, name = _names(document)
    namespace = namespace or default
    place = _located(f"{source}: {_named(kind, namespace, name)}", problem)
    return Refused(
        message=str(InvalidRequest(problem.detail, field=place)),
        kind=kind,
        namespace=namespace,
        name=name,
        problem=problem,
        pod=_rest_of_pod(document, namespace, name) if kind == "Pod" and name else None,
    )


def _rest_of_pod(document: Mapping[str, Any], namespace: str, name: str) -> Pod:
    """Return of an illegible pod what tells which one it is, and whether it waits."""
    uid = document["metadata"].get("uid")
    spec = document.get("spec")
    node = spec.get("nodeName") if isinstance(spec, Mapping) else None
    named: dict[str, Any] = {"namespace": namespace, "name": name}
    if isinstance(uid, str):
        named["uid"] = uid
    labels = document["metadata"].get("labels")
    if isinstance(labels, Mapping) and all(isinstance(one, str) for one in chain(*labels.items())):
        # They tell of which gang it is.
        named["labels"] = labels
    placed = {"nodeName": node} if isinstance(node, str) else {}
    return from_plain({"metadata": named, "spec": placed}, Pod)


def _located(place: str, problem: InvalidRequest) -> str:
    return f"{place}: {problem.field}" if problem.field else place


def _with_defaults(obj: KubeObject) -> KubeObject:
    """Return the object in the namespace where kubectl would put it."""
    namespace = (obj.metadata.namespace or _DEFAULT_NAMESPACE) if is_namespaced(obj) else ""
    if namespace == obj.metadata.namespace:
        return obj
    metadata = msgspec.structs.replace(obj.metadata, namespace=namespace)
    return msgspec.structs.replace(obj, metadata=metadata)
