"""decode(encode(x)) == x for questions, answers, executions and providers."""

import pytest
from hypothesis import strategies as st

from libs.domain import execution, provider, question, scenario
from libs.wire import disruption, launch, node_class
from libs.wire import execution as wire_execution
from libs.wire import explanation as wire_explanation
from libs.wire import provider as wire_provider
from libs.wire import question as wire_question
from libs.wire import scenario as wire_scenario
from libs.wire import solution as wire_solution
from tests.support.strategies.decision import (
    candidates,
    commands,
    decisions,
    plans,
)
from tests.support.strategies.explanation import explanations
from tests.support.strategies.provider import (
    batches,
    capabilities,
    events,
    failures,
    instances,
    listings,
    node_classes,
    resolved,
)
from tests.support.strategies.snapshot import snapshot_ids
from tests.support.strategies.solver import diffs, edits, options, solutions, sources
from tests.support.strategies.values import (
    amounts,
    by_key,
    counts,
    instants,
    names,
    some,
    sorted_names,
    texts,
    tuples,
)
from tests.unit.libs.wire.round_trip import Case, check_round_trip

CASES: dict[str, Case] = {
    "solution": (solutions, wire_solution.encode_solution, wire_solution.decode_solution),
    "scenario": (
        st.builds(scenario.Scenario, name=names, edits=tuples(edits, 3)),
        wire_scenario.encode_scenario,
        wire_scenario.decode_scenario,
    ),
    "scenario answer": (
        st.builds(
            scenario.ScenarioAnswer,
            scenario=texts,
            solution=solutions,
            position=counts,
            diff=diffs,
        ),
        wire_scenario.encode_scenario_answer,
        wire_scenario.decode_scenario_answer,
    ),
    "solve": (
        st.builds(question.SolveQuestion, snapshot=sources, options=options),
        wire_question.encode_solve_question,
        wire_question.decode_solve_question,
    ),
    "simulate": (
        st.builds(question.SimulateQuestion, snapshot=sources, options=options),
        wire_question.encode_simulate_question,
        wire_question.decode_simulate_question,
    ),
    "consolidate": (
        st.builds(
            question.ConsolidateQuestion,
            snapshot=sources,
            options=options,
            candidates=tuples(candidates, least=1),
            node_budgets=by_key(st.tuples(names, counts), lambda pair: pair[0]),
            empty_node_budgets=by_key(st.tuples(names, counts), lambda pair: pair[0]),
            move_price_nanos_per_hour=amounts,
            max_moves=some(counts),
        ),
        wire_question.encode_consolidate_question,
        wire_question.decode_consolidate_question,
    ),
    "consolidation": (
        st.builds(
            question.Consolidation,
            snapshot=snapshot_ids,
            options=options,
            commands=tuples(commands, 1),
            existing_nanos_per_hour=amounts,
            left_alone=by_key(decisions, lambda one: one.node),
            solver_version=texts,
        ),
        wire_question.encode_consolidation,
        wire_question.decode_consolidation,
    ),
    "explain": (
        st.builds(
            question.ExplainQuestion,
            snapshot=sources,
            options=options,
            subject_kind=st.sampled_from(question.SubjectKind),
            subject=names.map(lambda name: f"space/{name}"),
        ),
        wire_question.encode_explain_question,
        wire_question.decode_explain_question,
    ),
    "explanation": (
        explanations,
        wire_explanation.encode_explanation,
        wire_explanation.decode_explanation,
    ),
    "apply request": (
        st.builds(
            execution.ApplyRequest,
            plan_id=names,
            snapshot=snapshot_ids,
            known_nodeclaim_uids=sorted_names,
            plan=plans,
            decided_at=instants,
        ),
        wire_execution.encode_apply_request,
        wire_execution.decode_apply_request,
    ),
    "apply result": (
        st.builds(
            execution.ApplyResult,
            created=by_key(
                st.builds(
                    execution.CreatedClaim,
                    index=st.integers(0, 9),
                    name=names,
                    uid=names,
                ),
                lambda one: one.index,
            ),
            refused=by_key(
                st.builds(execution.RefusedClaim, index=st.integers(0, 9), message=texts),
                lambda one: one.index,
            ),
        ),
        wire_execution.encode_apply_result,
        wire_execution.decode_apply_result,
    ),
    "command request": (
        st.builds(
            execution.CommandRequest,
            snapshot=snapshot_ids,
            command=commands,
            known_nodeclaim_uids=sorted_names,
        ),
        wire_execution.encode_command_request,
        wire_execution.decode_command_request,
    ),
    "replacements": (
        tuples(names),
        wire_execution.encode_replacements,
        wire_execution.decode_replacements,
    ),
    "command progress": (
        st.builds(
            execution.CommandProgress,
            command_id=names,
            state=st.sampled_from(execution.CommandState),
            message=texts,
            changed_at=instants,
        ),
        wire_execution.encode_command_progress,
        wire_execution.decode_command_progress,
    ),
    "decision report": (
        st.builds(
            execution.DecisionReport,
            snapshot=snapshot_ids,
            decisions=by_key(decisions, lambda one: one.node),
        ),
        wire_execution.encode_decision_report,
        wire_execution.decode_decision_report,
    ),
    "eviction": (
        st.builds(
            execution.Eviction,
            namespace=names,
            name=names,
            uid=names,
            reason=texts,
        ),
        wire_execution.encode_eviction,
        wire_execution.decode_eviction,
    ),
    "decision list": (
        st.builds(
            execution.DecisionList,
            snapshot=snapshot_ids,
            decisions=by_key(decisions, lambda one: one.node),
            commands=tuples(
                st.builds(
                    execution.SentCommand,
                    command=commands,
                    sent_at=instants,
                    refusal=texts,
                ),
                1,
            ),
        ),
        disruption.encode_decision_list,
        disruption.decode_decision_list,
    ),
    "node class": (node_classes, node_class.encode_node_class, node_class.decode_node_class),
    "capabilities": (
        capabilities,
        wire_provider.encode_capabilities,
        wire_provider.decode_capabilities,
    ),
    "resolved node class": (
        resolved,
        wire_provider.encode_resolved_node_class,
        wire_provider.decode_resolved_node_class,
    ),
    "instance type listing": (
        listings,
        wire_provider.encode_instance_type_listing,
        wire_provider.decode_instance_type_listing,
    ),
    "provider event": (
        events,
        wire_provider.encode_provider_event,
        wire_provider.decode_provider_event,
    ),
    "launch batch": (batches, launch.encode_launch_batch, launch.decode_launch_batch),
    "launch outcomes": (
        by_key(
            st.builds(provider.LaunchOutcome, nodeclaim=names, result=instances | failures),
            lambda one: one.nodeclaim,
        ),
        launch.encode_launch_outcomes,
        launch.decode_launch_outcomes,
    ),
    "instances": (
        by_key(instances, lambda one: one.provider_id),
        launch.encode_instances,
        launch.decode_instances,
    ),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_what_was_encoded_and_sent_is_decoded_to_an_equal_value(case: str) -> None:
    check_round_trip(CASES[case])
