"""Compare recorded JSON with what the simulator answers, under placeholders.

`$rv1`, `$uid1`, `$gen1`, `$hash1`, `$continue1` stand for values that differ from run to run: each
is bound at first sight and must be the same ever after, different ones must differ, and
resourceVersions must keep the order of their numbers. `$time`, `$age`, `$hash` and `$any` have no
identity.
"""

import re
from typing import Any

_PLACEHOLDER = re.compile(r"\$(rv|uid|gen|hash|continue)(\d+)|\$(time|age|hash|any)")
_PATTERNS = {
    "rv": r"\d+",
    "uid": r"[0-9a-f-]{36}",
    "gen": r"[a-z0-9]{5}",
    "hash": r"[A-Za-z0-9]+",
    "continue": r"[\w=+/-]+",
    "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z",
    "age": r"(?:\d+[smhdy])+|<unknown>|<invalid>",
    "any": r".*",
}
_LEFT_OUT = ("storageVersionHash", "selfLink")


class Bindings:
    """The values that a sequence's placeholders have come to stand for."""

    def __init__(self, *, compare_managed_fields: bool = False) -> None:
        self._bound: dict[str, str] = {}
        self._compare_managed_fields = compare_managed_fields

    def fill(self, value: Any) -> Any:
        """Return a request's value with its placeholders replaced by what they are bound to."""
        if isinstance(value, str):
            return _PLACEHOLDER.sub(lambda found: self._bound.get(found[0], found[0]), value)
        if isinstance(value, dict):
            return {self.fill(name): self.fill(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        return value

    def compare(self, expected: Any, found: Any, path: str) -> list[str]:
        """Return what differs, binding placeholders on the way."""
        if isinstance(expected, dict) and isinstance(found, dict):
            return self._compare_members(expected, self._comparable(found), path)
        if isinstance(expected, list) and isinstance(found, list):
            return self._compare_items(expected, found, path)
        if isinstance(expected, str) and isinstance(found, str):
            return self._compare_text(expected, found, path)
        same = type(expected) is type(found) and expected == found
        return [] if same else [f"{path}: {_brief(found)}, recorded {_brief(expected)}"]

    def _compare_members(
        self, expected: dict[str, Any], found: dict[str, Any], path: str
    ) -> list[str]:
        differences: list[str] = []
        literal = [name for name in expected if "$" not in name or name in found]
        for name in literal:
            below, wanted = f"{path}.{name}" if path else name, expected[name]
            if name not in found:
                differences.append(f"{below}: missing, recorded {_brief(wanted)}")
            else:
                differences += self.compare(wanted, found[name], below)
        others = [name for name in found if name not in literal]
        for name, wanted in expected.items():
            if name not in literal:
                match = next((key for key in others if not self._compare_text(name, key, "")), None)
                if match is None:
                    differences.append(f"{path}.{name}: missing")
                else:
                    others.remove(match)
                    differences += self.compare(wanted, found[match], f"{path}.{match}")
        return differences + [
            f"{path}.{name}: {_brief(found[name])}, not recorded" for name in others
        ]

    def _compare_items(self, expected: list[Any], found: list[Any], path: str) -> list[str]:
        if path.endswith("managedFields"):
            expected, found = _by_manager(expected), _by_manager(found)
        if len(expected) != len(found):
            return [
                f"{path}: {len(found)} items, recorded {len(expected)}: "
                f"{_brief(found)}, recorded {_brief(expected)}"
            ]
        differences: list[str] = []
        for index, (wanted, item) in enumerate(zip(expected, found, strict=True)):
            differences += self.compare(wanted, item, f"{path}[{index}]")
        return differences

    def _compare_text(self, expected: str, found: str, path: str) -> list[str]:
        if "$" not in expected:
            same = expected == found
            return [] if same else [f"{path}: {_brief(found)}, recorded {_brief(expected)}"]
        pattern, names = self._pattern(expected)
        match = re.fullmatch(pattern, found, re.DOTALL)
        if match is None:
            return [f"{path}: {_brief(found)}, recorded {_brief(expected)}"]
        for group, name in names:
            if problem := self._bind(name, match[group]):
                return [f"{path}: {problem}"]
        return []

    def _pattern(self, expected: str) -> tuple[str, list[tuple[str, str]]]:
        pattern, position = "", 0
        names: list[tuple[str, str]] = []
        for found in _PLACEHOLDER.finditer(expected):
            pattern += re.escape(expected[position : found.start()])
            position = found.end()
            kind = found[1] or found[3]
            name = found[0]
            if name in self._bound:
                pattern += re.escape(self._bound[name])
            elif found[1]:
                group = f"g{len(names)}"
                names.append((group, name))
                pattern += f"(?P<{group}>{_PATTERNS[kind]})"
            else:
                pattern += f"(?:{_PATTERNS[kind]})"
        return pattern + re.escape(expected[position:]), names

    def _bind(self, name: str, value: str) -> str:
        bound = self._bound.get(name)
        if bound is not None:
            return "" if bound == value else f"{name} is {bound}, not {value}"
        kind = name.rstrip("0123456789")
        for other, other_value in self._bound.items():
            if other.rstrip("0123456789") != kind or kind == "$hash":
                continue
            if other_value == value:
                return f"{name} and {other} are both {value}"
            if kind == "$rv" and (_number(other) < _number(name)) != (
                int(other_value) < int(value)
            ):
                return f"{name} is {value} but {other} is {other_value}"
        self._bound[name] = value
        return ""

    def _comparable(self, found: dict[str, Any]) -> dict[str, Any]:
        left_out = _LEFT_OUT if self._compare_managed_fields else (*_LEFT_OUT, "managedFields")
        is_column = "priority" in found and "format" in found and "cells" not in found
        names = (*left_out, "description") if is_column else left_out
        return {name: value for name, value in found.items() if name not in names}


def filtered(value: Any, rule: dict[str, Any]) -> Any:
    """Return the part of an answer that a recording kept."""
    if "list" in rule:
        members = {_at(item, rule["key"]): item for item in value.get(rule["list"], ())}
        kept = [members[name] for name in rule["in"] if name in members]
        return {**value, rule["list"]: [_then(item, rule) for item in kept]}
    if "map" in rule:
        members = value.get(rule["map"], {})
        return {
            **value,
            rule["map"]: {
                name: _then(members[name], rule) for name in rule["in"] if name in members
            },
        }
    if "keep" in rule:
        return {name: value[name] for name in rule["keep"] if name in value}
    return value


def _then(item: Any, rule: dict[str, Any]) -> Any:
    return filtered(item, rule["then"]) if "then" in rule else item


def _at(item: Any, path: str) -> Any:
    for name in path.split("."):
        item = item.get(name) if isinstance(item, dict) else None
    return item


def _by_manager(entries: list[Any]) -> list[Any]:
    return sorted(
        entries,
        key=lambda entry: (
            entry.get("manager", ""),
            entry.get("operation", ""),
            entry.get("subresource", ""),
        ),
    )


def _number(name: str) -> int:
    return int(name.lstrip("$abcdefghijklmnopqrstuvwxyz"))


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else text[:300] + "…"
