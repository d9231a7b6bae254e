"""What a column of a table is, and the cells that many kinds share.

Source: what `kubectl get` shows of a Kubernetes 1.36 cluster.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.simulator.core.api.selectors import selector_text

Object = dict[str, Any]
Cell = Callable[[Object, datetime], Any]
NONE = "<none>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table."""

    name: str
    cell: Cell
    type: str = "string"
    format: str = ""
    priority: int = 0

    def definition(self) -> dict[str, Any]:
        """Return the entry of `columnDefinitions`."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": "",
            "priority": self.priority,
        }


def at(path: str, absent: Any = NONE) -> Cell:
    """Return a cell that shows the value at a dotted path."""
    steps = path.split(".")

    def cell(obj: Object, _now: datetime) -> Any:
        value: Any = obj
        for step in steps:
            value = value.get(step) if isinstance(value, dict) else None
        return absent if value is None or value == "" else value

    return cell


def count_of(path: str) -> Cell:
    """Return a cell that shows how many items there are at a dotted path."""
    read = at(path, ())
    return lambda obj, now: len(read(obj, now))


def joined(read: Callable[[Object], Iterable[str]], absent: str = NONE) -> Cell:
    """Return a cell that shows texts with commas between them."""
    return lambda obj, _now: ",".join(read(obj)) or absent


def first_few(texts: Sequence[str], most: int, between: str = ",") -> str:
    """Return the first so many texts, and how many more there are."""
    shown = between.join(texts[:most])
    return f"{shown} + {len(texts) - most} more..." if len(texts) > most else shown


def label_map(path: str) -> Cell:
    """Return a cell that shows the labels at a dotted path."""
    read = at(path, {})
    return lambda obj, now: (
        ",".join(f"{key}={value}" for key, value in sorted(read(obj, now).items())) or NONE
    )


def label_selector(path: str) -> Cell:
    """Return a cell that shows the label selector at a dotted path."""
    read = at(path, {})
    return lambda obj, now: selector_text(read(obj, now)) or NONE


def with_default(annotation: str) -> Cell:
    """Return a cell that shows the name, and if the object is the default one."""

    def cell(obj: Object, _now: datetime) -> str:
        annotations = obj["metadata"].get("annotations") or {}
        shown: str = obj["metadata"]["name"]
        return f"{shown} (default)" if annotations.get(annotation) == "true" else shown

    return cell


def age_of(path: str = "metadata.creationTimestamp") -> Cell:
    """Return a cell that shows how long ago an instant was."""
    read = at(path, None)
    return lambda obj, now: age(read(obj, now), now)


def age(text: str | None, now: datetime) -> str:
    """Return a duration as kubectl shows it (`5d3h`, `42s`)."""
    if not text:
        return "<unknown>"
    seconds = int((now - datetime.fromisoformat(text)).total_seconds())
    if seconds < 0:
        return "<invalid>" if seconds < -1 else "0s"
    return human_duration(seconds)


def human_duration(seconds: int) -> str:
    """Return a number of seconds with the two units that matter."""
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    steps = (
        (seconds < 120, f"{seconds}s"),
        (minutes < 10, _pair(minutes, "m", seconds % 60, "s")),
        (minutes < 180, f"{minutes}m"),
        (hours < 8, _pair(hours, "h", minutes % 60, "m")),
        (hours < 48, f"{hours}h"),
        (hours < 192, _pair(days, "d", hours % 24, "h")),
        (days < 730, f"{days}d"),
        (days < 2920, _pair(days // 365, "y", days % 365, "d")),
    )
    return next((text for applies, text in steps if applies), f"{days // 365}y")


def _pair(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}" + (f"{small}{small_unit}" if small else "")


def column(name: str, cell: Cell, type_: str = "string", priority: int = 0) -> Column:
    """Return a column of the table."""
    return Column(name=name, cell=cell, type=type_, priority=priority)


NAME = Column(name="Name", cell=at("metadata.name", ""), format="name")
AGE = Column(name="Age", cell=age_of())
