"""A page of documentation that has a table per message, and the contract that it documents."""

import re
from pathlib import Path
from typing import Any


def sections(page: Path) -> dict[str, set[str]]:
    """Return what the tables of each section name in their first column."""
    parts = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    found = {
        part.partition("\n")[0]: set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE))
        for part in parts
    }
    return {name: listed for name, listed in found.items() if listed}


def contract(message: Any) -> dict[str, set[str]]:
    """Return the fields of a message and of all below it, and the values of their enums."""
    seen: dict[str, set[str]] = {}
    _add(message, seen)
    return seen


def _add(message: Any, seen: dict[str, set[str]]) -> None:
    if message.name in seen or message.full_name.startswith("google."):
        return
    seen[message.name] = {field.json_name for field in message.fields}
    for field in message.fields:
        if field.enum_type is not None:
            seen[field.enum_type.name] = {value.name for value in field.enum_type.values}
        below = field.message_type
        if below is not None and not below.GetOptions().map_entry:
            _add(below, seen)
