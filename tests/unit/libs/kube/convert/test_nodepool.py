from datetime import timedelta
from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.domain.nodepool import Budget, ConsolidationPolicy
from libs.kube.convert.nodepool import class_problems, node_overlay, nodepool
from libs.kube.objects.decoding import from_document
from libs.kube.objects.karpenter import NodeClass, NodeOverlay, NodePool
from tests.unit.libs.kube.manifests import CLASS, Document, a_nodepool


def _pool(**more: Any) -> NodePool:
    return from_document(a_nodepool(**more), NodePool)


def _requires(key: str, operator: str, *values: str, **more: Any) -> Document:
    return {"requirements": [{"key": key, "operator": operator, "values": list(values), **more}]}


def test_a_pool_out_of_a_file_has_the_defaults_of_its_schema() -> None:
    found = nodepool(_pool())

    assert (found.ready, found.problems, found.weight, found.replicas) == (True, (), 0, None)
    assert found.disruption.budgets == (Budget(percent=10),)
    assert found.disruption.consolidate_after == timedelta(0)
    assert found.disruption.consolidation_policy is ConsolidationPolicy.WHEN_EMPTY_OR_UNDERUTILIZED
    assert found.template.expire_after == timedelta(hours=720)
    assert found.hash == "12745407319442031341"


def test_the_hash_is_that_of_the_template_as_written() -> None:
    assert nodepool(_pool(template={"expireAfter": "Never"})).hash == "7428780003907761376"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        pytest.param(
            _requires("karpenter.sh/capacity-type", "In", "xspot"), "capacity", id="no known value"
        ),
        pytest.param(
            _requires("karpenter.sh/capacity-type", "In", "xspot", "spot", minValues=2),
            "2 or more",
            id="too few known values",
        ),
        pytest.param(_requires("karpenter.sh/nodepool", "Exists"), "own label", id="own label"),
        pytest.param(_requires("kubernetes.io/hostname", "Exists"), "restricted", id="restricted"),
    ],
)
def test_a_pool_that_is_invalid_is_kept_and_not_ready(template: Document, message: str) -> None:
    found = nodepool(_pool(template=template))

    assert not found.ready
    assert any(message in problem or "spot" in problem for problem in found.problems)


@pytest.mark.parametrize(
    ("spec", "problems"),
    [
        pytest.param({"weight": 100}, (), id="the heaviest"),
        pytest.param(
            {"weight": 1000}, ("spec.weight: 1000 is not within 1 to 100",), id="too heavy"
        ),
        pytest.param(
            {"weight": 5, "replicas": 2},
            ("spec.weight: a pool with replicas may not have a weight",),
            id="static",
        ),
    ],
)
def test_a_weight_that_an_api_server_refuses_makes_a_pool_unusable(
    spec: Document, problems: tuple[str, ...]
) -> None:
    found = nodepool(_pool(**spec))

    assert (found.ready, found.problems) == (not problems, problems)


def test_one_known_capacity_type_suffices() -> None:
    template = _requires("karpenter.sh/capacity-type", "In", "xspot", "spot")

    assert nodepool(_pool(template=template)).ready


def test_a_node_restriction_label_is_allowed() -> None:
    template = _requires("subdomain.node-restriction.kubernetes.io/test", "In", "test")

    assert nodepool(_pool(template=template)).ready


@pytest.mark.parametrize(
    ("status", "observed", "ready"),
    [
        pytest.param("False", 1, False, id="not ready at this generation"),
        pytest.param("False", 0, True, id="not ready at an older one"),
        pytest.param("Unknown", 1, True, id="not known yet"),
    ],
)
def test_what_lifecycle_said_of_this_generation_counts(
    status: str, observed: int, ready: bool
) -> None:
    condition = {"type": "Ready", "status": status, "reason": "R", "observedGeneration": observed}
    document = {**a_nodepool(), "status": {"conditions": [condition]}}

    assert nodepool(from_document(document, NodePool)).ready is ready


