"""Verdicts: commands with their premise, one decision per node, and what survives a second look."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from libs.domain.blocking import BlockerKind
from libs.domain.nodeclaim import ClaimCommand
from libs.domain.nodepool import Budget, DisruptionReason
from libs.domain.plan import Command
from services.disruption.core.decide import Proposal, Verdict, decide, recheck
from tests.support.builders import NOW, a_catalogue, a_type
from tests.unit.services.disruption.clusters import (
    Machine,
    a_cluster,
    a_machine,
    a_pool,
    a_running_pod,
    asking,
)


def commands(found: Verdict | Proposal) -> list[Command]:
    proposals = found.proposals if isinstance(found, Verdict) else (found,)
    return [command for proposal in proposals for command in proposal.commands]


def nodes(command: Command) -> list[str]:
    return sorted(one.node for one in command.candidates)


def test_all_empty_nodes_go_in_one_command_that_names_its_premise_and_saving() -> None:
    snapshot = a_cluster(
        a_machine("a"),
        a_machine("b"),
        a_machine("c"),
        pods=[a_running_pod(node="node-c")],
        catalogues=[a_catalogue(a_type(price=3))],
    )

    (command,) = commands(decide(asking(snapshot)))

    assert command.id == "pass-1-emptiness-0"
    assert command.reason is DisruptionReason.EMPTY
    assert nodes(command) == ["node-a", "node-b"]
    assert command.candidates[0].nodeclaim_uid == "uid-claim-a"
    assert command.saving_nanos_per_hour == 6
    assert command.replacements == ()


def test_every_node_has_one_decision_in_order() -> None:
    snapshot = a_cluster(
        a_machine("a"),
        a_machine("b"),
        a_machine("c", claim={"command": ClaimCommand(id="c-1")}),
        a_machine("d", initialized=False),
        pods=[a_running_pod(node="node-b")],
    )

    found = decide(asking(snapshot)).decisions

    assert [(one.node, one.nodeclaim, one.candidate, one.command_id) for one in found] == [
        ("node-a", "claim-a", True, ""),
        ("node-b", "claim-b", False, ""),
        ("node-c", "claim-c", False, "c-1"),
        ("node-d", "claim-d", False, ""),
    ]
    assert [[blocker.kind for blocker in one.blockers] for one in found] == [
        [],
        [BlockerKind.NOT_EMPTY],
        [BlockerKind.UNDER_COMMAND],
        [BlockerKind.NOT_INITIALIZED],
    ]


def test_a_node_that_the_budget_keeps_says_so() -> None:
    pools = [a_pool(budgets=(Budget(nodes=1),))]

    found = decide(asking(a_cluster(a_machine("a"), a_machine("b"), pools=pools))).decisions

    assert [one.candidate for one in found] == [True, False]
    assert found[1].blockers[0].message == (
        'nodepool "default" allows 1 disruptions for Empty now, 0 are under way'
    )


def test_decisions_do_not_change_with_time_alone() -> None:
    snapshot = a_cluster(
        a_machine("a", nominated_until=NOW + timedelta(minutes=9)),
        a_machine("b"),
        pods=[a_running_pod(node="node-b", do_not_disrupt_ms=10**13)],
    )

    later = decide(asking(snapshot, NOW + timedelta(minutes=5))).decisions

    assert later == decide(asking(snapshot)).decisions


def test_only_survivors_are_left_of_a_proposal_and_nothing_is_added() -> None:
    before = a_cluster(a_machine("a"), a_machine("b"), a_machine("c"))
    (proposal,) = decide(asking(before)).proposals
    after = a_cluster(
        a_machine("a", nominated_until=NOW + timedelta(seconds=9)),
        a_machine("b"),
        a_machine("c"),
        a_machine("d"),
        pods=[a_running_pod(node="node-c")],
    )

    (command,) = commands(recheck(proposal, replace(asking(after), id="pass-2")))

    assert (command.id, nodes(command)) == ("pass-2-emptiness-0", ["node-b"])


def test_a_second_look_keeps_to_the_proposal_though_others_would_come_first() -> None:
    pools = [a_pool(budgets=(Budget(nodes=1),))]
    (proposal,) = decide(asking(a_cluster(a_machine("z"), pools=pools))).proposals

    left = recheck(proposal, asking(a_cluster(a_machine("a"), a_machine("z"), pools=pools)))

    assert nodes(commands(left)[0]) == ["node-z"]


def test_a_claim_made_anew_under_its_name_does_not_survive() -> None:
    (proposal,) = decide(asking(a_cluster(a_machine()))).proposals

    left = recheck(proposal, asking(a_cluster(a_machine(claim={"uid": "another"}))))

    assert commands(left) == []


def test_a_budget_that_shrank_meanwhile_holds() -> None:
    machines = (a_machine("a"), a_machine("b"))
    (proposal,) = decide(asking(a_cluster(*machines))).proposals

    left = recheck(
        proposal, asking(a_cluster(*machines, pools=[a_pool(budgets=(Budget(nodes=1),))]))
    )

    assert nodes(commands(left)[0]) == ["node-a"]


@st.composite
def machines(draw: st.DrawFn) -> list[Machine]:
    names = draw(st.lists(st.sampled_from("abcdefgh"), unique=True))
    return [
        a_machine(
            name,
            ready=draw(st.booleans()),
            leaving=draw(st.booleans()),
            initialized=draw(st.booleans()),
        )
        for name in names
    ]


@settings(max_examples=60)
@given(machines(), st.integers(0, 9), st.lists(st.sampled_from("abcdefgh")))
def test_budgets_are_never_exceeded_and_busy_nodes_never_taken(
    cluster: list[Machine], allowed: int, busy: list[str]
) -> None:
    there = {one.node.name for one in cluster}
    pods = [a_running_pod(name, node=f"node-{name}") for name in busy if f"node-{name}" in there]
    pools = [a_pool(budgets=(Budget(nodes=allowed),))]
    snapshot = a_cluster(*cluster, pods=pods, pools=pools)

    verdict = decide(asking(snapshot))

    taken = [node for command in commands(verdict) for node in nodes(command)]
    going = sum(one.node.leaving or not one.node.ready for one in cluster)
    assert len(taken) <= max(0, allowed - going)
    assert not {f"node-{name}" for name in busy} & set(taken)
    assert [one.node for one in verdict.decisions] == sorted(there)
    assert [one.node for one in verdict.decisions if one.candidate] == sorted(taken)
    assert all(one.candidate != bool(one.blockers) for one in verdict.decisions)
