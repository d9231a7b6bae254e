"""Semantic versions in CEL: `semver`, `isSemver`, their parts, their order.

Apart because only selectors of devices have them, and the order of versions is a subject of its
own.

Source: Semantic Versioning 2.0.0; Kubernetes documentation, "Common Expression Language in
Kubernetes", on the semver library, whose optional second argument accepts `v1.2` and `01.2.3`.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from libs.cel.values import CelError, Semver, Value

_NUMBER = r"(0|[1-9][0-9]*)"
_IDENTIFIER = r"[0-9A-Za-z-]+"
_SYNTAX = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    rf"(?:-({_IDENTIFIER}(?:\.{_IDENTIFIER})*))?"
    rf"(?:\+{_IDENTIFIER}(?:\.{_IDENTIFIER})*)?",
    re.ASCII,
)
_LARGEST = 2**64 - 1


def parse(text: str) -> Semver:
    """Return the version that the text spells; build metadata means nothing and is dropped.

    Raises:
        CelError: it spells none.
    """
    match = _SYNTAX.fullmatch(text)
    if match is None:
        raise CelError(f"{text!r} is no semantic version")
    major, minor, patch = (int(match[index]) for index in (1, 2, 3))
    prerelease = tuple(_identifier(one, text) for one in (match[4] or "").split(".") if one)
    if max(major, minor, patch) > _LARGEST:
        raise CelError(f"{text!r} has a number beyond 64 bits")
    return Semver(major=major, minor=minor, patch=patch, prerelease=prerelease)


def order(version: Semver) -> tuple[Any, ...]:
    """Return what sorts versions by their precedence: a release is after what led up to it."""
    # Numbers are before texts; the tag keeps one from being compared with the other.
    identifiers = tuple((isinstance(one, str), one) for one in version.prerelease)
    return version.major, version.minor, version.patch, not version.prerelease, identifiers


def _identifier(text: str, whole: str) -> int | str:
    if not text.isdigit():
        return text
    if text[0] == "0" and text != "0":
        raise CelError(f"{whole!r} has a number with a leading zero")
    return int(text)


def _normalized(text: str) -> str:
    """Return the text without a leading `v` and leading zeros, and with all three numbers."""
    parts = text.removeprefix("v").split(".", 2)
    cut = [_without_zeros(part) for part in parts]
    if len(cut) < 3 and any(sign in cut[-1] for sign in "+-"):
        raise CelError("a short version has neither prerelease nor build metadata")
    return ".".join([*cut, "0", "0"][: max(3, len(cut))])


def _without_zeros(part: str) -> str:
    stripped = part.lstrip("0")
    if len(part) < 2 or stripped == part:
        return part
    return stripped if stripped[:1].isdigit() else f"0{stripped}"


def _semver(text: Value, normalize: Value = False) -> Semver:
    if not isinstance(text, str) or not isinstance(normalize, bool):
        raise CelError("no such overload")
    return parse(_normalized(text) if normalize else text)


def _is_semver(text: Value, normalize: Value = False) -> bool:
    if not isinstance(text, str) or not isinstance(normalize, bool):
        raise CelError("no such overload")
    try:
        _semver(text, normalize)
    except CelError:
        return False
    return True


def _part(read: Callable[[Semver], int]) -> Callable[[Value], int]:
    def part(version: Value) -> int:
        if not isinstance(version, Semver):
            raise CelError("no such overload")
        return read(version)

    return part


_Table = Mapping[str, tuple[frozenset[int], Callable[..., Any]]]

GLOBALS: _Table = MappingProxyType(
    {
        "semver": (frozenset({1, 2}), _semver),
        "isSemver": (frozenset({1, 2}), _is_semver),
    }
)
MEMBERS: _Table = MappingProxyType(
    {
        "major": (frozenset({1}), _part(lambda version: version.major)),
        "minor": (frozenset({1}), _part(lambda version: version.minor)),
        "patch": (frozenset({1}), _part(lambda version: version.patch)),
    }
)
