"""Launch lists: stated once in a plan, the same to whoever reads it, in full in JSON."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from joiner.model.v1 import plan_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.plan import LaunchOption, Plan, PlannedNodeClaim
from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.wire.plan import decode_plan
from libs.wire.planned import state_launch_lists
from tests.support.messages import encode_plan

TYPES = ("small", "medium", "large")


def a_claim(index: int, *, types: tuple[str, ...] = TYPES, cpu: int = 1000) -> PlannedNodeClaim:
    """Return a claim that shares no object with any other."""
    kinds = Requirement(key="kind", complement=False, values=frozenset(types), absent=False)
    return PlannedNodeClaim(
        index=index,
        nodepool="default",
        nodepool_uid="uid",
        nodepool_hash="1",
        requirements=Requirements([kinds]),
        requests=Resources({"cpu": cpu}),
        instance_types=tuple(str(one) for one in types),
        cheapest=LaunchOption(
            instance_type=types[0], zone="a", capacity_type="spot", price_nanos_per_hour=7
        ),
        pod_uids=(f"pod-{index}",),
        labels=(("zone", "a"),),
        annotations=(("note", "x"),),
    )


def sent(plan: Plan) -> pb.Plan:
    return pb.Plan.FromString(encode_plan(plan).SerializeToString())


def test_claims_that_are_alike_but_for_their_pods_refer_to_one_list() -> None:
    plan = Plan(nodeclaims=(a_claim(0), a_claim(1, types=TYPES[1:]), a_claim(2, cpu=2000)))

    message = sent(plan)

    assert [one.launch_list for one in message.nodeclaims] == [0, 1, 0]
    assert [tuple(one.instance_types) for one in message.launch_lists] == [TYPES, TYPES[1:]]
    assert not any(one.instance_types or one.HasField("cheapest") for one in message.nodeclaims)


CHANGES: dict[str, Callable[[PlannedNodeClaim], PlannedNodeClaim]] = {
    "requirements": lambda one: replace(one, requirements=Requirements()),
    "instance types": lambda one: replace(one, instance_types=TYPES[:1]),
    "cheapest": lambda one: replace(one, cheapest=replace(one.cheapest, zone="b")),
    "labels": lambda one: replace(one, labels=()),
    "annotations": lambda one: replace(one, annotations=()),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_claims_that_differ_in_anything_of_a_list_have_two(
    change: Callable[[PlannedNodeClaim], PlannedNodeClaim],
) -> None:
    plan = Plan(nodeclaims=(a_claim(0), change(a_claim(1))))

    message = sent(plan)

    assert [one.launch_list for one in message.nodeclaims] == [0, 1]
    assert decode_plan(message) == plan


def test_what_is_shared_on_the_wire_is_shared_by_who_reads_it() -> None:
    plan = Plan(nodeclaims=(a_claim(0), a_claim(1)))

    decoded = decode_plan(sent(plan))

    first, second = decoded.nodeclaims
    assert decoded == plan
    assert first.instance_types is second.instance_types
    assert first.requirements is second.requirements
    assert first.requests is second.requests


def test_equal_plans_are_equal_bytes_whether_or_not_their_claims_share_objects() -> None:
    one = a_claim(0)
    shared = Plan(nodeclaims=(one, replace(one, index=1, pod_uids=("pod-1",))))
    apart = Plan(nodeclaims=(a_claim(0), a_claim(1)))

    assert encode_plan(shared).SerializeToString() == encode_plan(apart).SerializeToString()


def test_claims_that_state_their_lists_themselves_are_read_as_the_same() -> None:
    plan = Plan(nodeclaims=(a_claim(0), a_claim(1)))
    message = sent(plan)

    state_launch_lists(message)

    assert not message.launch_lists
    assert [tuple(one.instance_types) for one in message.nodeclaims] == [TYPES, TYPES]
    assert not any(one.HasField("launch_list") for one in message.nodeclaims)
    assert decode_plan(message) == plan


def _beyond(message: pb.Plan) -> None:
    message.nodeclaims[1].launch_list = 1


def _both(message: pb.Plan) -> None:
    message.nodeclaims[1].instance_types.append("huge")


def _neither(message: pb.Plan) -> None:
    message.nodeclaims[1].ClearField("launch_list")


def _too_long(message: pb.Plan) -> None:
    message.launch_lists[0].instance_types.extend(["one"] * 600)


@pytest.mark.parametrize(
    ("damage", "path"),
    [
        pytest.param(_beyond, "nodeclaims[1].launch_list", id="no such list"),
        pytest.param(_both, "nodeclaims[1].cheapest", id="a list and a statement"),
        pytest.param(_neither, "nodeclaims[1].cheapest", id="neither"),
        pytest.param(_too_long, "launch_lists[0].instance_types", id="too many types"),
    ],
)
def test_a_claim_of_which_it_is_open_what_it_may_be_bought_as_is_refused(
    damage: Callable[[pb.Plan], None], path: str
) -> None:
    message = sent(Plan(nodeclaims=(a_claim(0), a_claim(1))))
    damage(message)

    with pytest.raises(InvalidRequest) as refused:
        decode_plan(message)

    assert refused.value.field == path
