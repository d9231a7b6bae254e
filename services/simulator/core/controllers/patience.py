"""How long a DaemonSet waits before it replaces one more failed pod on a node.

Source: defaults of kube-controller-manager 1.36: from a second to a quarter of an hour, doubled.
"""

from datetime import datetime, timedelta

_FIRST_WAIT, _LAST_WAIT = timedelta(seconds=1), timedelta(minutes=15)


class Patience:
    """How long a DaemonSet waits on a node before it replaces one more pod that failed."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[datetime, timedelta]] = {}

    def until(self, uid: str, node: str, now: datetime) -> datetime | None:
        """Return when a failed pod may be replaced, None if now; which lengthens the next wait."""
        since, wait = self._known.get((uid, node), (now, timedelta()))
        if now < since + wait:
            return since + wait
        calm = now - since > 2 * _LAST_WAIT
        longer = _FIRST_WAIT if calm or not wait else min(wait * 2, _LAST_WAIT)
        self._known[uid, node] = (now, longer)
        return None
