"""Each disqualification alone, then together; each beside the nearest thing that passes."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from libs.domain.blocking import BlockerKind
from libs.domain.nodeclaim import ClaimCommand
from libs.domain.pod import Owner, PodPhase
from services.disruption.core.candidates import Assessment, assess
from tests.support.builders import (
    NOW,
    a_catalogue,
    a_node,
    a_shape,
    a_toleration,
    an_owner,
    selecting,
)
from tests.unit.services.disruption.clusters import (
    a_cluster,
    a_machine,
    a_pdb,
    a_pool,
    a_running_pod,
    asking,
)

SOON, EARLIER = NOW + timedelta(seconds=1), NOW - timedelta(seconds=1)
NOW_MS = int(NOW.timestamp() * 1000)
MINUTE_MS = 60_000

DAEMON = an_owner("DaemonSet", "agent")
MIRROR = Owner(api_version="v1", kind="Node", name="node-a", uid="uid-node-a")
TOLERANT = a_shape(2, tolerations=(a_toleration(),))


def only(*machines: Any, **override: Any) -> Assessment:
    now = override.pop("now", NOW)
    in_flight = override.pop("in_flight", {})
    snapshot = a_cluster(*machines, **override)
    (found,) = assess(asking(snapshot, now, in_flight=in_flight))
    return found


def kinds(found: Assessment) -> list[str]:
    return [one.kind for one in found.blockers]


def test_a_quiet_managed_node_is_a_candidate() -> None:
    found = only(a_machine())

    assert found.candidate is not None
    assert found.candidate.premise().nodeclaim_uid == "uid-claim-a"
    assert found.blockers == ()


@pytest.mark.parametrize(
    ("override", "kind"),
    [
        pytest.param({"initialized": False}, BlockerKind.NOT_INITIALIZED, id="not initialized"),
        pytest.param({"leaving": True}, BlockerKind.LEAVING, id="leaving"),
        pytest.param({"claim": {"deleting_at": NOW}}, BlockerKind.LEAVING, id="claim deleting"),
        pytest.param({"nominated_until": SOON}, BlockerKind.NOMINATED, id="nominated"),
        pytest.param({"nominated_until": NOW}, None, id="nomination ends now"),
        pytest.param({"nominated_until": EARLIER}, None, id="nomination is over"),
        pytest.param(
            {"claim": {"nominated_until": SOON}}, BlockerKind.NOMINATED, id="claim nominated"
        ),
        pytest.param({"do_not_disrupt": True}, BlockerKind.DO_NOT_DISRUPT, id="node protected"),
        pytest.param({"claim": {"nodepool": ""}}, BlockerKind.STANDALONE, id="standalone claim"),
        pytest.param(
            {"claim": {"nodepool": "gone"}}, BlockerKind.NODEPOOL_NOT_FOUND, id="pool missing"
        ),
        pytest.param(
            {"claim": {"command": ClaimCommand(id="c-1")}},
            BlockerKind.UNDER_COMMAND,
            id="under a command",
        ),
        pytest.param({"ready": False}, None, id="a node that is not ready may go"),
    ],
)
def test_node_and_claim_disqualify(override: dict[str, Any], kind: BlockerKind | None) -> None:
    found = only(a_machine(**override))

    assert kinds(found) == ([] if kind is None else [kind])
    assert (found.candidate is None) == (kind is not None)


def test_a_node_that_nobody_manages_is_named() -> None:
    snapshot = replace(a_cluster(), nodes={"node-x": a_node("node-x")})

    (found,) = assess(asking(snapshot))

    assert kinds(found) == [BlockerKind.UNMANAGED]


def test_a_command_that_no_snapshot_shows_yet_counts() -> None:
    found = only(a_machine(), in_flight={"uid-claim-a": "c-9"})

    assert kinds(found) == [BlockerKind.UNDER_COMMAND]
    assert found.command_id == "c-9"


@pytest.mark.parametrize(
    "catalogues",
    [
        pytest.param([], id="never listed"),
        pytest.param([a_catalogue(instance_types=())], id="empty"),
    ],
)
def test_without_instance_types_nothing_is_disrupted(catalogues: Any) -> None:
    assert kinds(only(a_machine(), catalogues=catalogues)) == [BlockerKind.CATALOGUE_NOT_FOUND]


@pytest.mark.parametrize(
    ("override", "blocked"),
    [
        pytest.param({"do_not_disrupt_ms": -1}, True, id="for ever"),
        pytest.param({"do_not_disrupt_ms": 0}, False, id="no annotation"),
        pytest.param(
            {"do_not_disrupt_ms": MINUTE_MS, "started_ms": NOW_MS - MINUTE_MS + 1},
            True,
            id="a span that ends in a millisecond",
        ),
        pytest.param(
            {"do_not_disrupt_ms": MINUTE_MS, "started_ms": NOW_MS - MINUTE_MS},
            False,
            id="a span that has ended",
        ),
        pytest.param(
            {"do_not_disrupt_ms": MINUTE_MS, "started_ms": 0}, True, id="a span, not started"
        ),
        pytest.param({"do_not_disrupt_ms": -1, "phase": PodPhase.SUCCEEDED}, False, id="has ended"),
        pytest.param({"do_not_disrupt_ms": -1, "deleting_ms": 1}, False, id="is going"),
        pytest.param({"do_not_disrupt_ms": -1, "owner": DAEMON}, True, id="daemon pod"),
        pytest.param({"do_not_disrupt_ms": -1, "owner": MIRROR}, True, id="mirror pod"),
    ],
)
def test_a_protected_pod_keeps_its_node(override: dict[str, Any], blocked: bool) -> None:
    found = only(a_machine(), pods=[a_running_pod(**override)])

    assert kinds(found) == ([BlockerKind.DO_NOT_DISRUPT] if blocked else [])
    assert [one.object for one in found.blockers] == (["default/web"] if blocked else [])


def test_the_end_of_a_protection_is_told_as_an_instant() -> None:
    pod = a_running_pod(do_not_disrupt_ms=MINUTE_MS, started_ms=NOW_MS)

    (blocker,) = only(a_machine(), pods=[pod]).blockers

    assert blocker.message == 'pod "default/web" may not be disrupted until 2026-07-01T12:01:00Z'


@pytest.mark.parametrize(
    ("pod", "budget", "blocked"),
    [
        pytest.param({}, {}, True, id="exhausted"),
        pytest.param({}, {"disruptions_allowed": 1}, False, id="allows one"),
        pytest.param({}, {"selector": selecting(app="db")}, False, id="selects others"),
        pytest.param({}, {"selector": selecting()}, True, id="selects all"),
        pytest.param({}, {"selector": None}, False, id="selects nothing"),
        pytest.param({}, {"namespace": "other"}, False, id="another namespace"),
        pytest.param({"ready": False}, {}, True, id="unhealthy pods wait as well"),
        pytest.param(
            {"ready": False}, {"evicts_unhealthy_always": True}, False, id="unhealthy pods pass"
        ),
        pytest.param({}, {"evicts_unhealthy_always": True}, True, id="healthy pods do not"),
        pytest.param({"phase": PodPhase.FAILED}, {}, False, id="a pod that has ended"),
        pytest.param({"deleting_ms": 1}, {}, False, id="a pod that is going"),
        pytest.param({"owner": MIRROR}, {}, False, id="a mirror pod"),
        pytest.param({"owner": DAEMON}, {}, True, id="a daemon pod"),
        pytest.param({"shape": 2}, {}, False, id="a pod that bears the disruption taint"),
    ],
)
def test_an_exhausted_pod_disruption_budget_keeps_the_node(
    pod: dict[str, Any], budget: dict[str, Any], blocked: bool
) -> None:
    found = only(
        a_machine(),
        shapes=[a_shape(), TOLERANT],
        pods=[a_running_pod(**pod)],
        pod_disruption_budgets=[a_pdb(**budget)],
    )

    assert kinds(found) == ([BlockerKind.POD_DISRUPTION_BUDGET] if blocked else [])
    assert [one.object for one in found.blockers] == (["default/pdb"] if blocked else [])


def test_a_pod_under_two_budgets_keeps_its_node_though_both_allow_it() -> None:
    budgets = [a_pdb(name, disruptions_allowed=5) for name in ("one", "two")]

    found = only(a_machine(), pods=[a_running_pod()], pod_disruption_budgets=budgets)

    (blocker,) = found.blockers
    assert blocker.kind == BlockerKind.SEVERAL_POD_DISRUPTION_BUDGETS
    assert "default/one, default/two" in blocker.message


def test_a_budget_is_named_once_however_many_pods_it_keeps() -> None:
    pods = [a_running_pod(f"web-{number}") for number in range(3)]

    found = only(a_machine(), pods=pods, pod_disruption_budgets=[a_pdb(never_satisfiable=True)])

    (blocker,) = found.blockers
    assert "allows no eviction ever" in blocker.message


def test_a_protected_pod_is_no_matter_of_budgets() -> None:
    pods = [a_running_pod(do_not_disrupt_ms=-1)]

    found = only(a_machine(), pods=pods, pod_disruption_budgets=[a_pdb()])

    assert kinds(found) == [BlockerKind.DO_NOT_DISRUPT]


def test_everything_that_has_to_change_is_named_in_order() -> None:
    machine = a_machine(initialized=False, nominated_until=SOON, claim={"nodepool": "gone"})
    pods = [a_running_pod("a", do_not_disrupt_ms=-1), a_running_pod("b")]

    found = only(machine, pods=pods, pod_disruption_budgets=[a_pdb()], pools=[a_pool("other")])

    assert kinds(found) == [
        BlockerKind.NOT_INITIALIZED,
        BlockerKind.NOMINATED,
        BlockerKind.NODEPOOL_NOT_FOUND,
        BlockerKind.DO_NOT_DISRUPT,
        BlockerKind.POD_DISRUPTION_BUDGET,
    ]


def test_a_premise_counts_the_pods_that_would_need_another_place() -> None:
    pods = [
        a_running_pod("b"),
        a_running_pod("a"),
        a_running_pod("daemon", owner=DAEMON),
        a_running_pod("ended", phase=PodPhase.SUCCEEDED),
        a_running_pod("going", deleting_ms=1),
        a_running_pod("set", deleting_ms=1, owner=an_owner("StatefulSet", "db")),
    ]

    found = only(a_machine(), pods=pods)

    assert found.candidate is not None
    assert found.candidate.premise().pod_uids == ("uid-a", "uid-b", "uid-set")
