from dataclasses import replace
from datetime import timedelta

import pytest

from libs.domain.provider import Instance
from libs.domain.resources import NOTHING
from libs.kube.objects.karpenter import NodeClaim
from services.lifecycle.core.garbage import GarbageView, collect
from tests.unit.services.lifecycle.core.objects import NOW, a_claim, a_condition, a_node

TIMEOUT = timedelta(minutes=5)
OLD = NOW - timedelta(hours=1)


def _instance(number: int, claim: str = "gone", **override: object) -> Instance:
    found = Instance(
        provider_id=f"fake://{number}",
        nodeclaim=claim,
        nodeclaim_uid=f"uid-{claim}",
        capacity=NOTHING,
        allocatable=NOTHING,
        launched_at=OLD,
    )
    return replace(found, **override)  # type: ignore[arg-type]  # fields of Instance


def _view(listed: tuple[Instance, ...], claims: tuple[NodeClaim, ...] = ()) -> GarbageView:
    return GarbageView(
        before=listed, listed=listed, claims=claims, nodes={}, launch_timeout=TIMEOUT, now=NOW
    )


def _with_id(name: str, number: int) -> NodeClaim:
    conditions = [a_condition("Launched"), a_condition("Registered")]
    return a_claim(name, status={"providerID": f"fake://{number}", "conditions": conditions})


def test_an_instance_that_no_claim_knows_is_ended() -> None:
    known = _instance(1, "c1")

    found = collect(_view((known, _instance(2)), (_with_id("c1", 1),)))

    assert [one.provider_id for one in found.instances] == ["fake://2"]
    assert found.claims == ()


@pytest.mark.parametrize(
    "instance",
    [
        pytest.param(_instance(2, "c1"), id="its claim lives and is being launched"),
        pytest.param(_instance(2, launched_at=NOW - timedelta(minutes=4)), id="too young"),
        pytest.param(_instance(2, terminating=True), id="on its way out"),
        pytest.param(_instance(2, nodeclaim="", nodeclaim_uid=""), id="not ours by its tag"),
    ],
)
def test_an_instance_in_doubt_is_left_alone(instance: Instance) -> None:
    assert collect(_view((instance,), (a_claim("c1"),))).instances == ()


def test_one_list_is_no_proof() -> None:
    first = replace(_view((_instance(1),)), before=None)
    new = replace(_view((_instance(1),)), before=(_instance(2),))

    assert collect(first).instances == ()
    assert collect(new).instances == ()


def test_a_claim_whose_instance_is_gone_goes() -> None:
    found = collect(_view((), (_with_id("c1", 1),)))

    assert [claim.metadata.name for claim in found.claims] == ["c1"]


def test_a_claim_whose_node_is_ready_stays() -> None:
    view = replace(_view((), (_with_id("c1", 1),)), nodes={"fake://1": a_node()})

    assert collect(view).claims == ()


def test_one_claim_in_ten_goes_in_a_pass() -> None:
    claims = tuple(_with_id(f"c{number:02}", number) for number in range(25))

    found = collect(_view((), claims))

    assert [claim.metadata.name for claim in found.claims] == ["c00", "c01"]


def test_a_list_that_lost_over_half_stops_everything() -> None:
    before = tuple(_instance(number, f"c{number}") for number in range(5))
    claims = tuple(_with_id(f"c{number}", number) for number in range(5))
    view = replace(_view(before[:2], (*claims, _with_id("c9", 9))), before=before)

    found = collect(view)

    assert found.problem == "the provider listed 2 instances of claims, 5 before"
    assert (found.instances, found.claims) == ((), ())


def test_a_list_without_what_was_given_up_is_judged() -> None:
    before = tuple(_instance(number, f"c{number}") for number in range(5))
    view = replace(_view(before[:1], (_with_id("c0", 0), _with_id("c9", 9))), before=before)

    found = collect(view)

    assert found.problem == ""
    assert [claim.metadata.name for claim in found.claims] == ["c9"]