def test_a_pool_that_is_deleted_is_not_ready() -> None:
    document = a_nodepool()
    document["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    assert nodepool(from_document(document, NodePool)).problems == ("it is being deleted",)


@pytest.mark.parametrize(
    ("more", "field"),
    [
        pytest.param(
            {"template": _requires("a", "Like")},
            "spec.template.spec.requirements[0].operator",
            id="operator",
        ),
        pytest.param(
            {"template": {"requirements": 1}}, "spec.template.spec.requirements", id="type"
        ),
        pytest.param(
            {"template": {"nodeClassRef": {}}}, "spec.template.spec.nodeClassRef", id="no class"
        ),
        pytest.param(
            {"template": {"expireAfter": "1d"}}, "spec.template.spec.expireAfter", id="duration"
        ),
        pytest.param({"limits": {"cpu": "-1"}}, "spec.limits.cpu", id="limit"),
        pytest.param(
            {"disruption": {"consolidateAfter": "x"}},
            "spec.disruption.consolidateAfter",
            id="consolidateAfter",
        ),
        pytest.param(
            {"disruption": {"budgets": [{"nodes": "101%"}]}},
            "spec.disruption.budgets[0].nodes",
            id="budget",
        ),
    ],
)
def test_an_illegible_pool_names_its_field(more: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        nodepool(_pool(**more))

    assert caught.value.field == field


def _class(*conditions: Document, **meta: Any) -> NodeClass:
    document = {
        "apiVersion": "karpenter.kwok.sh/v1alpha1",
        "kind": CLASS["kind"],
        "metadata": {"name": "default", **meta},
        "status": {"conditions": list(conditions)},
    }
    return from_document(document, NodeClass)


@pytest.mark.parametrize(
    ("node_class", "problem"),
    [
        pytest.param(_class({"type": "Ready", "status": "True"}), "", id="ready"),
        pytest.param(_class(), "", id="no condition"),
        pytest.param(
            _class({"type": "Ready", "status": "False", "reason": "R", "message": "m"}),
            'KWOKNodeClass "default" is not ready: R: m',
            id="not ready",
        ),
        pytest.param(
            _class(deletionTimestamp="2026-01-01T00:00:00Z"),
            'KWOKNodeClass "default" is being deleted',
            id="deleting",
        ),
    ],
)
def test_problems_of_a_class(node_class: NodeClass, problem: str) -> None:
    assert class_problems(node_class) == ((problem,) if problem else ())


def _overlay(**spec: Any) -> NodeOverlay:
    return from_document(
        {"metadata": {"name": "o"}, "spec": {"requirements": [], **spec}}, NodeOverlay
    )


@pytest.mark.parametrize(
    ("spec", "price", "delta", "ppm"),
    [
        pytest.param({"price": "0.25"}, 250_000_000, None, None, id="price"),
        pytest.param({"priceAdjustment": "+.05"}, None, 50_000_000, None, id="more"),
        pytest.param({"priceAdjustment": "-0.05"}, None, -50_000_000, None, id="less"),
        pytest.param({"priceAdjustment": "-68%"}, None, None, -680_000, id="percent less"),
        pytest.param({"priceAdjustment": "+12.5%"}, None, None, 125_000, id="percent more"),
        pytest.param({}, None, None, None, id="none"),
    ],
)
def test_prices_of_an_overlay(
    spec: dict[str, Any], price: int | None, delta: int | None, ppm: int | None
) -> None:
    found = node_overlay(_overlay(**spec))

    assert (
        found.price_nanos_per_hour,
        found.price_delta_nanos_per_hour,
        found.price_delta_ppm,
    ) == (price, delta, ppm)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        pytest.param({"price": "-1"}, "spec.price", id="negative price"),
        pytest.param({"priceAdjustment": "5%"}, "spec.priceAdjustment", id="no sign"),
        pytest.param({"priceAdjustment": "-101%"}, "spec.priceAdjustment", id="below nothing"),
        pytest.param({"price": "1", "priceAdjustment": "+1"}, "spec", id="both"),
        pytest.param({"capacity": {"cpu": "1"}}, "spec.capacity", id="well-known resource"),
        pytest.param(
            {"requirements": [{"key": "a", "operator": "NotIn"}]},
            "spec.requirements[0].values",
            id="NotIn without values",
        ),
    ],
)
def test_an_illegible_overlay_names_its_field(spec: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        node_overlay(_overlay(**spec))

    assert caught.value.field == field
