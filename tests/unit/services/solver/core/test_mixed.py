"""Laws of every plan over random clusters with all kinds of constraints mixed.

Kubernetes documents go through the same loading as files do, and judges that share nothing with the
solver look at the plan: the checker, and a reference solver that places pods one by one.

The examples are always the same ones, and the first that fails is shown as it is.
`JOINER_TEST_MIXED_EXAMPLES=1000 pytest --hypothesis-seed=1 --hypothesis-show-statistics` runs more
of them, other ones with every seed, and shrinks the first that fails; `python -m
tests.support.long_run` goes on after a failure and counts. What a run of 20,000 found is in
`docs/architecture.md`.
"""

import os
from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from libs.domain.pod_table import PodTable
from libs.domain.snapshot import KEYS, ClusterSnapshot
from services.solver.core.solve import solve
from tests.support.judging import Judgement, judged
from tests.support.mixed import MixedCluster, load
from tests.support.strategies.mixed import mixed_clusters

_WANTED = os.environ.get("JOINER_TEST_MIXED_EXAMPLES")
SETTINGS = settings(
    max_examples=int(_WANTED or 100),
    derandomize=_WANTED is None,
    # To shrink an example takes minutes, more than a run of all tests has for one.
    phases=tuple(Phase) if _WANTED else (Phase.generate,),
    database=None,
    suppress_health_check=list(HealthCheck),
)
_SHARE_BELOW = 100
"""One example in so many may fall below the reference, in all or in a priority."""


def test_the_checker_accepts_every_plan_nobody_is_overlooked_and_few_plans_place_fewer() -> None:
    counted: Counter[str] = Counter()

    @SETTINGS
    @given(mixed_clusters())
    def judge(mixed: MixedCluster) -> None:
        found = judged(load(mixed))
        _tell(found)
        counted["examples"] += 1
        counted["below"] += found.beyond_reference < 0 or found.passed_over is not None

        assert found.refused == ()
        assert found.overlooked == {}

    judge()

    assert counted["below"] * _SHARE_BELOW <= counted["examples"]


def _tell(found: Judgement) -> None:
    plan = found.solution.plan
    event("nodes bought" if plan.nodeclaims else "no node bought")
    event("pods on nodes" if plan.nominations else "no pod on nodes")
    event("pods left out" if plan.unplaced else "no pod left out")


@SETTINGS
@given(mixed_clusters(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_never_matters(mixed: MixedCluster, chance: Any) -> None:
    loaded = load(mixed)
    snapshot, options = loaded.snapshot, loaded.options

    assert solve(_shuffled(snapshot, chance), options) == solve(snapshot, options)


def _shuffled(snapshot: ClusterSnapshot, chance: Any) -> ClusterSnapshot:
    """Return the snapshot with its objects in another order and its shapes renumbered."""
    numbers = list(snapshot.shapes)
    chance.shuffle(numbers)
    number_of = dict(zip(snapshot.shapes, numbers, strict=True))
    rows = [row._replace(shape=number_of[row.shape]) for row in snapshot.pods.rows()]
    chance.shuffle(rows)
    items = {name: list(getattr(snapshot, name).values()) for name in KEYS}
    items["shapes"] = [replace(one, id=number_of[one.id]) for one in items["shapes"]]
    for name in ("daemonsets", "buffers"):
        items[name] = [replace(one, shape=number_of[one.shape]) for one in items[name]]
    for several in items.values():
        chance.shuffle(several)
    mixed: dict[str, Any] = {
        name: {KEYS[name](one): one for one in several} for name, several in items.items()
    }
    return replace(snapshot, pods=PodTable.from_rows(rows), **mixed)
