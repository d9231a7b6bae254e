"""The record that candidates for leadership compete for, and every decision about it; pure.

A candidate takes a lease that is free, or whose record has not changed for its whole duration as
measured on the candidate's own monotonic clock: calendars of different machines are never compared.

Source: Kubernetes' coordination/v1 Lease as leader election uses it.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from libs.domain.errors import AlreadyExists, NotFound, StaleRevision

NOBODY = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The record that candidates compete for."""

    holder: str
    """`NOBODY` after a release."""
    duration: timedelta
    acquired_at: datetime
    renewed_at: datetime
    transitions: int
    """Grows by one with each change of the holder."""
    resource_version: str = ""
    """Precondition of an update; empty in a record to be created."""


class LeaseStore(Protocol):
    """One lease in a store with optimistic concurrency.

    Laws: `update` succeeds only if the stored resource version is the given one; both writes
    return the record as stored, with its new resource version.
    """

    async def get(self) -> Lease | None:
        """Return the record, `None` if there is none."""

    async def create(self, lease: Lease) -> Lease:
        """Store the first record; raises AlreadyExists."""

    async def update(self, lease: Lease) -> Lease:
        """Replace the record; raises StaleRevision if it has changed, NotFound if it is gone."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A record and the monotonic instant at which a candidate first saw it like that."""

    lease: Lease
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Who competes, and for how long it asks."""

    holder: str
    duration: timedelta


def observe(before: Seen | None, lease: Lease | None, now: float) -> Seen | None:
    """Return what is known after reading `lease` at the monotonic instant `now`."""
    if lease is None:
        return None
    return before if before is not None and before.lease == lease else Seen(lease, now)


def claim(seen: Seen | None, candidate: Candidate, now: float, calendar: datetime) -> Lease | None:
    """Return the record that begins the candidate's next term, `None` if another holds the lease.

    A record that names the candidate itself is left from a write whose answer was lost, or from a
    term that it gave up: it too begins a new term.

    Args:
        seen: the newest record; `None` if none exists.
        candidate: who asks.
        now: monotonic seconds, of the same clock as `seen`.
        calendar: for the record's readers only; nothing is decided by it.
    """
    taken = Lease(
        holder=candidate.holder,
        duration=candidate.duration,
        acquired_at=calendar,
        renewed_at=calendar,
        transitions=0,
    )
    if seen is None:
        return taken
    lease = seen.lease
    if lease.holder not in (NOBODY, candidate.holder) and now < _runs_out(seen):
        return None
    return replace(
        taken, transitions=lease.transitions + 1, resource_version=lease.resource_version
    )


def renewal(seen: Seen | None, candidate: Candidate, calendar: datetime) -> Lease | None:
    """Return the record that prolongs the candidate's term, `None` if it holds no lease."""
    if seen is None or seen.lease.holder != candidate.holder:
        return None
    return replace(seen.lease, renewed_at=calendar, duration=candidate.duration)


def release(seen: Seen | None, candidate: Candidate, calendar: datetime) -> Lease | None:
    """Return the record that ends the candidate's term, `None` if it holds no lease."""
    held = renewal(seen, candidate, calendar)
    return held and replace(held, holder=NOBODY)


class MemoryLeaseStore:
    """A lease in memory: for tests, and where election is switched off."""

    def __init__(self) -> None:
        self._lease: Lease | None = None
        self._version = 0

    async def get(self) -> Lease | None:
        """Return the record."""
        return self._lease

    async def create(self, lease: Lease) -> Lease:
        """Store the first record."""
        if self._lease is not None:
            raise AlreadyExists("the lease exists")
        return self._store(lease)

    async def update(self, lease: Lease) -> Lease:
        """Replace the record if it is the one that the caller knows."""
        if self._lease is None:
            raise NotFound("the lease is gone")
        if self._lease.resource_version != lease.resource_version:
            raise StaleRevision("the lease has changed")
        return self._store(lease)

    def _store(self, lease: Lease) -> Lease:
        self._version += 1
        self._lease = replace(lease, resource_version=str(self._version))
        return self._lease


def _runs_out(seen: Seen) -> float:
    return seen.since + seen.lease.duration.total_seconds()
