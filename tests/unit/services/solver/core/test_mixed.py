"""Laws of every plan over random clusters with all kinds of constraints mixed.

Kubernetes documents go through the same loading as files do, and judges that share nothing with the
solver look at the plan: the checker, and a reference solver that places pods one by one.

`JOINER_TEST_MIXED_EXAMPLES=20000 pytest --hypothesis-seed=1 --hypothesis-show-statistics` runs
more of them, other ones with every seed.
"""

import os
from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from libs.checker.plan import check_solution
from libs.domain.plan import Plan
from libs.domain.pod import PodTable
from libs.domain.snapshot import ClusterSnapshot, keyed
from libs.domain.solution import Solution, SolveOptions, with_unplaced
from services.solver.core.solve import solve
from tests.support.mixed import Loaded, MixedCluster, load
from tests.support.reference import reference_solve, takers
from tests.support.strategies.mixed import mixed_clusters

_WANTED = os.environ.get("JOINER_TEST_MIXED_EXAMPLES")
SETTINGS = settings(
    max_examples=int(_WANTED or 100),
    derandomize=_WANTED is None,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
_SHARE_BELOW = 100
"""One example in so many may fall below the reference."""


def _solution(loaded: Loaded) -> Solution:
    return with_unplaced(solve(loaded.snapshot, SolveOptions()), loaded.left_out)


@SETTINGS
@given(mixed_clusters())
def test_the_checker_accepts_every_plan_and_nobody_is_overlooked(mixed: MixedCluster) -> None:
    loaded = load(mixed)
    solution = _solution(loaded)
    plan = solution.plan
    _tell(plan)

    wrong = check_solution(
        loaded.cluster, loaded.snapshot, solution, daemon_sets=loaded.daemon_sets
    )

    assert wrong == []
    assert _overlooked(loaded, plan) == {}


def _tell(plan: Plan) -> None:
    event("nodes bought" if plan.nodeclaims else "no node bought")
    event("pods on nodes" if plan.nominations else "no pod on nodes")
    event("pods left out" if plan.unplaced else "no pod left out")


def _overlooked(loaded: Loaded, plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return who could have a place alone.

    Who waits for a reservation to be settled does so on purpose; and what a claim that is not
    launched may not become is promised to nobody, however likely it is.
    """
    deferred = {uid for one in plan.unplaced if one.reason.deferred for uid in one.pod_uids}
    found = takers(loaded.cluster, loaded.snapshot, plan, daemon_sets=loaded.daemon_sets)
    claims = loaded.snapshot.nodeclaims.values()
    open_ones = {one.name for one in claims if not len(one.allocatable)}
    return {
        uid: where
        for uid, where in found.items()
        if uid not in deferred and not open_ones.issuperset(where)
    }


def test_no_fewer_pods_are_placed_than_one_by_one() -> None:
    counted: Counter[str] = Counter()

    @SETTINGS
    @given(mixed_clusters())
    def compare(mixed: MixedCluster) -> None:
        loaded = load(mixed)
        pods = _solution(loaded).pods
        reference = reference_solve(loaded.cluster, loaded.snapshot, daemon_sets=loaded.daemon_sets)
        counted["examples"] += 1
        counted["below"] += pods.on_existing + pods.on_new < len(reference.places)

    compare()

    assert counted["below"] * _SHARE_BELOW <= counted["examples"]


@SETTINGS
@given(mixed_clusters(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_never_matters(mixed: MixedCluster, chance: Any) -> None:
    snapshot = load(mixed).snapshot

    assert solve(_shuffled(snapshot, chance), SolveOptions()) == solve(snapshot, SolveOptions())


def _shuffled(snapshot: ClusterSnapshot, chance: Any) -> ClusterSnapshot:
    """Return the snapshot with its objects in another order and its shapes renumbered."""
    numbers = list(snapshot.shapes)
    chance.shuffle(numbers)
    number_of = dict(zip(snapshot.shapes, numbers, strict=True))
    rows = [row._replace(shape=number_of[row.shape]) for row in snapshot.pods.rows()]
    chance.shuffle(rows)
    mixed: dict[str, Any] = {}
    for name in ("nodes", "nodeclaims", "nodepools", "catalogues", "gangs"):
        items = list(getattr(snapshot, name).items())
        chance.shuffle(items)
        mixed[name] = dict(items)
    return replace(
        snapshot,
        pods=PodTable.from_rows(rows),
        shapes=keyed(
            "shapes",
            [replace(one, id=number_of[one.id]) for one in snapshot.shapes.values()],
        ),
        daemonsets=keyed(
            "daemonsets",
            [replace(one, shape=number_of[one.shape]) for one in snapshot.daemonsets.values()],
        ),
        buffers=keyed(
            "buffers",
            [replace(one, shape=number_of[one.shape]) for one in snapshot.buffers.values()],
        ),
        **mixed,
    )
