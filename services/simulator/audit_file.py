"""The audit log as a file: one JSON line for each event, there once the call returns."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from libs.domain.errors import InvalidRequest

_OWNER_ONLY = 0o600


def writer(path: Path) -> Callable[[dict[str, Any]], None]:
    """Return what adds an event to the file, which stays open as long as the process lives.

    Raises:
        InvalidRequest: the file cannot be written.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _OWNER_ONLY)
    except OSError as error:
        raise InvalidRequest(f"cannot be written: {error}", field="audit_log") from error

    def write(event: dict[str, Any]) -> None:
        os.write(descriptor, msgspec.json.encode(event) + b"\n")

    return write
