"""The file of a dump: a header and one object a line, as JSON, packed by gzip.

    {"apiVersion":"joiner.io/v1","kind":"ClusterDump","metadata":{"name":"…"},"capturedAt":"…",…}
    {"apiVersion":"v1","kind":"Namespace","metadata":{…},…}

The header is an object like the others, so that whoever reads files of objects can read dumps and
pass it over. Law: equal objects and an equal header give equal bytes.
"""

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from libs.domain.errors import InvalidRequest

API_VERSION = "joiner.io/v1"
KIND = "ClusterDump"
_EFFORT = 6
"""Of packing: more takes three times as long for a few percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a dump says of itself."""

    captured_at: datetime
    server_version: str = ""
    counts: Mapping[str, int]
    """Objects by resource (`pods`, `deployments.apps`)."""
    missing: Mapping[str, str]
    """Resources that could not be read, and why."""

    def document(self) -> dict[str, Any]:
        """Return the header as an object."""
        return {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "metadata": {"name": "cluster"},
            "capturedAt": self.captured_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "serverVersion": self.server_version,
            "counts": dict(self.counts),
            "missing": dict(self.missing),
        }


def is_header(document: Mapping[str, Any]) -> bool:
    """Tell whether an object is a dump's header."""
    return document.get("apiVersion") == API_VERSION and document.get("kind") == KIND


def captured_at(document: Mapping[str, Any]) -> datetime:
    """Return when a dump was captured.

    Raises:
        InvalidRequest: its header does not say.
    """
    try:
        found = datetime.fromisoformat(str(document.get("capturedAt")))
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise InvalidRequest("is no instant such as 2026-01-31T08:00:00Z", field="capturedAt")
    return found


def write(path: Path, header: Header, objects: Iterable[Mapping[str, Any]]) -> None:
    """Write a dump, whole or not at all; it is packed unless the file's name ends in `.jsonl`.

    Raises:
        OSError: it cannot be written.
    """
    encode = msgspec.json.encode
    lines = b"".join(encode(one) + b"\n" for one in (header.document(), *objects))
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_bytes(lines if path.suffix == ".jsonl" else gzip.compress(lines, _EFFORT, mtime=0))
    fresh.replace(path)
