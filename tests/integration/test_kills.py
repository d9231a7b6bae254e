"""Any process dies between any two mutations of the loop; the others go on, and it catches up.

The undisturbed run numbers the mutations of all services. Each service is killed at instants spread
over the whole run: just before and just after its own mutations (not sent; sent, but the answer
unseen), and between those of others. Time is simulated and ids are seeded, so up to its death a run
is the same as the undisturbed one.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import cache

import pytest

from libs.runtime.virtual import run_virtual
from tests.integration.story import has_come_right, live
from tests.support.cluster import SERVICES, Cluster, a_cluster
from tests.support.mutations import Instant, Mutation

DEATHS = 12
"""Of each service: up to nine at its own mutations, the others between those of others."""

_OWN = 9
_AWAY = timedelta(seconds=2)


@pytest.mark.parametrize("number", range(DEATHS))
@pytest.mark.parametrize("service", SERVICES)
def test_a_process_that_dies_doubles_nothing_and_leaves_nothing(service: str, number: int) -> None:
    instant = deaths(f"{service}-1", undisturbed())[number]

    async def scenario() -> None:
        async with a_cluster() as cluster:
            dies_at(cluster, f"{service}-1", instant)
            await cluster.start_all()
            await live(cluster)
            has_come_right(cluster)

    print("dies", "after" if instant.after else "before", undisturbed()[instant.position])
    run_virtual(scenario(), limit=timedelta(hours=1))


def test_deaths_are_spread_over_the_whole_run() -> None:
    made = undisturbed()

    for service in SERVICES:
        positions = {instant.position for instant in deaths(f"{service}-1", made)}

        assert len(positions) >= 10
        assert min(positions) < len(made) / 6
        assert max(positions) > len(made) * 5 / 6


def dies_at(cluster: Cluster, process: str, instant: Instant) -> None:
    """Let a process die at an instant, and come back a moment later."""

    def step_in(now: Instant, acting: str) -> None:
        if now == instant:
            cluster.strike(process, back_after=_AWAY, acting=acting)

    cluster.mutations.steps_in = step_in


@cache
def undisturbed() -> tuple[Mutation, ...]:
    """Return the mutations of a run in which nobody dies."""
    made: list[Mutation] = []

    async def scenario() -> None:
        async with a_cluster() as cluster:
            await cluster.start_all()
            await live(cluster)
            has_come_right(cluster)
            made.extend(cluster.mutations.made)

    run_virtual(scenario(), limit=timedelta(hours=1))
    return tuple(made)


def deaths(process: str, made: Sequence[Mutation]) -> tuple[Instant, ...]:
    """Return the instants at which a process dies."""
    mine = [position for position, one in enumerate(made) if one.process == process]
    own = [
        Instant(position, after=bool(number % 2))
        for number, position in enumerate(spread(mine, min(_OWN, len(mine))))
    ]
    rest = [position for position, one in enumerate(made) if one.process != process]
    others = [Instant(position) for position in spread(rest, DEATHS - len(own))]
    return tuple(sorted(own + others, key=lambda one: one.position))


def spread(positions: Sequence[int], count: int) -> list[int]:
    """Return so many of the positions, the first and the last among them."""
    return [
        positions[number * (len(positions) - 1) // max(1, count - 1)] for number in range(count)
    ]
