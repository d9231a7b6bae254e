"""JSON lines on standard output, with repeats suppressed.

The message of a record is a constant phrase, its values are in `extra` and become keys of the line.
A warning or an error that repeats word for word within a minute, values included, is dropped; the
next one that passes says in `suppressed` how many were.
"""

import collections
import json
import logging
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from libs.runtime.runtime_settings import LogLevel

REPEAT_WINDOW_SECONDS = 60.0

_MAX_REMEMBERED = (
    1000  # distinct warnings; beyond that the oldest is forgotten, and may be repeated
)

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def configure(level: LogLevel, service: str) -> None:
    """Send every logger's records to standard output as JSON, from `level` upwards."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonFormatter(service))
    handler.addFilter(RepeatFilter(time.monotonic))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.value.upper())
    logging.captureWarnings(True)


class JsonFormatter(logging.Formatter):
    """One JSON object a line: level, time, service, logger, message, then the values of `extra`."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line: dict[str, Any] = {
            "level": record.levelname,
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "service": self._service,
            "logger": record.name,
            "message": record.getMessage(),
            **extra_of(record),
        }
        if record.exc_info:
            line["stacktrace"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


class RepeatFilter:
    """Drops a warning or an error that was written within the last minute with the same values."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._written: collections.OrderedDict[str, float] = collections.OrderedDict()
        self._dropped: collections.Counter[str] = collections.Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is to be written."""
        if record.levelno < logging.WARNING:
            return True
        key, now = _identity(record), self._monotonic()
        written = self._written.get(key)
        if written is not None and now - written < REPEAT_WINDOW_SECONDS:
            self._dropped[key] += 1
            return False
        self._remember(key, now)
        if dropped := self._dropped.pop(key, 0):
            record.suppressed = dropped
        return True

    def _remember(self, key: str, now: float) -> None:
        self._written[key] = now
        self._written.move_to_end(key)
        while len(self._written) > _MAX_REMEMBERED:
            forgotten, _ = self._written.popitem(last=False)
            self._dropped.pop(forgotten, None)


def extra_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return the values that the caller gave in `extra`."""
    return {key: value for key, value in vars(record).items() if key not in _STANDARD}


def _identity(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info else None
    return repr((record.name, record.getMessage(), sorted(extra_of(record).items()), repr(error)))
