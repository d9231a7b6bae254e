"""Laws of every consolidation over random clusters with all kinds of constraints mixed.

A plan for a random cluster is carried out, some of its pods go away, others may now have places,
and what is left is consolidated. Then the commands are carried out one after the other on the
Kubernetes documents; before each, the checker, which shares nothing with the solver, judges what
the command plans for its pods on the cluster that all commands before it have left.

`JOINER_TEST_CONSOLIDATION_EXAMPLES=1000 pytest --hypothesis-seed=1` runs more examples.
"""

import os
from dataclasses import replace

from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from libs.checker.plan import check_plan
from libs.domain.feature_gates import FeatureGate
from libs.domain.plan import Plan
from libs.domain.question import Consolidation
from libs.domain.solution import PreferencePolicy
from services.solver.core.consolidating.consolidate import consolidate
from services.solver.core.solve import solve
from tests.support.carrying_out import waiting, with_plan, without_nodes
from tests.support.fleets import a_question
from tests.support.mixed import Loaded, MixedCluster, load
from tests.support.strategies.choices import chance, pick
from tests.support.strategies.mixed import mixed_clusters

_WANTED = os.environ.get("JOINER_TEST_CONSOLIDATION_EXAMPLES")
SETTINGS = settings(
    max_examples=int(_WANTED or 60),
    derandomize=_WANTED is None,
    # To shrink an example takes minutes, more than a run of all tests has for one.
    phases=tuple(Phase) if _WANTED else (Phase.generate,),
    database=None,
    suppress_health_check=list(HealthCheck),
)
_NOT_OF_COMMANDS = frozenset({"Lost"})
"""A command says nothing of pods that waited before."""


@st.composite
def fleets(draw: st.DrawFn) -> MixedCluster:
    """Return a cluster whose nodes were bought for more pods than it has now."""
    mixed = draw(mixed_clusters())
    # What devices the pods of a plan got would have to be made up.
    assume(FeatureGate.DYNAMIC_RESOURCES not in mixed.gates)
    bought = _planned(mixed, "n")
    gone = pick(draw, 20, 35, 50)
    kept = [
        one
        for one in bought.documents
        if one["kind"] != "Pod" or not one["spec"].get("nodeName") or not chance(draw, gone)
    ]
    # Whoever waits now may have a place: a command may count on that, the checker does not.
    return _planned(replace(bought, documents=tuple(kept)), "m")


@st.composite
def fleets_with_waiting_pods(draw: st.DrawFn) -> MixedCluster:
    """Return the same where some of the pods wait, and nobody has planned for them."""
    mixed = draw(fleets())
    running = [one for one in mixed.documents if one["kind"] == "Pod" and "nodeName" in one["spec"]]
    waking = {id(one) for one in running if chance(draw, 30)}
    return replace(
        mixed,
        documents=tuple(waiting(one) if id(one) in waking else one for one in mixed.documents),
    )


def _planned(mixed: MixedCluster, tag: str) -> MixedCluster:
    loaded = load(mixed)
    return with_plan(mixed, loaded, solve(loaded.snapshot, loaded.options).plan, tag)


def asked(loaded: Loaded) -> Consolidation:
    question = a_question(loaded.snapshot, options=loaded.options)
    return consolidate(loaded.snapshot, question)


@SETTINGS
@given(fleets())
def test_the_checker_accepts_every_command_once_those_before_it_are_done(
    mixed: MixedCluster,
) -> None:
    loaded = load(mixed)

    for number, command in enumerate(asked(loaded).commands):
        mixed = without_nodes(mixed, loaded, command)
        loaded = load(mixed)
        plan = Plan(nodeclaims=command.replacements, nominations=command.nominations)
        wrong = check_plan(
            loaded.cluster,
            loaded.snapshot,
            plan,
            daemon_sets=loaded.daemon_sets,
            gates=loaded.options.feature_gates,
        )

        assert [one for one in wrong if one.rule not in _NOT_OF_COMMANDS] == []
        mixed = with_plan(mixed, loaded, plan, f"r{number}")
        loaded = load(mixed)


@SETTINGS
@given(fleets())
def test_every_pod_that_moves_has_a_place_and_every_command_saves(mixed: MixedCluster) -> None:
    found = asked(load(mixed))

    gone: set[str] = set()
    for command in found.commands:
        placed = {uid for one in command.nominations for uid in one.pod_uids}
        placed.update(uid for one in command.replacements for uid in one.pod_uids)
        assert placed.issuperset(uid for one in command.candidates for uid in one.pod_uids)
        assert command.saving_nanos_per_hour > 0 or not command.moves
        assert len(command.replacements) <= 1
        gone.update(one.node for one in command.candidates)
    assert gone.isdisjoint(one.target for each in found.commands for one in each.nominations)
    assert gone.isdisjoint(one.node for one in found.left_alone)


@SETTINGS
@given(fleets_with_waiting_pods())
def test_the_next_plan_buys_no_more_once_commands_are_done(mixed: MixedCluster) -> None:
    # A wish that nobody has to keep may lead to a new node once pods have moved.
    loaded = _without_wishes(mixed)
    before = _next(loaded)

    for number, command in enumerate(asked(loaded).commands):
        waits = {row.uid for row in loaded.snapshot.pods.rows() if not row.node}
        mixed = without_nodes(mixed, loaded, command)
        moved = _without_wishes(mixed)
        plan = Plan(nodeclaims=command.replacements, nominations=command.nominations)
        mixed = with_plan(mixed, moved, plan, f"r{number}")
        loaded = _without_wishes(mixed)
        after = _next(loaded)

        assert {row.uid for row in loaded.snapshot.pods.rows() if not row.node} == waits
        assert after <= before


def _without_wishes(mixed: MixedCluster) -> Loaded:
    found = load(mixed)
    return replace(found, options=replace(found.options, preference_policy=PreferencePolicy.IGNORE))


def _next(loaded: Loaded) -> tuple[int, int]:
    """Return how many pods the next plan leaves out, and what it buys, in nano-dollars per hour."""
    found = solve(loaded.snapshot, loaded.options)
    return found.pods.unplaced, found.cost.new_nanos_per_hour
