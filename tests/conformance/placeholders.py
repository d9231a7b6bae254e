"""Stand-ins for what differs from run to run, so that two recordings are the same to the byte.

`$uid1`, `$rv1`, `$gen1` and `$continue1` keep their identity within a sequence; resourceVersions
are numbered in their order; `$time`, `$age` and `$any` have no identity.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

Object = dict[str, Any]

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_AGE = re.compile(r"(?:\d+[smhd])+")
_ALLOCATED = re.compile(r"10\.0\.0\.\d+")
_ANSWERS = ("expect", "expectStatus", "expectBody")
_MADE_UP = "00000000"
_AGES = ("Age", "Last Seen", "First Seen", "Duration")
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_VERSION = re.compile(r'(resourceVersion\\?":\\?")(\d+)')
_KEPT_OF_PREFIX = 58


def with_placeholders(steps: list[Object], *, managed_fields: bool) -> Any:
    """Return the steps with every value that is another in each run replaced by its stand-in."""
    left_out = ("selfLink",) if managed_fields else ("selfLink", "managedFields")
    found: dict[str, str] = {}
    answers = [{name: step[name] for name in _ANSWERS if name in step} for step in steps]
    revisions = sorted({int(value) for value in _values(answers, "resourceVersion")})
    uids = dict.fromkeys(_UID.findall(json.dumps(answers)))
    known = [uid for uid in uids if not uid.startswith(_MADE_UP)]
    found |= {uid: f"$uid{number}" for number, uid in enumerate(known, 1)}
    tokens = dict.fromkeys(_values(answers, "continue"))
    found |= {token: f"$continue{number}" for number, token in enumerate(tokens, 1)}
    hashes = dict.fromkeys(_values(answers, "pod-template-hash"))
    found |= {value: f"$hash{number}" for number, value in enumerate(hashes, 1)}
    for number, (prefix, name) in enumerate(dict.fromkeys(_generated(answers)), 1):
        found[name] = f"{prefix}$gen{number}"
    numbered = {str(one): f"$rv{number}" for number, one in enumerate(revisions, 1)}

    def text(value: str, name: str) -> str:
        if name == "resourceVersion":
            return numbered.get(value, value)
        for original, stand_in in sorted(found.items(), key=lambda one: -len(one[0])):
            value = value.replace(original, stand_in)
        value = _VERSION.sub(lambda one: one[1] + numbered.get(one[2], one[2]), value)
        value = _TIME.sub(lambda one: "$time" if _is_recent(one[0]) else one[0], value)
        return (
            "$any" if name in ("clusterIP", "clusterIPs") and _ALLOCATED.fullmatch(value) else value
        )

    asked = [{name: step[name] for name in step if name not in _ANSWERS} for step in steps]
    return [
        {**_mapped(question, text, ()), **_mapped(_without_ages(answer), text, left_out)}
        for question, answer in zip(asked, answers, strict=True)
    ]


def _mapped(
    value: Any, text: Callable[[str, str], str], left_out: tuple[str, ...], at: str = ""
) -> Any:
    if isinstance(value, dict):
        return {
            name: _mapped(member, text, left_out, name)
            for name, member in value.items()
            if name not in left_out
        }
    if isinstance(value, list):
        return [_mapped(item, text, left_out, at) for item in value]
    return text(value, at) if isinstance(value, str) else value


def _without_ages(answer: Object) -> Object:
    """Replace the cells of a table that tell how long ago something was; leave out its prose."""
    expected = answer.get("expect")
    body = expected.get("body") if isinstance(expected, dict) else None
    if not isinstance(expected, dict) or not isinstance(body, dict) or body.get("kind") != "Table":
        return answer
    columns = [column["name"] for column in body["columnDefinitions"]]
    rows = []
    for row in body["rows"] or ():
        cells = [
            "$age" if name in _AGES and isinstance(cell, str) and _AGE.fullmatch(cell) else cell
            for name, cell in zip(columns, row["cells"], strict=True)
        ]
        rows.append({**row, "cells": cells})
    shown = [
        {name: value for name, value in column.items() if name != "description"}
        for column in body["columnDefinitions"]
    ]
    table = {**body, "columnDefinitions": shown, "rows": rows}
    return {**answer, "expect": {**expected, "body": table}}


def _values(value: Any, name: str) -> Iterator[str]:
    """Yield the texts under a name in answers, in their order; of versions only numbers."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key == name and isinstance(member, str):
                if name != "resourceVersion" or (member.isdigit() and len(member) > 1):
                    yield member
            else:
                yield from _values(member, name)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item, name)


def _generated(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        prefix, name = value.get("generateName"), value.get("name", "")
        if prefix and "uid" in value and name.startswith(prefix[:_KEPT_OF_PREFIX]):
            yield prefix[:_KEPT_OF_PREFIX], name
        for member in value.values():
            yield from _generated(member)
    elif isinstance(value, list):
        for item in value:
            yield from _generated(item)


def _is_recent(text: str) -> bool:
    """Tell a server's own times from those in questions, which lie before 2026-06."""
    return text >= "2026-06"
