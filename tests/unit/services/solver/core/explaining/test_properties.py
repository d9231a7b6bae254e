"""Laws of every explanation, over random small clusters with all kinds of constraints mixed."""

from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, given, settings

from libs.domain.explanation import ChangeKind, Explanation, PodSituation
from libs.domain.plan import Plan
from libs.domain.question import SubjectKind
from libs.domain.snapshot import ClusterSnapshot, keyed
from libs.domain.solution import SolveOptions
from services.solver.core.explaining.edits import row_of, with_rows
from services.solver.core.explaining.explain import explain
from services.solver.core.explaining.pod import PodAnswer, explain_pod
from services.solver.core.explaining.trial import Desk, landing_of
from services.solver.core.offers.market import NOTHING_REMEMBERED
from services.solver.core.solve import VERSION, solve
from tests.support.mixed import MixedCluster, load
from tests.support.strategies.mixed import mixed_clusters
from tests.support.strategies.small import clusters

OPTIONS = SolveOptions()
SETTINGS = settings(
    max_examples=25,
    derandomize=True,
)

MIXED_SETTINGS = settings(
    SETTINGS, max_examples=40, database=None, suppress_health_check=list(HealthCheck)
)
"""Of clusters in which something of any kind may be in the way."""


def _answer(snapshot: ClusterSnapshot, options: SolveOptions, uid: str) -> PodAnswer:
    desk = Desk(options=options, memory=NOTHING_REMEMBERED, cancelled=lambda: False)
    base = Explanation(snapshot=snapshot.id, options=options, solver_version=VERSION)
    row = row_of(snapshot, uid)
    assert row is not None
    return explain_pod(desk, snapshot, row, base)


@SETTINGS
@given(clusters())
def test_a_pod_has_a_place_exactly_if_it_has_one_in_the_plan(snapshot: ClusterSnapshot) -> None:
    plan = solve(snapshot, OPTIONS).plan

    for row in snapshot.pods.rows():
        if row.node:
            continue
        found = explain(snapshot, OPTIONS, SubjectKind.POD, row.uid)
        assert found.pod is not None
        placed = landing_of(plan, row.uid) is not None
        assert (found.pod.situation is PodSituation.PLACED) == placed
        assert (found.unplaceable is None) == placed


def test_every_change_that_is_proposed_gives_the_pod_a_place() -> None:
    proposed: Counter[ChangeKind] = Counter()

    @MIXED_SETTINGS
    @given(mixed_clusters())
    def propose(mixed: MixedCluster) -> None:
        loaded = load(mixed)
        snapshot, options = loaded.snapshot, loaded.options
        for unplaced in solve(snapshot, options).plan.unplaced[:1]:
            uid = unplaced.pod_uids[0]
            for found in _answer(snapshot, options, uid).found:
                proposed[found.change.kind] += 1
                landing = landing_of(solve(found.edited, options).plan, uid)
                assert landing is not None
                there = (found.change.landing_kind, found.change.landing)
                assert (landing.kind, landing.name) == there

    propose()

    assert len(proposed) >= 4


@SETTINGS
@given(clusters())
def test_whom_a_node_and_a_pool_could_take_adds_up(snapshot: ClusterSnapshot) -> None:
    waiting = _waiting(snapshot)

    for name in snapshot.nodes:
        node = explain(snapshot, OPTIONS, SubjectKind.NODE, name).node
        assert node is not None
        refused = [uid for one in node.refusals for uid in one.pod_uids]
        assert sorted((*node.could_take, *refused)) == waiting
    for name in snapshot.nodepools:
        pool = explain(snapshot, OPTIONS, SubjectKind.NODEPOOL, name).nodepool
        assert pool is not None
        refused = [uid for one in pool.refusals for uid in one.pod_uids]
        assert sorted((*pool.could_take, *refused)) == waiting
        assert [one.offerings for one in pool.funnel] == sorted(
            (one.offerings for one in pool.funnel), reverse=True
        )


@SETTINGS
@given(clusters())
def test_a_pool_could_take_exactly_whom_the_solver_buys_for_alone(
    snapshot: ClusterSnapshot,
) -> None:
    cordoned = _only_open(snapshot, "")
    for name, pool in snapshot.nodepools.items():
        explained = explain(snapshot, OPTIONS, SubjectKind.NODEPOOL, name).nodepool
        assert explained is not None
        lone = replace(cordoned, nodepools=keyed("nodepools", [pool]))
        bought = [uid for uid in _waiting(snapshot) if not _plan(lone, uid).unplaced]
        assert list(explained.could_take) == bought


@SETTINGS
@given(clusters())
def test_a_node_could_take_exactly_whom_the_solver_puts_there_alone(
    snapshot: ClusterSnapshot,
) -> None:
    for name in snapshot.nodes:
        explained = explain(snapshot, OPTIONS, SubjectKind.NODE, name).node
        assert explained is not None
        lone = _only_open(snapshot, name)
        put = [uid for uid in _waiting(snapshot) if _plan(lone, uid).nominations]
        assert list(explained.could_take) == put


def _waiting(snapshot: ClusterSnapshot) -> list[str]:
    return sorted(row.uid for row in snapshot.pods.rows() if not row.node)


def _only_open(snapshot: ClusterSnapshot, name: str) -> ClusterSnapshot:
    nodes = [replace(one, unschedulable=one.name != name) for one in snapshot.nodes.values()]
    return replace(snapshot, nodes=keyed("nodes", nodes))


def _plan(snapshot: ClusterSnapshot, uid: str) -> Plan:
    """Return the plan for this pod, while the others do not wait."""
    rows = [
        row if row.node or row.uid == uid else row._replace(provisionable=False)
        for row in snapshot.pods.rows()
    ]
    return solve(with_rows(snapshot, rows), OPTIONS).plan
