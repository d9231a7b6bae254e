"""What was set aside, and since when.

Apart because every part of a snapshot reports here, while only this remembers the first sight.
"""

from datetime import datetime

from libs.domain.errors import InvalidRequest
from libs.domain.workload import SetAside
from libs.kube.convert.absent import RefusedObjects

UNNAMED = "(unnamed)"

ObjectKey = tuple[str, str, str]
"""Kind, namespace, name."""


class Problems:
    """The problems of one snapshot; of an object that has several the first is kept."""

    def __init__(self) -> None:
        self._found: dict[ObjectKey, InvalidRequest] = {}
        self._gangs: dict[ObjectKey, str] = {}

    def add(
        self, kind: str, namespace: str, name: str, error: InvalidRequest, gang: str = ""
    ) -> None:
        """Report an object; `gang` is that of a pod which is not in the snapshot."""
        key = kind, namespace, name
        self._found.setdefault(key, error)
        if gang:
            self._gangs[key] = gang

    def include(self, other: "Problems") -> None:
        """Report all that was reported elsewhere."""
        self._found = {**other._found, **self._found}
        self._gangs = {**other._gangs, **self._gangs}

    @property
    def refused(self) -> RefusedObjects:
        """What was reported so far."""
        return self._found

    def set_aside(self, now: datetime, since: dict[ObjectKey, datetime]) -> list[SetAside]:
        """Return the reports; `since` remembers first sights and is brought up to date."""
        for key in [key for key in since if key not in self._found]:
            del since[key]
        return [
            SetAside(
                kind=kind or UNNAMED,
                namespace=namespace,
                name=name or UNNAMED,
                field=error.field,
                message=error.detail,
                since=since.setdefault((kind, namespace, name), now),
                gang=self._gangs.get((kind, namespace, name), ""),
            )
            for (kind, namespace, name), error in self._found.items()
        ]
