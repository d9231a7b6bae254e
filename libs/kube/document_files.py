"""Read YAML and JSON files, or standard input, as documents.

Apart because files come as people and tools leave them: several documents in one file, JSON objects
one after another, packed by gzip, a byte order mark, UTF-16 from a Windows shell, aliases that
stand for more than any machine can hold.
"""

import codecs
import gzip
import io
import json
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from libs.domain.errors import InvalidRequest

STANDARD_INPUT = "-"
_JSON = re.compile(r"\s*[{\[]")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
MOST_VALUES = 5_000_000
"""Values that aliases may stand for in one document; more is no cluster, but an attack."""

_GZIP = b"\x1f\x8b"
_MOST_BYTES = 4 << 30
"""Of a packed file when unpacked: 150,000 pods take a tenth of it."""

_base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # PyYAML may be built without libyaml


_NUMBERS = {
    "tag:yaml.org,2002:int": re.compile(
        r"[-+]?(0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)\Z"
    ),
    "tag:yaml.org,2002:float": re.compile(
        r"([-+]?([0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)([eE][-+][0-9]+)?"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))\Z"
    ),
}
"""What a number looks like; YAML 1.1 took `12:30` for one, too."""


class _Loader(_base):  # type: ignore[misc]  # the base is chosen at run time
    """YAML as Kubernetes reads it: dates and times are texts, and a key is there once."""

    yaml_implicit_resolvers = {  # noqa: RUF012  # PyYAML's own way to configure a loader
        first: [
            (tag, _NUMBERS.get(tag, pattern))
            for tag, pattern in resolvers
            if not tag.endswith(":timestamp")
        ]
        for first, resolvers in _base.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """Return the mapping; a key that is there twice would hide what its first value says."""
        written = list(node.value)
        mapping = super().construct_mapping(node, deep=deep)
        if len(mapping) != len(written):
            self._check_keys(written)
        return mapping

    def _check_keys(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        seen: set[tuple[str, str]] = set()
        for key, _ in pairs:
            found = key.tag, key.value if isinstance(key.value, str) else ""
            if found[1] and found in seen and key.tag != "tag:yaml.org,2002:merge":
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key.value!r} is there twice", key.start_mark
                )
            seen.add(found)


def read(files: Iterable[str]) -> Iterator[tuple[str, object]]:
    """Yield name and document of each file in turn; a file may hold several, or none.

    Raises:
        InvalidRequest: a file is neither YAML nor JSON; names file and line.
        OSError: a file cannot be read.
    """
    for name in files:
        text = _text(name)
        is_json = _JSON.match(text) is not None
        found = _json(name, text) if is_json else _yaml(name, text)
        halves = _HALF.search(text) is not None
        for document in found:
            if halves:
                _check_text(name, document)
            yield name, document


def _check_text(name: str, document: object) -> None:
    """Refuse texts that no text file can hold: halves of characters, written as escapes."""
    try:
        json.dumps(document, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        message = "not text in UTF-8: an escape stands for half a character"
        raise InvalidRequest(message, field=name) from None
    except (RecursionError, ValueError):  # whoever reads it on refuses it
        return


def _text(name: str) -> str:
    data = sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(name).read_bytes()
    if data.startswith(_GZIP):
        data = _unpacked(name, data)
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest(
            f"not text in UTF-8: {error.reason} at byte {error.start}", field=name
        ) from None


def _unpacked(name: str, data: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            found = file.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidRequest(f"is no whole gzip file: {error}", field=name) from None
    if len(found) > _MOST_BYTES:
        raise InvalidRequest(f"holds more than {_MOST_BYTES >> 30} GiB, unpacked", field=name)
    return found


def _json(name: str, text: str) -> list[object]:
    """Return the documents of a text that begins as JSON does; flow-style YAML does so, too."""
    try:
        return list(_json_values(text))
    except json.JSONDecodeError as error:
        try:
            return list(_yaml(name, text))
        except InvalidRequest:
            message = f"not JSON: {error.msg} in column {error.colno}"
            raise InvalidRequest(message, field=f"{name}:{error.lineno}") from None
    except RecursionError:
        raise InvalidRequest("not JSON: is nested too deeply", field=name) from None
    except _Twice as error:
        raise InvalidRequest(f"not JSON: {error}", field=name) from None
    except ValueError:
        raise InvalidRequest("not JSON: a number of thousands of digits", field=name) from None


class _Twice(ValueError):
    """A key that is there twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Twice(f"key {key!r} is there twice")
            seen.add(key)
    return found


def _json_values(text: str) -> Iterator[object]:
    """Yield JSON values that follow one another, as of `cat a.json b.json`."""
    decoder = json.JSONDecoder(object_pairs_hook=_once)
    end, length = 0, len(text)
    while end < length:
        while end < length and text[end].isspace():
            end += 1
        if end < length:
            value, end = decoder.raw_decode(text, end)
            yield value


def _yaml(name: str, text: str) -> Iterator[object]:
    try:
        for document in yaml.load_all(text, Loader=_Loader):
            if "*" in text:
                _check_size(name, document, len(text))
            if document is not None:
                yield document
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}:{mark.line + 1}" if mark else name
        raise InvalidRequest(f"not YAML: {error.problem or error}", field=place) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InvalidRequest(f"not YAML: {error.reason}", field=f"{name}:{line}") from None
    except RecursionError:
        raise InvalidRequest("not YAML: is nested too deeply", field=name) from None
    except yaml.YAMLError as error:
        raise InvalidRequest(f"not YAML: {error}", field=name) from None
    except ValueError as error:
        digits = "a number of thousands of digits" if "digits" in str(error) else error
        raise InvalidRequest(f"not YAML: {digits}", field=name) from None


def _check_size(name: str, document: object, written: int) -> None:
    """Refuse a document of few characters whose aliases stand for billions of values."""
    if _size(document, {}) > max(MOST_VALUES, written):
        raise InvalidRequest(
            f"aliases make it more than {MOST_VALUES} values; write out what is meant", field=name
        )


def _size(value: object, known: dict[int, int]) -> int:
    """Return how many values there are, what aliases stand for counted each time.

    A value that contains itself counts there as nothing: whoever reads it on refuses it.
    """
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = 0
        members = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(one, known) for one in members)
    return known[id(value)]
