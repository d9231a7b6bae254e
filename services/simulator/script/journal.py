"""What happened when: one entry for each thing, as JSON lines.

Laws: entries are in the order in which things happened; the text of an entry depends on nothing but
what happened, so that two equal runs have equal journals, byte for byte.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that happened."""

    after: timedelta
    """Since the beginning."""
    what: str
    """`scale`, `reclaim notice`, `node ready`."""
    subject: str = ""
    """Kind and name, or a field of the script."""
    detail: str = ""

    @property
    def time(self) -> str:
        """Return the time since the beginning, as `1:02:03.4`."""
        seconds = self.after.total_seconds()
        minutes, rest = divmod(seconds, 60)
        hours, minutes = divmod(int(minutes), 60)
        return f"{hours}:{minutes:02}:{rest:04.1f}"

    @property
    def line(self) -> str:
        """Return the entry as a line for people."""
        parts = (self.time, self.what, self.subject, self.detail)
        return "  ".join(part for part in parts if part)


def to_json(entries: Iterable[Entry]) -> str:
    """Return entries as JSON lines; of what is empty nothing is said."""
    return "".join(f"{json.dumps(_document(entry), ensure_ascii=False)}\n" for entry in entries)


def _document(entry: Entry) -> dict[str, object]:
    told = {"what": entry.what, "subject": entry.subject, "detail": entry.detail}
    return {
        "seconds": round(entry.after.total_seconds(), 3),
        **{key: text for key, text in told.items() if text},
    }
