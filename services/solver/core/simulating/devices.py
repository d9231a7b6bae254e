"""Devices of pods that go: what was reserved for them is free again.

Apart because claims of devices are the one thing that a pod leaves behind where it was: a snapshot
names their users, and who is gone uses nothing.
"""

from collections.abc import Iterable
from dataclasses import replace

from libs.domain.device import DeviceClaim, DevicePool
from libs.domain.pod import PodRow, PodShape
from services.solver.core.simulating.draft import Draft


def release(draft: Draft, rows: Iterable[PodRow]) -> None:
    """Free what is reserved for these pods, and for nobody else."""
    gone = frozenset(row.uid for row in rows if draft.get("shapes", row.shape).device_claims)
    if not gone:
        return
    for shape in list(draft.all("shapes")):
        claims = tuple(_released_claim(one, gone) for one in shape.device_claims)
        if claims != shape.device_claims:
            draft.put("shapes", _with_claims(shape, claims))
    for pool in list(draft.all("device_pools")):
        freed = _released_pool(pool, gone)
        if freed != pool:
            draft.put("device_pools", freed)


def _with_claims(shape: PodShape, claims: tuple[DeviceClaim, ...]) -> PodShape:
    return replace(shape, device_claims=claims)


def _released_claim(claim: DeviceClaim, gone: frozenset[str]) -> DeviceClaim:
    """Return the claim without those users; allocated anew if it had no others."""
    if gone.isdisjoint(claim.reserved_for):
        return claim
    left = _left(claim.reserved_for, gone)
    return replace(claim, reserved_for=left, allocated_terms=claim.allocated_terms if left else ())


def _released_pool(pool: DevicePool, gone: frozenset[str]) -> DevicePool:
    """Return the pool without the holds that were for those users alone."""
    kept = []
    for hold in pool.holds:
        left = _left(hold.reserved_for, gone)
        if left or not hold.reserved_for:
            kept.append(hold if left == hold.reserved_for else replace(hold, reserved_for=left))
    return pool if tuple(kept) == pool.holds else replace(pool, holds=tuple(kept))


def _left(reserved_for: tuple[str, ...], gone: frozenset[str]) -> tuple[str, ...]:
    return tuple(uid for uid in reserved_for if uid not in gone)
