"""YAML as Kubernetes reads and writes it, with the refusals of Go's parser.

Apart from bodies because answers are YAML, too, and because YAML has more ways to be odd.
"""

import re
from typing import Any

import msgspec
import yaml

_MOST_NODES = 1_000_000
_NUMBERED = ("tag:yaml.org,2002:timestamp",)
_WORDS = {
    "mapping values are not allowed here": "mapping values are not allowed in this context",
    "expected the node content": "did not find expected node content",
    "expected <block end>": "did not find expected key",
    "expected ',' or '}'": "did not find expected ',' or '}'",
    "expected ',' or ']'": "did not find expected ',' or ']'",
    "expected '<document start>'": "did not find expected <document start>",
}
_ALIAS = re.compile(r"found undefined alias '(.*)'")
_STARTS_NO_TOKEN = re.compile(r"found character '.*' that cannot start any token")


class NoYaml(ValueError):
    """A text that is no YAML, in the words of Go's parser."""


def read_yaml(text: bytes) -> Any:
    """Return the value of the first document of a YAML text; raises `NoYaml`.

    Times are text, as in JSON.
    """
    try:
        value = next(iter(yaml.load_all(text, Loader=_Loader)), None)
        if b"*" in text:
            _check_size(value)
        return value
    except yaml.MarkedYAMLError as error:
        raise NoYaml(f"yaml: {_problem(error, text)}") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise NoYaml(f"yaml: {error}") from error


def _check_size(value: Any) -> None:
    """Refuse what contains itself, or is enormous once all aliases are written out."""
    sizes: dict[int, int] = {}
    entered: set[int] = set()
    waiting = [value]
    while waiting:
        one = waiting[-1]
        inner = list(one.values()) if isinstance(one, dict) else one
        if not isinstance(inner, list) or id(one) in sizes:
            waiting.pop()
            continue
        missing = [each for each in inner if _is_container(each) and id(each) not in sizes]
        if any(id(each) in entered for each in missing):
            raise NoYaml("yaml: anchor value contains itself")
        entered.add(id(one))
        if missing:
            waiting.append(missing[0])
            continue
        sizes[id(one)] = 1 + sum(sizes.get(id(each), 1) for each in inner)
        if sizes[id(one)] > _MOST_NODES:
            raise NoYaml("yaml: document contains excessive aliasing")


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list)


def _problem(error: yaml.MarkedYAMLError, text: bytes) -> str:
    problem = (error.problem or "").partition(", but")[0]
    alias = _ALIAS.match(problem)
    if alias:
        return f"unknown anchor '{alias[1]}' referenced"
    if _STARTS_NO_TOKEN.match(problem):
        problem = "found character that cannot start any token"
    line = _line(error, text)
    return (f"line {line}: " if line else "") + _WORDS.get(problem, problem)


def _line(error: yaml.MarkedYAMLError, text: bytes) -> int:
    """Return the line that Go's parser names: it counts the end of a text as a line, too."""
    mark = error.problem_mark
    if mark is None:
        return 0
    if isinstance(error, yaml.scanner.ScannerError):
        return mark.line + 1 if mark.line else 0
    at_end = mark.index is not None and mark.index >= len(text) and not text.endswith(b"\n")
    return int(mark.line) + at_end


def to_yaml(body: bytes) -> bytes:
    """Return a JSON text as YAML."""
    value = msgspec.json.decode(body)
    return yaml.dump(
        value, Dumper=_Dumper, sort_keys=True, width=1 << 30, allow_unicode=True
    ).encode()


class _Loader(yaml.SafeLoader):
    """The safe loader with Kubernetes' reading of plain words.

    Dates are text, `y` and `n` are booleans, tags that nobody knows are not looked at.
    """

    def construct_yaml_bool(self, node: yaml.ScalarNode) -> bool:
        """Return a boolean, one-letter forms included."""
        text = str(self.construct_scalar(node)).lower()
        return text in ("y", "yes", "true", "on")


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _NUMBERED]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^[yYnN]$"), list("yYnN"))
_Loader.add_constructor("tag:yaml.org,2002:bool", _Loader.construct_yaml_bool)


class _Dumper(yaml.SafeDumper):
    """Writes as Go does: what would be read as something else than text is quoted twice."""

    def ignore_aliases(self, _value: Any) -> bool:
        """Write equal values out, each time."""
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        """Return a text in the style that Go chooses."""
        style = None
        if "\n" in text:
            style = "|"
        elif _is_read_otherwise(self, text):
            style = '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _Dumper.represent_text)


def _is_read_otherwise(dumper: _Dumper, text: str) -> bool:
    resolvers = dumper.yaml_implicit_resolvers
    patterns = [*resolvers.get(text[:1], ()), *resolvers.get(None, ())]
    return text.lower() in ("y", "n") or any(pattern.match(text) for _tag, pattern in patterns)
