"""What was set aside, and since when.

Apart because every part of a snapshot reports here, while only this remembers the first sight.
"""

from datetime import datetime

from libs.domain.errors import InvalidRequest
from libs.domain.workload import SetAside

UNNAMED = "(unnamed)"

ObjectKey = tuple[str, str, str]
"""Kind, namespace, name."""


class Problems:
    """The problems of one snapshot; of an object that has several the first is kept."""

    def __init__(self) -> None:
        self._found: dict[ObjectKey, tuple[str, str]] = {}

    def add(self, kind: str, namespace: str, name: str, error: InvalidRequest) -> None:
        """Report an object."""
        self._found.setdefault((kind, namespace, name), (error.field, error.detail))

    def include(self, other: "Problems") -> None:
        """Report all that was reported elsewhere."""
        self._found = {**other._found, **self._found}

    def set_aside(self, now: datetime, since: dict[ObjectKey, datetime]) -> list[SetAside]:
        """Return the reports; `since` remembers first sights and is brought up to date."""
        for key in [key for key in since if key not in self._found]:
            del since[key]
        return [
            SetAside(
                kind=kind or UNNAMED,
                namespace=namespace,
                name=name or UNNAMED,
                field=field,
                message=message,
                since=since.setdefault((kind, namespace, name), now),
            )
            for (kind, namespace, name), (field, message) in self._found.items()
        ]
