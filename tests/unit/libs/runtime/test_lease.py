from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from libs.domain.errors import AlreadyExists, NotFound, StaleRevision
from libs.runtime.lease import (
    NOBODY,
    Candidate,
    Lease,
    MemoryLeaseStore,
    Seen,
    claim,
    observe,
    release,
    renewal,
)
from libs.runtime.virtual import run_virtual

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ME = Candidate(holder="me", duration=timedelta(seconds=15))
OTHER = Lease(
    holder="other",
    duration=timedelta(seconds=30),
    acquired_at=NOW,
    renewed_at=NOW,
    transitions=4,
    resource_version="9",
)


def test_the_first_lease_is_created_with_no_transitions() -> None:
    lease = claim(None, ME, 0.0, NOW)

    assert lease is not None
    assert (lease.holder, lease.transitions, lease.resource_version) == ("me", 0, "")


@pytest.mark.parametrize(
    ("holder", "now", "taken"),
    [
        pytest.param("other", 129.9, False, id="held"),
        pytest.param("other", 130.0, True, id="unchanged for its own duration"),
        pytest.param(NOBODY, 100.0, True, id="released"),
        pytest.param("me", 100.0, True, id="my own, from a lost answer"),
    ],
)
def test_a_lease_is_taken_only_when_nobody_can_still_act_on_it(
    holder: str, now: float, taken: bool
) -> None:
    seen = Seen(replace(OTHER, holder=holder), since=100.0)

    lease = claim(seen, ME, now, NOW)

    assert (lease is not None) is taken
    if lease is not None:
        assert (lease.transitions, lease.resource_version) == (5, "9")


def test_a_changed_record_starts_the_wait_anew() -> None:
    first = observe(None, OTHER, 10.0)
    same = observe(first, OTHER, 20.0)
    renewed = observe(same, replace(OTHER, resource_version="10"), 30.0)

    assert same == Seen(OTHER, 10.0)
    assert renewed is not None
    assert renewed.since == 30.0


def test_only_the_holder_renews_and_releases() -> None:
    mine = Seen(replace(OTHER, holder="me"), 0.0)
    later = NOW + timedelta(seconds=1)

    renewed, freed = renewal(mine, ME, later), release(mine, ME, later)

    assert renewed is not None
    assert freed is not None
    assert (renewed.renewed_at, renewed.transitions) == (later, 4)
    assert (freed.holder, freed.transitions) == (NOBODY, 4)
    for seen in (None, Seen(OTHER, 0.0)):
        assert renewal(seen, ME, later) is None
        assert release(seen, ME, later) is None


def test_the_memory_store_keeps_the_laws_of_a_lease_store() -> None:
    async def scenario() -> None:
        store = MemoryLeaseStore()
        assert await store.get() is None
        with pytest.raises(NotFound):
            await store.update(OTHER)
        stored = await store.create(OTHER)
        with pytest.raises(AlreadyExists):
            await store.create(OTHER)
        newer = await store.update(stored)
        with pytest.raises(StaleRevision):
            await store.update(stored)
        assert await store.get() == newer

    run_virtual(scenario())
