"""Read YAML and JSON files, or standard input, as documents."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from libs.domain.errors import InvalidRequest

STANDARD_INPUT = "-"

_base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # PyYAML may be built without libyaml


class _Loader(_base):  # type: ignore[misc]  # the base is chosen at run time
    """YAML as Kubernetes reads it: a date is a text."""

    yaml_implicit_resolvers = {  # noqa: RUF012  # PyYAML's own way to configure a loader
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
        for first, resolvers in _base.yaml_implicit_resolvers.items()
    }


def read(files: Iterable[str]) -> Iterator[tuple[str, object]]:
    """Yield name and document of each file in turn; a YAML file may hold several.

    Raises:
        InvalidRequest: a file is neither YAML nor JSON; names file and line.
        OSError: a file cannot be read.
    """
    for name in files:
        text = _text(name)
        if text.lstrip()[:1] in ("{", "["):
            yield name, _json(name, text)
        else:
            yield from ((name, document) for document in _yaml(name, text))


def _text(name: str) -> str:
    try:
        if name == STANDARD_INPUT:
            return sys.stdin.read()
        return Path(name).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"not text in UTF-8: {error.reason}", field=name) from None


def _json(name: str, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # Flow-style YAML begins with the same characters; its errors are the better ones, too.
        documents = list(_yaml(name, text))
        return documents[0] if len(documents) == 1 else documents


def _yaml(name: str, text: str) -> Iterator[object]:
    try:
        yield from (document for document in yaml.load_all(text, Loader=_Loader) if document)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}:{mark.line + 1}" if mark else name
        raise InvalidRequest(f"not YAML: {error.problem or error}", field=place) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InvalidRequest(f"not YAML: {error}", field=name) from None
