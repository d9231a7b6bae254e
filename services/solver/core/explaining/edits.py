"""Edits: a snapshot with one thing changed.

Apart because explanations try changes by them, and a property holds that what is proposed helps.
"""

from collections.abc import Iterable
from dataclasses import replace

from libs.domain.capacity import Catalogue
from libs.domain.nodepool import NodePool
from libs.domain.pod import PodRow, PodShape
from libs.domain.pod_change import merged
from libs.domain.pod_table import PodTable
from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.snapshot import ClusterSnapshot, keyed


def row_of(snapshot: ClusterSnapshot, uid: str) -> PodRow | None:
    """Return the pod of a uid, None if there is none."""
    return snapshot.pods.find(uid)


def with_shape(snapshot: ClusterSnapshot, uids: Iterable[str], shape: PodShape) -> ClusterSnapshot:
    """Return the snapshot with another shape for these pods."""
    number = max(snapshot.shapes, default=0) + 1
    rows = (row for row in map(snapshot.pods.find, uids) if row is not None)
    changed = PodTable.from_rows(row._replace(shape=number) for row in rows)
    return replace(
        snapshot,
        shapes=keyed("shapes", (*snapshot.shapes.values(), replace(shape, id=number))),
        pods=merged(snapshot.pods, changed, ()),
    )


def with_rows(snapshot: ClusterSnapshot, rows: Iterable[PodRow]) -> ClusterSnapshot:
    """Return the snapshot with these pods."""
    return replace(snapshot, pods=PodTable.from_rows(rows))


def with_pool(snapshot: ClusterSnapshot, pool: NodePool) -> ClusterSnapshot:
    """Return the snapshot with this pool in place of the one of its name."""
    pools = {**snapshot.nodepools, pool.name: pool}
    return replace(snapshot, nodepools=keyed("nodepools", pools.values()))


def with_catalogue(snapshot: ClusterSnapshot, catalogue: Catalogue) -> ClusterSnapshot:
    """Return the snapshot with this catalogue in place of the one of its class."""
    catalogues = {**snapshot.catalogues, catalogue.key: catalogue}
    return replace(snapshot, catalogues=keyed("catalogues", catalogues.values()))


def with_requirement(pool: NodePool, one: Requirement) -> NodePool:
    """Return the pool with this requirement in place of the one of its key."""
    kept = [there for there in pool.template.requirements if there.key != one.key]
    return with_requirements(pool, Requirements([*kept, one]))


def with_requirements(pool: NodePool, requirements: Requirements) -> NodePool:
    """Return the pool with these requirements."""
    return replace(pool, template=replace(pool.template, requirements=requirements))


def with_limits(pool: NodePool, **changed: int) -> NodePool:
    """Return the pool with these limits, by name of the resource, in place of its own."""
    return replace(pool, limits=pool.limits.overlaid(Resources(changed)))
