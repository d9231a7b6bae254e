"""The next step of a claim, phase by phase, on hand-made objects."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from libs.domain.duration import parse_nillable
from libs.domain.nodeclaim import ClaimCommand
from libs.domain.nodepool import NodePool
from libs.kube.convert.nodepool import nodepool
from libs.kube.objects.decoding import from_document
from libs.kube.objects.karpenter import NodeClaim, NodeClaimSpec
from libs.kube.objects.node import Node
from services.lifecycle.core import initialization
from services.lifecycle.core.claim_step import next_step
from services.lifecycle.core.step import Ask, Delete, Patch, Step
from services.lifecycle.core.view import ClaimView
from tests.unit.services.lifecycle.core.objects import (
    NOW,
    a_claim,
    a_condition,
    a_node,
    a_pool,
    at,
)

UP = ("Launched", "Registered", "Initialized")
MINUTE = timedelta(minutes=1)
UNREGISTERED = {"key": "karpenter.sh/unregistered", "effect": "NoExecute"}
DISRUPTED = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
REGISTERED: dict[str, Any] = {"labels": {"karpenter.sh/registered": "true"}}
INITIALIZED: dict[str, Any] = {
    "labels": {"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}
}
LAUNCHED = {"providerID": "fake://1", "nodeName": "n1"}


def _view(claim: NodeClaim, *nodes: Node, **override: Any) -> ClaimView:
    return replace(ClaimView(claim=claim, nodes=nodes, now=NOW), **override)


def _launched(*kinds: str, ago: timedelta = MINUTE, **metadata: Any) -> NodeClaim:
    conditions = [a_condition(kind, ago=ago) for kind in kinds]
    return a_claim(status={**LAUNCHED, "conditions": conditions}, **metadata)


def _asking(claim: NodeClaim, **spec: Any) -> NodeClaim:
    """Return the claim with another spec."""
    return NodeClaim(
        metadata=claim.metadata, spec=from_document(spec, NodeClaimSpec), status=claim.status
    )


def _patch(step: Step) -> Patch:
    (write,) = step.writes
    assert isinstance(write, Patch)
    return write


def _condition(step: Step, kind: str) -> dict[str, Any]:
    conditions = _patch(step).body["status"]["conditions"]
    return next((one for one in conditions if one["type"] == kind), {})


def _pool(consolidate_after: str = "0s", **override: Any) -> NodePool:
    found = nodepool(a_pool())
    span = parse_nillable(consolidate_after)
    return replace(found, disruption=replace(found.disruption, consolidate_after=span), **override)


def test_the_finalizer_comes_first() -> None:
    step = next_step(_view(a_claim(finalizers=["other"])))

    assert _patch(step).body == {"metadata": {"finalizers": ["other", "karpenter.sh/termination"]}}


def test_a_claim_without_an_instance_asks_for_one() -> None:
    assert next_step(_view(a_claim(creationTimestamp=at()))).ask is Ask.LAUNCH


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        pytest.param(
            a_claim(status={"conditions": [a_condition("Launched", "Unknown", ago=5 * MINUTE)]}),
            "launch_timeout",
            id="no instance for five minutes",
        ),
        pytest.param(
            a_claim(
                status={
                    "conditions": [
                        a_condition("Launched"),
                        a_condition("Registered", "Unknown", ago=15 * MINUTE),
                    ]
                }
            ),
            "registration_timeout",
            id="no node for fifteen",
        ),
    ],
)
def test_a_claim_that_does_not_come_up_in_time_goes(claim: NodeClaim, reason: str) -> None:
    step = next_step(_view(claim))

    assert [type(write) for write in step.writes] == [Delete]
    assert step.counts[0].labels[0] == reason


def test_a_node_takes_over_what_the_claim_says() -> None:
    claim = a_claim(status={**LAUNCHED, "conditions": [a_condition("Launched")]})
    node = a_node(
        taints=[UNREGISTERED, {"key": "own", "effect": "NoSchedule", "timeAdded": at()}],
        labels={"own": "label"},
    )

    patch = _patch(next_step(_view(claim, node)))

    assert patch.body["spec"]["taints"] == [
        {"key": "own", "effect": "NoSchedule", "timeAdded": at()}
    ]
    assert patch.body["metadata"]["labels"] == {
        "karpenter.sh/nodepool": "default",
        "karpenter.sh/registered": "true",
    }
    assert patch.body["metadata"]["finalizers"] == ["karpenter.sh/termination"]


def test_a_node_without_the_unregistered_taint_is_registered_and_told_about() -> None:
    claim = a_claim(status={**LAUNCHED, "conditions": [a_condition("Launched")]})

    step = next_step(_view(claim, a_node()))

    assert [event.reason for event in step.events] == ["UnregisteredTaintMissing"]
    assert step.writes


def test_the_claim_says_registered_only_after_its_node_is() -> None:
    claim = a_claim(status={**LAUNCHED, "conditions": [a_condition("Launched")]})

    step = next_step(_view(claim, a_node(ready=False, **REGISTERED)))

    assert _condition(step, "Registered")["status"] == "True"
    assert _condition(step, "Initialized")["reason"] == "NodeNotReady"


def test_two_nodes_with_one_provider_id_are_nobodys() -> None:
    claim = a_claim(status={**LAUNCHED, "conditions": [a_condition("Launched")]})

    step = next_step(_view(claim, a_node("n1"), a_node("n2")))

    assert _condition(step, "Registered")["reason"] == "MultipleNodesFound"


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        pytest.param(a_node(ready=False, **REGISTERED), "NodeNotReady", id="not ready"),
        pytest.param(
            a_node(taints=[{"key": "boot", "effect": "NoSchedule"}], **REGISTERED),
            "StartupTaintsExist",
            id="start-up taint",
        ),
        pytest.param(
            a_node(
                taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}],
                **REGISTERED,
            ),
            "KnownEphemeralTaintsExist",
            id="taint that goes by itself",
        ),
        pytest.param(a_node(**REGISTERED), "ResourceNotRegistered", id="no GPU yet"),
    ],
)
def test_the_first_thing_missing_keeps_a_node_from_being_initialized(
    node: Node, reason: str
) -> None:
    claim = _launched("Launched", "Registered")
    asking = _asking(
        claim,
        resources={"requests": {"nvidia.com/gpu": "1"}},
        startupTaints=[{"key": "boot", "effect": "NoSchedule"}],
    )

    missing = initialization.shortfall(_view(asking, node))

    assert missing is not None
    assert missing.reason == reason


def test_a_node_is_marked_initialized_before_its_claim_is() -> None:
    step = next_step(_view(_launched("Launched", "Registered"), a_node(**REGISTERED)))

    assert _patch(step).body == {"metadata": {"labels": {"karpenter.sh/initialized": "true"}}}


def test_an_expired_claim_goes() -> None:
    claim = _launched(*UP)
    old = _asking(claim, expireAfter="30m")

    step = next_step(_view(old, a_node(**INITIALIZED)))

    assert step.counts[0].labels[0] == "expired"
    assert isinstance(step.writes[0], Delete)


@pytest.mark.parametrize(
    ("pool", "consolidatable", "again"),
    [
        pytest.param(_pool("0s"), True, None, id="at once"),
        pytest.param(_pool("30s"), True, None, id="quiet long enough"),
        pytest.param(_pool("5m"), False, 4 * MINUTE, id="not yet: looked at again then"),
        pytest.param(_pool("Never"), False, None, id="never"),
        pytest.param(_pool("0s", replicas=1), False, None, id="static pool"),
        pytest.param(None, False, None, id="no pool"),
    ],
)
def test_a_quiet_node_is_consolidatable(
    pool: NodePool | None, consolidatable: bool, again: timedelta | None
) -> None:
    claim = _launched(*UP, ago=MINUTE)

    step = next_step(_view(claim, a_node(**INITIALIZED), pool=pool))

    assert bool(_condition(step, "Consolidatable")) is consolidatable
    assert step.check_after == again


def test_a_pod_event_is_written_once_in_ten_seconds_and_begins_the_quiet_anew() -> None:
    claim = _launched(*UP, "Consolidatable")
    node = a_node(**INITIALIZED)

    step = next_step(_view(claim, node, pool=_pool("30s"), pod_event_at=NOW))

    assert _patch(step).body["status"]["lastPodEventTime"] == at()
    assert _condition(step, "Consolidatable") == {}
    assert step.check_after == timedelta(seconds=30)


def test_a_claim_whose_pool_changed_has_drifted() -> None:
    stamped = {"karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3"}
    claim = _launched(*UP, annotations=stamped)

    step = next_step(_view(claim, a_node(**INITIALIZED), pool=_pool()))

    assert _condition(step, "Drifted")["reason"] == "NodePoolDrifted"


@pytest.mark.parametrize(
    ("command", "taken_off"),
    [
        pytest.param(None, True, id="no command stands"),
        pytest.param(ClaimCommand(id="c"), False, id="under a command"),
    ],
)
def test_the_taint_of_a_command_that_is_no_more_comes_off(
    command: ClaimCommand | None, taken_off: bool
) -> None:
    node = a_node(taints=[DISRUPTED, {"key": "own", "effect": "NoExecute"}], **INITIALIZED)

    step = next_step(_view(_launched(*UP), node, command=command))

    patch = _patch(step)
    assert ("spec" in patch.body) is taken_off
    if taken_off:
        assert patch.body["spec"]["taints"] == [{"key": "own", "effect": "NoExecute"}]


def test_the_reason_of_a_command_that_is_no_more_comes_off() -> None:
    claim = _launched(*UP, "DisruptionReason")

    step = next_step(_view(claim, a_node(**INITIALIZED)))

    assert _condition(step, "DisruptionReason") == {}


def test_a_claim_at_rest_writes_nothing() -> None:
    view = _view(_launched(*UP), a_node(**INITIALIZED), pool=_pool())
    first = _patch(next_step(view))
    status = {**LAUNCHED, **first.body["status"]}

    again = next_step(replace(view, claim=a_claim(status=status)))

    assert again == Step()
