"""The rows of a cluster's pods as they are published, kept from one snapshot to the next.

Apart from the conversion so that a table and its shapes are brought up to date by what changed.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from libs.cluster.shapes import RawShape
from libs.domain.errors import InvalidRequest
from libs.domain.pod import PodRow, PodShape
from libs.domain.pod_change import merged
from libs.domain.pod_table import PodTable
from libs.kube.convert.inline_disk import InlineDisk
from libs.kube.convert.storage import PodClaim
from libs.kube.objects.pod import PodResourceClaim, ResourceClaimStatus


@dataclass(slots=True, kw_only=True)
class PodRecord:
    """A pod as converted, and its row as last completed."""

    row: PodRow
    labels: Mapping[str, str]
    raw: RawShape | None
    """None where not even its requests are legible."""
    problem: InvalidRequest | None
    claims: tuple[PodClaim, ...]
    inline: tuple[InlineDisk, ...]
    resource_claims: tuple[PodResourceClaim, ...]
    resource_claim_statuses: tuple[ResourceClaimStatus, ...]
    pod_group: str
    """Name of the PodGroup that it has to have."""
    finished: PodRow | None = None
    shape: PodShape | None = None
    missing: InvalidRequest | None = None
    """What the pod refers to and is not there."""
    stamp: tuple[object, ...] = field(default=())
    """State of the cluster that the row was completed with."""
    published: PodRow | None = None
    """The row that the last snapshot has."""

    @property
    def refers(self) -> bool:
        """Return whether the pod refers to other objects, which may change, or shares a disk."""
        return bool(self.claims or self.inline or self.resource_claims)

    @property
    def matters(self) -> bool:
        """Return whether the pod takes room or needs it now or later."""
        return not self.row.terminal or self.row.reschedulable

    @property
    def depends(self) -> bool:
        """Return whether its row may change while neither the pod does nor what all depend on."""
        return (
            self.published is None
            or self.problem is not None
            or self.refers
            or bool(self.finished and self.finished.gang)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """The pods of a snapshot."""

    pods: PodTable
    shapes: dict[int, PodShape]
    """By number."""


class Published:
    """The rows that were put last."""

    def __init__(self) -> None:
        self._table = PodTable()
        self._shapes: dict[int, PodShape] = {}
        self._uses: Counter[int] = Counter()
        """How many rows have each shape."""
        self._changed: dict[str, PodRow | None] = {}

    def put(self, record: PodRecord, row: PodRow | None) -> None:
        """Publish another row of a pod, or None for none."""
        before = record.published
        record.published = row
        if row is not None and record.shape is not None:
            self._uses[row.shape] += 1
            self._shapes[row.shape] = record.shape
            self._changed[row.uid] = row
        if before is not None:
            self._uses[before.shape] -= 1
            if not self._uses[before.shape]:
                del self._uses[before.shape], self._shapes[before.shape]
            if row is None:
                self._changed[before.uid] = None

    def completed(self) -> Completed:
        """Return all rows and their shapes."""
        changed, self._changed = self._changed, {}
        rows = PodTable.from_rows(row for row in changed.values() if row is not None)
        gone = [uid for uid, row in changed.items() if row is None]
        self._table = merged(self._table, rows, gone)
        return Completed(pods=self._table, shapes=dict(self._shapes))
