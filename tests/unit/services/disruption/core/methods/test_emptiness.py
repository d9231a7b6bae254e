"""When a node counts as empty, and which of several go first."""

from collections.abc import Sequence
from typing import Any

import pytest

from libs.domain.blocking import BlockerKind
from libs.domain.nodeclaim import ConditionType
from libs.domain.nodepool import Budget, ConsolidationPolicy
from libs.domain.pod import PodPhase
from libs.domain.resources import NOTHING
from libs.domain.workload import CapacityBuffer
from services.disruption.core.budgets import allowances
from services.disruption.core.candidates import Candidate, assess
from services.disruption.core.methods.emptiness import refusal, select
from tests.support.builders import a_catalogue, a_type, an_offering, an_owner
from tests.unit.services.disruption.clusters import (
    Machine,
    a_cluster,
    a_machine,
    a_pool,
    a_running_pod,
    asking,
)

DAEMON = an_owner("DaemonSet", "agent")
BUFFER = CapacityBuffer(namespace="default", name="room", uid="uid-room", shape=1, replicas=2)


def candidates(*machines: Machine, **override: Any) -> list[Candidate]:
    found = assess(asking(a_cluster(*machines, **override)))
    return [one.candidate for one in found if one.candidate is not None]


def kind_of_refusal(*pods: Any, pool: Any = None, **override: Any) -> str | None:
    (candidate,) = candidates(
        a_machine(**override), pods=pods, pools=[pool or a_pool()], buffers=[BUFFER]
    )
    found = refusal(candidate)
    return None if found is None else found.kind


@pytest.mark.parametrize(
    ("pod", "kind"),
    [
        pytest.param({}, BlockerKind.NOT_EMPTY, id="a running pod"),
        pytest.param({"phase": PodPhase.PENDING}, BlockerKind.NOT_EMPTY, id="a starting pod"),
        pytest.param({"owner": DAEMON}, None, id="a daemon pod"),
        pytest.param({"phase": PodPhase.SUCCEEDED}, None, id="a pod that has ended"),
        pytest.param({"deleting_ms": 1}, None, id="a pod that is going"),
        pytest.param(
            {"deleting_ms": 1, "owner": an_owner("StatefulSet", "db")},
            BlockerKind.NOT_EMPTY,
            id="a pod that comes back under its name",
        ),
        pytest.param(
            {"deletion_cost": -(2**27)}, BlockerKind.NOT_EMPTY, id="a pod that costs nothing"
        ),
    ],
)
def test_a_node_is_empty_if_no_pod_needs_another_place(
    pod: dict[str, Any], kind: BlockerKind | None
) -> None:
    assert kind_of_refusal(a_running_pod(**pod)) == kind


@pytest.mark.parametrize("policy", list(ConsolidationPolicy))
def test_every_policy_deletes_empty_nodes(policy: ConsolidationPolicy) -> None:
    assert kind_of_refusal(pool=a_pool(consolidation_policy=policy)) is None


def test_consolidate_after_never_keeps_empty_nodes() -> None:
    pool = a_pool(consolidate_after=None)

    assert kind_of_refusal(pool=pool) == BlockerKind.CONSOLIDATION_DISABLED


def test_a_static_pool_keeps_its_nodes() -> None:
    assert kind_of_refusal(pool=a_pool(replicas=3)) == BlockerKind.STATIC


def test_a_claim_that_is_not_consolidatable_yet_keeps_its_node() -> None:
    kind = kind_of_refusal(true=(ConditionType.INITIALIZED,))

    assert kind == BlockerKind.NOT_CONSOLIDATABLE


def test_room_for_a_capacity_buffer_is_kept() -> None:
    virtual = a_running_pod("buffer-1", uid="uid-room-1", phase=PodPhase.PENDING)

    assert kind_of_refusal(virtual) == BlockerKind.BUFFER_PODS


def chosen(found: Sequence[Candidate], pools: Any) -> tuple[list[str], list[str]]:
    allowed = allowances(asking(a_cluster(*MACHINES, pools=pools)))
    selection = select(found, allowed)
    names = [one.node.name for move in selection.moves for one in move.candidates]
    return names, sorted(selection.refused)


TYPES = a_catalogue(
    a_type("cheap", offerings=(an_offering(price_nanos_per_hour=1),)),
    a_type("dear", offerings=(an_offering(price_nanos_per_hour=5),)),
)
_KEY = "node.kubernetes.io/instance-type"
MACHINES = (
    a_machine("a", labels={_KEY: "cheap"}),
    a_machine("b", labels={_KEY: "dear"}),
    a_machine("c", labels={_KEY: "dear"}),
    a_machine("d", labels={_KEY: "nobody knows"}),
)


def test_one_command_takes_all_empty_nodes_dearest_first() -> None:
    pools = [a_pool()]

    names, refused = chosen(candidates(*MACHINES, pools=pools, catalogues=[TYPES]), pools)

    assert (names, refused) == (["node-b", "node-c", "node-a", "node-d"], [])


def test_what_the_budget_does_not_allow_is_refused_by_name() -> None:
    pools = [a_pool(budgets=(Budget(percent=26),))]

    names, refused = chosen(candidates(*MACHINES, pools=pools, catalogues=[TYPES]), pools)

    assert (names, refused) == (["node-b", "node-c"], ["node-a", "node-d"])


def test_no_budget_no_command() -> None:
    pools = [a_pool(budgets=(Budget(nodes=0),))]
    found = candidates(*MACHINES, pools=pools)

    assert select(found, allowances(asking(a_cluster(*MACHINES, pools=pools)))).moves == ()


def test_every_pool_has_its_own_budget() -> None:
    machines = (a_machine("a"), a_machine("b", claim={"nodepool": "other"}))
    pools = [a_pool(budgets=(Budget(nodes=0),)), a_pool("other", limits=NOTHING)]
    question = asking(a_cluster(*machines, pools=pools))
    found = [one.candidate for one in assess(question) if one.candidate is not None]

    selection = select(found, allowances(question))

    assert [one.node.name for one in selection.moves[0].candidates] == ["node-b"]
    assert selection.refused["node-a"].object == "default"
