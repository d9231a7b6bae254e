"""From a file or a parsed document to a `Script`: what is wrong is named by its field.

Apart from the schema because of the words: which field, what was probably meant, what to do.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from libs.domain import duration
from libs.domain.errors import InvalidRequest
from libs.domain.spelling import nearest
from libs.kube import document_files
from libs.kube.objects.decoding import invalid_request, plain
from services.simulator.script import schema
from services.simulator.script.rules import problems
from services.simulator.script.schema import Script, Span, Step

Document = dict[str, Any]

_UNKNOWN = re.compile(r"object contains unknown field `(?P<name>.*)`", re.DOTALL)
_MISSING = re.compile(r"object missing required field `(?P<name>.*)`")
_STRUCTS: Mapping[str, type[msgspec.Struct]] = MappingProxyType(
    {
        "": schema.Script,
        "steps": schema.Step,
        "delete": schema.Objects,
        "scale": schema.Scale,
        "curve": schema.Point,
        "nodes": schema.Nodes,
        "reclaim": schema.Reclaim,
        "boot": schema.Boot,
        "kubelets": schema.Kubelets,
        "usage": schema.Usage,
        "requests": schema.Requests,
        "throttle": schema.Throttle,
        "errors": schema.Errors,
        "cutWatches": schema.CutWatches,
    }
)
"""What stands behind each field, by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A script and all that it needs of other files."""

    script: Script
    objects: Mapping[int, tuple[Document, ...]]
    """What each step applies, by the step's number."""


def load(path: Path) -> Loaded:
    """Return the script in a file.

    Raises:
        InvalidRequest: it, or a file that it names, cannot be read; names file and field.
        OSError: a file cannot be opened.
    """
    documents = [document for _, document in document_files.read([str(path)])]
    if len(documents) != 1:
        raise InvalidRequest(f"holds {len(documents)} documents, a script is one", field=str(path))
    try:
        return parse(documents[0], path.parent)
    except InvalidRequest as error:
        raise InvalidRequest(
            error.detail, field=f"{path}: {error.field}" if error.field else str(path)
        ) from None


def parse(document: object, folder: Path = Path()) -> Loaded:
    """Return the script of a parsed document.

    Args:
        document: as YAML or JSON is read.
        folder: where files that it names are.

    Raises:
        InvalidRequest: names the field and says what to do.
        OSError: a file that it names cannot be opened.
    """
    if not isinstance(document, Mapping):
        raise InvalidRequest("is no mapping with `steps`")
    try:
        script = msgspec.convert(plain(document), Script, dec_hook=_decoded)
    except msgspec.ValidationError as error:
        raise _worded(invalid_request(error)) from None
    for field, problem in problems(script):
        raise InvalidRequest(problem, field=field)
    objects = {
        number: tuple(_objects(step, f"steps[{number}].apply", folder))
        for number, step in enumerate(script.steps)
        if step.apply is not None
    }
    return Loaded(script=script, objects=MappingProxyType(objects))


def _decoded(kind: type, value: Any) -> Any:
    if kind is not Span:
        raise NotImplementedError
    if value == 0 and not isinstance(value, bool):
        return Span()
    if not isinstance(value, str):
        raise ValueError("Expected a span of time such as `90s`, `5m` or `1h30m`: with its unit")
    try:
        span = duration.parse_go(value)
    except InvalidRequest as error:
        raise ValueError(error.detail) from None
    if span < Span():
        raise ValueError(f"{value!r} is negative")
    return Span(seconds=span.total_seconds())


def _worded(error: InvalidRequest) -> InvalidRequest:
    """Return msgspec's error in the words of this project."""
    struct = _STRUCTS.get(_last_name(error.field))
    known = [one.encode_name for one in msgspec.structs.fields(struct)] if struct else []
    if (match := _UNKNOWN.fullmatch(error.detail)) is not None:
        name = match["name"]
        close = nearest(name, known)
        guess = f'perhaps "{close[0]}"' if close else f"there are {', '.join(known)}"
        return InvalidRequest(f'there is no "{name}"; {guess}', field=error.field)
    if (match := _MISSING.fullmatch(error.detail)) is not None:
        name = f"{error.field}.{match['name']}" if error.field else match["name"]
        return InvalidRequest("is missing", field=name)
    return error


def _last_name(path: str) -> str:
    return re.sub(r"\[.*?\]$", "", path).rpartition(".")[2]


def _objects(step: Step, path: str, folder: Path) -> Iterator[Document]:
    given = (step.apply,) if isinstance(step.apply, str) else step.apply or ()
    for number, one in enumerate(given):
        where = path if isinstance(step.apply, str) else f"{path}[{number}]"
        if isinstance(one, str):
            for _, document in document_files.read([str(folder / one)]):
                yield from _flat(document, f"{where}: {one}")
        else:
            yield from _flat(one, where)


def _flat(document: object, where: str) -> Iterator[Document]:
    """Yield the objects of a document, Lists taken apart."""
    if not isinstance(document, Mapping):
        raise InvalidRequest(f"{document!r:.80} is no Kubernetes object", field=where)
    for name in ("apiVersion", "kind"):
        if not isinstance(document.get(name), str) or not document[name]:
            raise InvalidRequest("is missing", field=f"{where}.{name}")
    if document["kind"] == "List":
        for number, one in enumerate(document.get("items") or ()):
            yield from _flat(one, f"{where}.items[{number}]")
        return
    metadata = document.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    if not (named.get("name") or named.get("generateName")):
        raise InvalidRequest("is missing", field=f"{where}.metadata.name")
    yield plain(document)
