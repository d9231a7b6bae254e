"""A snapshot out of files and a catalogue: what every offline command begins with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cli import documents
from libs import catalogues
from libs.cluster import files
from libs.domain.capacity import Catalogue, NodeClassRef
from libs.domain.errors import InvalidRequest
from libs.domain.plan import UnplacedPods
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId
from libs.runtime.clock import SystemClock

_DEFAULT_CLASS = NodeClassRef(group="karpenter.kwok.sh", kind="KWOKNodeClass", name="default")
_FILES = SnapshotId(cluster_id="files", epoch=Epoch(boot_id="files"), revision=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineCluster:
    """What files say, ready for a decision."""

    snapshot: ClusterSnapshot
    notes: tuple[str, ...]
    left_out: tuple[UnplacedPods, ...]
    """Waiting pods whose objects, or whose volumes', are broken: no solver sees them."""
    documents: tuple[tuple[str, Mapping[str, Any]], ...]
    """Kind and plain form of every object, those of assumed replicas included."""


def load(inputs: Sequence[str], catalogue: str, now: datetime) -> OfflineCluster:
    """Return the cluster of some files, every node class of which sells one catalogue.

    Raises:
        InvalidRequest: bad input; names file, object and field.
        OSError: a file cannot be read.
    """
    types = catalogues.named(catalogue)
    loaded = files.load(documents.read(inputs), default_class=_DEFAULT_CLASS)
    for node_class in loaded.node_classes:
        loaded.state.set_catalogue(
            Catalogue(
                node_class=node_class,
                etag=Path(catalogue).name,
                observed_at=now,
                instance_types=types,
                well_known_keys=catalogues.well_known_keys(catalogue, types),
            )
        )
    snapshot = loaded.state.snapshot(now, _FILES)
    return OfflineCluster(
        snapshot=snapshot,
        notes=(*loaded.notes, *_set_aside(snapshot)),
        left_out=loaded.state.left_out(),
        documents=loaded.documents,
    )


def instant(text: str | None) -> datetime:
    """Return an RFC 3339 instant in UTC; None: now.

    Raises:
        InvalidRequest: the text is no instant with an offset.
    """
    if text is None:
        return SystemClock().now()
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidRequest(f"{text!r} is not an RFC 3339 instant", field="--now") from None
    if found.tzinfo is None:
        raise InvalidRequest(f"{text!r} has no offset; write 2026-01-01T00:00:00Z", field="--now")
    return found.astimezone(UTC)


def _set_aside(snapshot: ClusterSnapshot) -> tuple[str, ...]:
    def said(key: str) -> str:
        item = snapshot.set_aside[key]
        name = "/".join(part for part in (item.namespace, item.name) if part)
        field = f": {item.field}" if item.field else ""
        return f'{item.kind} "{name}" set aside{field}: {item.message}'

    return tuple(map(said, snapshot.set_aside))
