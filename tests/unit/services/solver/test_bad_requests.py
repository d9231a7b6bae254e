"""Whatever a request says, the solver answers it or names the field that is wrong.

Every message of an honest question, about a cluster that has something of everything, gets one
field changed: taken away, doubled, or given a value at the edge of what its type holds. Nothing but
an answer, `InvalidRequest` with a field path, or `NotFound` may come of it.
"""

from dataclasses import replace

from google.protobuf.message import Message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from joiner.solver.v1 import solver_pb2 as pb

from libs.domain.errors import InvalidRequest, NotFound
from libs.domain.question import ExplainQuestion, SimulateQuestion, SolveQuestion, SubjectKind
from libs.domain.scenario import (
    AddNodes,
    AddPods,
    CordonNodes,
    EditOfferings,
    PutNodePool,
    PutOverlay,
    RemoveNodes,
    Scenario,
)
from libs.domain.snapshot import ClusterSnapshot
from libs.wire.explanation import decode_explanation, encode_explanation
from libs.wire.question import (
    decode_explain_question,
    decode_simulate_question,
    decode_solve_question,
    encode_explain_question,
    encode_simulate_question,
    encode_solve_question,
)
from libs.wire.scenario import decode_scenario_answer, encode_scenario_answer
from libs.wire.solution import decode_solution, encode_solution
from services.solver.core.explaining.explain import explain
from services.solver.core.simulating.simulate import base, simulate
from services.solver.core.solve import solve
from tests.support.builders import a_catalogue, a_shape, a_snapshot, a_term, a_type, pods
from tests.support.everything import OPTIONS, everything
from tests.support.garbage import mutant

CLUSTER = everything()
SOLVE = encode_solve_question(SolveQuestion(snapshot=CLUSTER, options=OPTIONS))
SUBJECTS = [
    (SubjectKind.POD, "uid-s6-1"),
    (SubjectKind.POD_NAME, "default/s4-1"),
    (SubjectKind.NODE, "node-1"),
    (SubjectKind.NODEPOOL, "default"),
]
EXPLAIN = [
    encode_explain_question(
        ExplainQuestion(snapshot=CLUSTER, options=OPTIONS, subject_kind=kind, subject=subject)
    )
    for kind, subject in SUBJECTS
]
ADDED = AddNodes(nodepool="default", instance_type="m-4", zone="zone-a", capacity_type="spot")
EDITS = (
    PutNodePool(nodepool=CLUSTER.nodepools["default"]),
    PutOverlay(overlay=CLUSTER.overlays["cheaper"]),
    AddPods(shape=CLUSTER.shapes[2], count=1),
    EditOfferings(zone="zone-a", available=None, price_delta_ppm=5),
    ADDED,
    CordonNodes(names=("node-1",)),
    RemoveNodes(names=("node-1",)),
)
SIMULATE = encode_simulate_question(
    SimulateQuestion(
        snapshot=CLUSTER, options=OPTIONS, scenarios=(Scenario(name="s", edits=EDITS),)
    )
)

thorough = settings(max_examples=60, suppress_health_check=list(HealthCheck))
seeds = st.integers(0, 2**32 - 1)


def answer(request: Message) -> None:
    """Answer as the service does, over the wire in both directions."""
    match request:
        case pb.SolveRequest():
            asked = decode_solve_question(request)
            solution = solve(_inline(asked.snapshot), asked.options)
            decode_solution(
                pb.SolveResponse.FromString(encode_solution(solution).SerializeToString())
            )
        case pb.ExplainRequest():
            why = decode_explain_question(request)
            found = explain(_inline(why.snapshot), why.options, why.subject_kind, why.subject)
            encoded = encode_explanation(found).SerializeToString()
            decode_explanation(pb.ExplainResponse.FromString(encoded))
        case pb.SimulateRequest():
            what_if = decode_simulate_question(request)
            start = base(_inline(what_if.snapshot), what_if.options)
            for position, one in enumerate(what_if.scenarios):
                told = encode_scenario_answer(simulate(start, one, position)).SerializeToString()
                decode_scenario_answer(pb.SimulateResponse.FromString(told))


def _inline(source: object) -> ClusterSnapshot:
    if not isinstance(source, ClusterSnapshot):
        raise NotFound("nobody pushes snapshots here")
    return source


def path_of_refusal(request: Message) -> str:
    """Return the field that a refusal names; `-` for an answer, and where there is no subject."""
    try:
        answer(request)
    except NotFound:
        return "-"
    except InvalidRequest as error:
        return error.field
    return "-"


def test_the_honest_questions_are_answered() -> None:
    for request in (SOLVE, *EXPLAIN, SIMULATE):
        answer(request)


@given(seeds)
@thorough
def test_a_question_to_solve_with_a_field_gone_wrong_is_answered_or_refused(seed: int) -> None:
    assert path_of_refusal(pb.SolveRequest.FromString(mutant(SOLVE, seed)))


@given(st.sampled_from(EXPLAIN), seeds)
@thorough
def test_a_question_to_explain_with_a_field_gone_wrong_is_answered_or_refused(
    question: Message, seed: int
) -> None:
    assert path_of_refusal(pb.ExplainRequest.FromString(mutant(question, seed)))


@given(seeds)
@thorough
def test_a_what_if_with_a_field_gone_wrong_is_answered_or_refused(seed: int) -> None:
    assert path_of_refusal(pb.SimulateRequest.FromString(mutant(SIMULATE, seed)))


def test_a_cost_beyond_the_largest_number_is_the_largest_number() -> None:
    dear = a_type(price=2**63 - 1)
    shape = a_shape(anti_affinity=(a_term(),))
    snapshot = a_snapshot(catalogues=[a_catalogue(dear)], shapes=[shape], pods=pods(12))

    message = encode_solution(solve(snapshot, OPTIONS))

    assert message.cost.new_nanos_per_hour == 2**63 - 1


def test_a_buffer_that_states_more_pods_than_there_are_costs_no_time() -> None:
    room = replace(CLUSTER.buffers["default/room"], replicas=2**31 - 1)

    solution = solve(replace(CLUSTER, buffers={room.key: room}), OPTIONS)

    (verdict,) = solution.plan.buffers
    assert verdict.fit_existing + verdict.need_new + verdict.unplaced == 2
