"""Room of buffers: what is left when all real pods have a place."""

from hypothesis import given, settings
from hypothesis import strategies as st

from libs.cluster.workloads import LOWEST_PRIORITY
from libs.domain.plan import Plan
from libs.domain.solution import SolveOptions
from libs.domain.workload import CapacityBuffer
from services.solver.core.solve import solve
from tests.support.builders import (
    a_catalogue,
    a_node,
    a_pod,
    a_pool,
    a_shape,
    a_snapshot,
    amounts,
    pods,
    some_types,
)

BUFFER_SHAPE = 9


def planned(nodes: int, counts: list[int], limit: int, spare: int) -> Plan:
    """Return the plan for pods of 1, 2, … CPUs on nodes of 4, with a buffer of pods of 2."""
    shapes = [a_shape(cpu, cpu=str(cpu)) for cpu in range(1, len(counts) + 1)]
    shapes.append(a_shape(BUFFER_SHAPE, cpu="2", labels={"app": "spare"}))
    waiting = [pod for cpu, count in enumerate(counts, start=1) for pod in pods(count, cpu)]
    buffer = CapacityBuffer(
        namespace="default", name="spare", uid="spare", shape=BUFFER_SHAPE, replicas=spare
    )
    virtual = [
        a_pod(uid, BUFFER_SHAPE, uid=uid, priority=LOWEST_PRIORITY) for uid in buffer.pod_uids
    ]
    snapshot = a_snapshot(
        shapes=shapes,
        pods=[*waiting, *virtual],
        nodes=[a_node(f"n{number}") for number in range(nodes)],
        nodepools=[a_pool(limits=amounts(cpu=limit))],
        catalogues=[a_catalogue(*some_types(4, 8))],
        buffers=[buffer],
    )
    return solve(snapshot, SolveOptions()).plan


def real_pods_together(plan: Plan) -> set[frozenset[str]]:
    claims = (
        frozenset(uid for uid in claim.pod_uids if not uid.startswith("spare-"))
        for claim in plan.nodeclaims
    )
    return {claim for claim in claims if claim}


@settings(max_examples=20)
@given(
    nodes=st.integers(0, 3),
    counts=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    limit=st.integers(0, 40),
    spare=st.integers(0, 8),
)
def test_a_buffer_takes_nothing_from_real_pods(
    nodes: int, counts: list[int], limit: int, spare: int
) -> None:
    without = planned(nodes, counts, limit, 0)

    plan = planned(nodes, counts, limit, spare)

    assert plan.nominations == without.nominations
    assert real_pods_together(plan) == real_pods_together(without)
    assert {uid for one in plan.unplaced for uid in one.pod_uids} == {
        uid for one in without.unplaced for uid in one.pod_uids
    }
    (verdict,) = plan.buffers
    assert verdict.fit_existing + verdict.need_new + verdict.unplaced == spare
    assert bool(verdict.problem) is bool(verdict.unplaced)
