from dataclasses import replace
from typing import Any

import pytest

from libs.domain.nodeclaim import ConditionStatus
from libs.domain.provider import NodeClassCondition, ResolvedNodeClass
from libs.kube.api import KWOK_NODE_CLASSES
from libs.kube.objects.decoding import from_document
from libs.kube.objects.karpenter import NodeClass
from services.lifecycle.core.node_classes import RESOLVE_AGAIN, ClassView, next_step
from services.lifecycle.core.step import Ask, Patch, Step
from tests.unit.services.lifecycle.core.objects import GROUP, NOW, at

FINALIZER = f"{GROUP}/termination"
HASHED = {f"{GROUP}/kwoknodeclass-hash": "h", f"{GROUP}/kwoknodeclass-hash-version": "v1"}
RESOLVED = ResolvedNodeClass(
    status={"images": ["i"]},
    conditions=(
        NodeClassCondition(type="Ready", status=ConditionStatus.TRUE, reason="Ready", message=""),
    ),
    hash="h",
    hash_version="v1",
)


def _view(*, status: Any = None, **metadata: Any) -> ClassView:
    node_class = from_document(
        {
            "apiVersion": f"{GROUP}/v1alpha1",
            "kind": "KWOKNodeClass",
            "metadata": {
                "name": "default",
                "uid": "c",
                "generation": 3,
                "finalizers": [FINALIZER],
                "annotations": HASHED,
                **metadata,
            },
            "status": status or {},
        },
        NodeClass,
    )
    return ClassView(node_class=node_class, resource=KWOK_NODE_CLASSES, now=NOW)


def _body(step: Step) -> Any:
    (patch,) = step.writes
    assert isinstance(patch, Patch)
    return patch.body


def test_the_finalizer_comes_first() -> None:
    step = next_step(_view(finalizers=[]))

    assert _body(step) == {"metadata": {"finalizers": [FINALIZER]}}


def test_a_class_is_resolved_by_its_provider() -> None:
    assert next_step(_view()).ask is Ask.RESOLVE


def test_the_hash_is_written_before_the_status() -> None:
    step = next_step(replace(_view(annotations={}), resolved=RESOLVED))

    assert _body(step) == {"metadata": {"annotations": HASHED}}


def test_what_was_resolved_is_written_and_then_rests() -> None:
    written = _body(next_step(replace(_view(), resolved=RESOLVED)))["status"]

    again = next_step(replace(_view(status=written), resolved=RESOLVED))

    assert written["images"] == ["i"]
    assert written["conditions"] == [
        {
            "type": "Ready",
            "status": "True",
            "reason": "Ready",
            "message": "",
            "lastTransitionTime": at(),
            "observedGeneration": 3,
        }
    ]
    assert again == Step(check_after=RESOLVE_AGAIN)


def test_a_condition_that_did_not_change_keeps_its_time() -> None:
    old = {"type": "Ready", "status": "True", "reason": "Old", "lastTransitionTime": "earlier"}

    body = _body(next_step(replace(_view(status={"conditions": [old]}), resolved=RESOLVED)))

    assert body["status"]["conditions"][0]["lastTransitionTime"] == "earlier"


@pytest.mark.parametrize(
    ("claims", "released", "ask", "let_go"),
    [
        pytest.param(1, False, None, False, id="claims are left"),
        pytest.param(0, False, Ask.RELEASE, False, id="what it made is freed"),
        pytest.param(0, True, None, True, id="let go"),
    ],
)
def test_a_class_goes_after_its_claims(
    claims: int, released: bool, ask: Ask | None, let_go: bool
) -> None:
    view = replace(_view(deletionTimestamp=at()), claims=claims, released=released)

    step = next_step(view)

    assert step.ask is ask
    if let_go:
        assert _body(step) == {"metadata": {"finalizers": []}}
    else:
        assert step.writes == ()
