"""Files with many what-ifs, in the words and the syntax of the options of `joiner simulate`."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path

from cli.options import WhatIf
from libs.domain.errors import InvalidRequest
from libs.domain.spelling import nearest
from libs.kube import document_files

_FILES = frozenset({"add", "pool_files", "overlay_files"})
_COUNTED = frozenset({"scale"})
"""What may be a mapping, as of `ns/name: 50`."""


def what_ifs(path: str) -> Iterator[WhatIf]:
    """Yield the what-ifs of a file: a list, or a mapping that has it as `scenarios`.

    Names of files in it are relative to its folder.

    Raises:
        InvalidRequest: it holds something else; names file, scenario and field.
        OSError: it cannot be read.
    """
    found = 0
    for _, document in document_files.read([path]):
        listed = document.get("scenarios") if isinstance(document, Mapping) else document
        if not isinstance(listed, list):
            raise InvalidRequest("holds neither a list nor `scenarios`", field=path)
        for one in listed:
            yield _what_if(one, f"{path}: scenarios[{found}]", Path(path).parent)
            found += 1
    if not found:
        raise InvalidRequest("holds no scenarios", field=path)


def _what_if(document: object, source: str, folder: Path) -> WhatIf:
    if not isinstance(document, Mapping):
        raise InvalidRequest(f"{document!r:.80} is not a mapping", field=source)
    known = {_key(one.name): one.name for one in fields(WhatIf) if one.name != "source"}
    texts: dict[str, tuple[str, ...]] = {}
    for key, value in document.items():
        if key not in known:
            guess = "".join(f'; perhaps "{one}"' for one in nearest(str(key), known))
            raise InvalidRequest(f'there is no "{key}"{guess}', field=source)
        if key != "name":
            name = known[key]
            if isinstance(value, Mapping) and name not in _COUNTED:
                raise InvalidRequest(
                    "a text, or a list of texts, is needed", field=f"{source}.{key}"
                )
            texts[name] = tuple(_texts(value, f"{source}.{key}"))
            if name in _FILES:
                texts[name] = tuple(str(folder / one) for one in texts[name])
    name = document.get("name") or source.rpartition(": ")[2]
    return WhatIf(name=str(name), source=source, **texts)


def _texts(value: object, where: str) -> Iterator[str]:
    """Yield the texts of a text, a list of texts, or a mapping as of `ns/name: 50`."""
    match value:
        case Mapping():
            yield from (f"{key}={one}" for key, one in value.items())
        case list():
            yield from (_text(one, where) for one in value)
        case _:
            yield _text(value, where)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise InvalidRequest(f"{value!r:.80} is not a text", field=where)
    return value


def _key(field: str) -> str:
    first, *others = field.split("_")
    return first + "".join(map(str.capitalize, others))
