from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.domain.nodeclaim import NodeClaim
from libs.domain.pod import VolumeAttachCount
from libs.kube.convert.node import node_view
from libs.kube.convert.nodeclaim import nodeclaim
from libs.kube.objects import karpenter
from libs.kube.objects.decoding import from_document
from libs.kube.objects.storage import CsiNode
from tests.unit.libs.kube.manifests import a_nodeclaim, node

REGISTERED = {"karpenter.sh/registered": "true"}
INITIALIZED = {**REGISTERED, "karpenter.sh/initialized": "true"}
STARTUP = {"key": "agent", "effect": "NoSchedule"}
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
UNREGISTERED = {"key": "karpenter.sh/unregistered", "effect": "NoExecute"}
OWN = {"key": "team", "value": "a", "effect": "NoSchedule"}


def _claim(**more: Any) -> NodeClaim:
    document = a_nodeclaim(**{"startupTaints": [STARTUP], "taints": [OWN], **more})
    return nodeclaim(from_document(document, karpenter.NodeClaim))[0]


@pytest.mark.parametrize(
    ("labels", "claim", "taints"),
    [
        pytest.param({}, _claim(), ["team=a:NoSchedule"], id="unregistered: the claim's"),
        pytest.param(
            REGISTERED, _claim(), ["other:NoSchedule"], id="registered: without those that pass"
        ),
        pytest.param(
            INITIALIZED,
            _claim(),
            [
                "agent:NoSchedule",
                "karpenter.sh/unregistered:NoExecute",
                "node.kubernetes.io/not-ready:NoSchedule",
                "other:NoSchedule",
            ],
            id="initialized: all",
        ),
        pytest.param(
            {},
            None,
            [
                "agent:NoSchedule",
                "karpenter.sh/unregistered:NoExecute",
                "node.kubernetes.io/not-ready:NoSchedule",
                "other:NoSchedule",
            ],
            id="unmanaged: all",
        ),
    ],
)
def test_which_taints_count(
    labels: dict[str, str], claim: NodeClaim | None, taints: list[str]
) -> None:
    other = {"key": "other", "effect": "NoSchedule"}
    given = node(meta={"labels": labels}, taints=[STARTUP, NOT_READY, UNREGISTERED, other])

    assert [str(one) for one in node_view(given, claim, None).taints] == taints


def test_labels_are_the_claims_until_the_node_is_registered() -> None:
    claim = _claim(meta={"labels": {"zone": "from-claim"}})

    before = node_view(node(meta={"labels": {"zone": "from-node"}}), claim, None)
    after = node_view(node(meta={"labels": {"zone": "from-node", **REGISTERED}}), claim, None)

    assert dict(before.labels) == {"kubernetes.io/hostname": "node-a", "zone": "from-claim"}
    assert dict(after.labels)["zone"] == "from-node"


def test_deprecated_labels_have_their_current_name() -> None:
    found = node_view(node(meta={"labels": {"beta.kubernetes.io/os": "linux"}}), None, None)

    assert dict(found.labels)["kubernetes.io/os"] == "linux"


@pytest.mark.parametrize(
    ("labels", "gpus"),
    [
        pytest.param(REGISTERED, 8, id="promised until initialized"),
        pytest.param(INITIALIZED, 0, id="reported afterwards"),
    ],
)
def test_what_the_node_does_not_report_yet_is_the_claims_promise(
    labels: dict[str, str], gpus: int
) -> None:
    claim = _claim(status={"allocatable": {"nvidia.com/gpu": "8", "cpu": "9"}})
    reported = {"nvidia.com/gpu": "0", "cpu": "4"}

    found = node_view(node(meta={"labels": labels}, status={"allocatable": reported}), claim, None)

    assert (found.allocatable.get("nvidia.com/gpu"), found.allocatable.get("cpu")) == (gpus, 4000)


def test_without_allocatable_the_capacity_counts() -> None:
    assert node_view(node(status={"allocatable": {}}), None, None).allocatable.get("cpu") == 4000


def test_a_node_that_nobody_manages_is_registered_and_initialized() -> None:
    found = node_view(node(), None, None)

    assert (found.registered, found.initialized, found.nodeclaim) == (True, True, "")


@pytest.mark.parametrize(
    ("conditions", "ready"),
    [
        pytest.param([{"type": "Ready", "status": "True"}], True, id="True"),
        pytest.param([{"type": "Ready", "status": "Unknown"}], False, id="Unknown"),
        pytest.param([], True, id="a node in a file"),
    ],
)
def test_readiness(conditions: list[dict[str, str]], ready: bool) -> None:
    assert node_view(node(status={"conditions": conditions}), None, None).ready is ready


@pytest.mark.parametrize(
    ("on_node", "on_claim", "protected"),
    [("true", "", True), ("", "true", True), ("30m", "", False), ("", "", False)],
)
def test_only_the_literal_true_protects_a_node(
    on_node: str, on_claim: str, protected: bool
) -> None:
    key = "karpenter.sh/do-not-disrupt"
    claim = _claim(meta={"annotations": {key: on_claim}})

    found = node_view(node(meta={"annotations": {key: on_node}}), claim, None)

    assert found.do_not_disrupt is protected


def test_attach_limits_are_those_that_drivers_state() -> None:
    drivers = [{"name": "b", "allocatable": {"count": 3}}, {"name": "a", "allocatable": {}}]
    csi = from_document({"metadata": {"name": "node-a"}, "spec": {"drivers": drivers}}, CsiNode)

    assert node_view(node(), None, csi).volume_limits == (VolumeAttachCount(driver="b", count=3),)


@pytest.mark.parametrize(
    ("more", "field"),
    [
        pytest.param(
            {"status": {"allocatable": {"cpu": "-1"}}}, "status.allocatable.cpu", id="negative"
        ),
        pytest.param({"taints": [{"key": "a"}]}, "spec.taints[0].effect", id="no effect"),
    ],
)
def test_a_broken_node_names_its_field(more: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        node_view(node(**more), None, None)

    assert caught.value.field == field


@pytest.mark.parametrize(
    ("labels", "claim", "there"),
    [
        pytest.param({}, None, True, id="unmanaged"),
        pytest.param(INITIALIZED, _claim(), True, id="initialized"),
        pytest.param(REGISTERED, _claim(), False, id="its driver may not have started"),
    ],
)
def test_volumes_are_left_to_drivers_once_a_node_is_initialized(
    labels: dict[str, str], claim: NodeClaim | None, there: bool
) -> None:
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/gce-pd"}
    csi = from_document({"metadata": {"annotations": annotations}}, CsiNode)

    found = node_view(node(meta={"labels": labels}), claim, csi)

    assert bool(found.migrated_labels) is there


def test_features_are_sorted() -> None:
    found = node_view(node(status={"declaredFeatures": ["b", "a"]}), None, None)

    assert found.declared_features == ("a", "b")
