"""Answers get lost on the way back, while watches tell of changes late: nothing is done twice.

The caller cannot know that its mutation was carried out, and for a while its watch does not tell it
either. Whoever repeats it then must be recognized.
"""

from collections.abc import Callable
from datetime import timedelta

import pytest

from libs.domain.errors import Unavailable
from libs.runtime.randomness import Random
from libs.runtime.virtual import run_virtual
from tests.integration.story import has_come_right, live
from tests.support.cluster import a_cluster
from tests.support.mutations import ACTING, Instant, Mutation, Mutations

Loses = Callable[[int, Mutation], bool]


@pytest.mark.parametrize("lag_seconds", [0, 2])
@pytest.mark.parametrize("method", sorted(ACTING))
def test_every_second_answer_of_a_service_is_lost(method: str, lag_seconds: float) -> None:
    calls: list[int] = []

    def loses(position: int, mutation: Mutation) -> bool:
        if mutation.what == method:
            calls.append(position)
        return mutation.what == method and len(calls) % 2 == 1

    ends_well(loses, lag_seconds)


def test_the_answer_to_the_creation_of_a_claim_is_lost() -> None:
    """The next plan names other claims, so its names do not protect it: lifecycle has to know."""
    lost: list[int] = []

    def loses(position: int, mutation: Mutation) -> bool:
        creates = mutation.what == "POST /apis/karpenter.sh/v1/nodeclaims"
        if creates:
            lost.append(position)
        return creates and len(lost) in (2, 3)

    ends_well(loses, lag_seconds=2)


@pytest.mark.parametrize("seed", range(6))
def test_every_tenth_answer_is_lost(seed: int) -> None:
    random = Random(seed)

    ends_well(lambda _position, _mutation: random.random() < 0.1, lag_seconds=2)


def ends_well(loses: Loses, lag_seconds: float) -> None:
    async def scenario() -> None:
        async with a_cluster() as cluster:
            cluster.lag = timedelta(seconds=lag_seconds)
            lose_answers(cluster.mutations, loses)
            await cluster.start_all()
            await live(cluster)
            has_come_right(cluster)

    run_virtual(scenario(), limit=timedelta(hours=1))


def lose_answers(mutations: Mutations, loses: Loses) -> None:
    def step_in(instant: Instant, _process: str) -> None:
        if instant.after and loses(instant.position, mutations.made[instant.position]):
            raise Unavailable("the answer was lost")

    mutations.steps_in = step_in
