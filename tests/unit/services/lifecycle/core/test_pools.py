from typing import Any

import pytest

from libs.domain.resources import Resources
from libs.kube.objects.decoding import from_document
from libs.kube.objects.karpenter import NodeClass
from services.lifecycle.core.pools import PoolView, next_step, template_hash, usage
from services.lifecycle.core.step import Patch, Step
from tests.unit.services.lifecycle.core.objects import GROUP, NOW, a_claim, a_pool, at

STAMPED = {
    "karpenter.sh/nodepool-hash": template_hash(a_pool()),
    "karpenter.sh/nodepool-hash-version": "v3",
}


def _class(*, deleting: bool = False, **ready: str) -> NodeClass:
    metadata: dict[str, Any] = {"name": "default", "uid": "c"}
    if deleting:
        metadata["deletionTimestamp"] = at()
    conditions = [{"type": "Ready", **ready}] if ready else []
    return from_document(
        {
            "apiVersion": f"{GROUP}/v1alpha1",
            "kind": "KWOKNodeClass",
            "metadata": metadata,
            "status": {"conditions": conditions},
        },
        NodeClass,
    )


READY = _class(status="True")


def _patches(step: Step) -> list[Patch]:
    return [write for write in step.writes if isinstance(write, Patch)]


def _condition(step: Step, kind: str) -> dict[str, Any]:
    (patch,) = _patches(step)
    return next(one for one in patch.body["status"]["conditions"] if one["type"] == kind)


@pytest.mark.parametrize(
    ("node_class", "status", "reason"),
    [
        pytest.param(READY, "True", "NodeClassReady", id="ready"),
        pytest.param(None, "False", "NodeClassNotFound", id="missing"),
        pytest.param(
            _class(deleting=True, status="True"), "False", "NodeClassTerminating", id="leaving"
        ),
        pytest.param(_class(), "False", "NodeClassReadinessUnknown", id="silent"),
        pytest.param(
            _class(status="False", reason="NoSubnets", message="none found"),
            "False",
            "NoSubnets",
            id="its own reason",
        ),
    ],
)
def test_a_pool_is_as_ready_as_its_class(
    node_class: NodeClass | None, status: str, reason: str
) -> None:
    view = PoolView(pool=a_pool(annotations=STAMPED), node_class=node_class, now=NOW)

    step = next_step(view)

    found = _condition(step, "NodeClassReady")
    assert (found["status"], found["reason"]) == (status, reason)
    assert _condition(step, "Ready")["status"] == status


def test_an_illegal_pool_says_what_is_wrong() -> None:
    template = {
        "spec": {
            "requirements": [{"key": "a b", "operator": "Exists"}],
            "nodeClassRef": {"group": GROUP, "kind": "KWOKNodeClass", "name": "default"},
        }
    }
    pool = a_pool(spec={"template": template})
    hashed = {**STAMPED, "karpenter.sh/nodepool-hash": template_hash(pool)}

    step = next_step(
        PoolView(
            pool=a_pool(spec={"template": template}, annotations=hashed), node_class=READY, now=NOW
        )
    )

    found = _condition(step, "ValidationSucceeded")
    assert found["reason"] == "NodePoolValidationFailed"
    assert "spec.template.spec.requirements[0]" in found["message"]
    assert _condition(step, "Ready")["status"] == "False"


def test_the_hash_is_stamped_first() -> None:
    (patch,) = _patches(next_step(PoolView(pool=a_pool(), node_class=READY, now=NOW)))

    assert patch.body == {"metadata": {"annotations": STAMPED}}


def test_claims_of_an_older_hash_version_are_stamped_before_their_pool() -> None:
    old = {"karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v2"}
    claims = (
        a_claim("fresh", annotations=STAMPED),
        a_claim("plain", annotations=old),
        a_claim("drifted", true=("Drifted",), annotations=old),
    )

    step = next_step(
        PoolView(pool=a_pool(annotations=old), node_class=READY, claims=claims, now=NOW)
    )

    found = {patch.name: patch.body["metadata"]["annotations"] for patch in _patches(step)}
    assert found == {
        "plain": STAMPED,
        "drifted": {"karpenter.sh/nodepool-hash-version": "v3"},
    }


def test_usage_counts_capacity_or_requests_and_not_what_leaves() -> None:
    claims = (
        a_claim("a", status={"capacity": {"cpu": "4", "memory": "1Gi"}}),
        a_claim("b"),
        a_claim("c", status={"capacity": {"cpu": "8"}}, deletionTimestamp=at()),
    )

    assert usage(claims) == Resources({"cpu": 5000, "memory": 2**30, "nodes": 2})


def test_an_idle_pool_counts_zeros_and_rests_when_it_is_written() -> None:
    view = PoolView(pool=a_pool(annotations=STAMPED), node_class=READY, now=NOW)

    (patch,) = _patches(next_step(view))
    written = from_document(
        {
            "metadata": {
                "name": "default",
                "generation": 1,
                "creationTimestamp": at(),
                "annotations": STAMPED,
            },
            "spec": {"template": view.pool.spec.template},
            "status": patch.body["status"],
        },
        type(view.pool),
    )

    assert patch.body["status"]["nodes"] == 0
    assert patch.body["status"]["resources"] == {
        "cpu": "0",
        "ephemeral-storage": "0",
        "memory": "0",
        "nodes": "0",
        "pods": "0",
    }
    assert next_step(PoolView(pool=written, node_class=READY, now=NOW)).writes == ()
