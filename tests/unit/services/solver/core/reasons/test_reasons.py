"""Reasons: the first rule that leaves nothing, the numbers, the smallest change that would help."""

from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.capacity import Offering
from libs.domain.device import DeviceClaim
from libs.domain.pod import NOWHERE, NodeTerm
from libs.domain.reason import Rejection, Rule
from services.solver.core.offers.template import Template
from services.solver.core.reasons import reasons
from services.solver.core.reasons.case import Case
from services.solver.core.reasons.pool_reasons import pool_rejection
from tests.support.builders import (
    a_catalogue,
    a_daemonset,
    a_node,
    a_node_term,
    a_pod,
    a_pool,
    a_shape,
    a_spread,
    a_taint,
    a_type,
    amounts,
    an_offering,
    pods,
    require,
)
from tests.unit.services.solver.core.asking import plan_of, the_rejection


def test_what_is_asked_and_what_the_nearest_type_offers() -> None:
    rejection = the_rejection(
        plan_of(
            shapes=[a_shape(cpu="17"), a_shape(100, cpu="250m", memory="1Gi")],
            pods=pods(1),
            daemonsets=[a_daemonset()],
        )
    )

    assert rejection.rule is Rule.RESOURCES
    assert rejection.nearest_instance_type == "m-16"
    assert (rejection.asked, rejection.offered) == (amounts(cpu="17250m"), amounts(cpu=16))
    assert rejection.suggestion == "lower the request of cpu by 1250m"


def test_a_type_that_misses_one_thing_is_nearer_than_one_that_misses_two() -> None:
    rejection = the_rejection(
        plan_of(shapes=[a_shape(cpu="20", memory="40Gi", extra=amounts(gpu=1))], pods=pods(1))
    )

    assert rejection.nearest_instance_type == "m-16"
    assert rejection.offered == amounts(cpu=16, gpu=0)


@pytest.mark.parametrize(
    ("shape", "pool", "rule", "key"),
    [
        pytest.param({}, {"taints": (a_taint(),)}, Rule.TAINTS, "dedicated", id="taint"),
        pytest.param(
            {"selector": {"a": "b"}}, {}, Rule.NODE_AFFINITY, "a", id="label that is not defined"
        ),
        pytest.param(
            {"selector": {label_keys.ARCH: "arm64"}},
            {},
            Rule.NODE_AFFINITY,
            label_keys.ARCH,
            id="no type has it",
        ),
        pytest.param(
            {"required_node_terms": (a_node_term(node_names=("gone",)),)},
            {},
            Rule.NODE_AFFINITY,
            "",
            id="by name",
        ),
        pytest.param(
            {"volumes": ((require((label_keys.ZONE, "In", ["zone-z"])),),)},
            {},
            Rule.VOLUME_TOPOLOGY,
            label_keys.ZONE,
            id="volume in a zone that is not sold",
        ),
        pytest.param({}, {"limits": amounts(cpu=1)}, Rule.POOL_LIMITS, "", id="limits"),
        pytest.param({"device_claims": (DeviceClaim(),)}, {}, Rule.DEVICES, "", id="devices"),
        pytest.param(
            {
                "selector": {label_keys.ZONE: "zone-a"},
                "required_node_terms": (a_node_term((label_keys.ZONE, "In", ["zone-b"])),),
            },
            {},
            Rule.NODE_AFFINITY,
            "",
            id="contradiction",
        ),
        pytest.param(
            {},
            {"ready": False, "problems": ("its class is gone",)},
            Rule.POOL_NOT_READY,
            "",
            id="pool",
        ),
        pytest.param(
            {"topology_spread": (a_spread("example.com/rack"),)},
            {},
            Rule.TOPOLOGY_SPREAD,
            "example.com/rack",
            id="spread over a key that nobody has",
        ),
    ],
)
def test_the_first_rule_that_leaves_nothing_is_named(
    shape: dict[str, Any], pool: dict[str, Any], rule: Rule, key: str
) -> None:
    plan = plan_of(shapes=[a_shape(**shape)], pods=pods(2), nodepools=[a_pool(**pool)])

    rejection = the_rejection(plan)
    assert (rejection.rule, rejection.key) == (rule, key)
    assert rejection.message


def test_there_is_one_rejection_per_pool_in_the_order_in_which_they_are_tried() -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="100")],
        pods=pods(1),
        nodepools=[a_pool("a"), a_pool("b", weight=3), a_pool("c", ready=False)],
    )

    assert [one.target for one in plan.unplaced[0].reason.rejections] == ["b", "c", "a"]


def test_without_pools_the_message_says_so() -> None:
    (unplaced,) = plan_of(pods=pods(1), nodepools=[]).unplaced

    assert unplaced.reason.message == "no node takes it, and there is no nodepool to buy one from"


def test_pools_that_are_out_for_everyone_are_told_apart() -> None:
    pools = [
        a_pool("broken", ready=False, problems=("it is being deleted",)),
        a_pool("fixed", replicas=2),
    ]

    plan = plan_of(pods=pods(1), nodepools=pools)

    (unplaced,) = plan.unplaced
    assert unplaced.reason.message == (
        "no node takes it, and none of 2 nodepools buys one: not ready: broken; static: fixed"
    )
    assert {one.rule for one in unplaced.reason.rejections} == {
        Rule.POOL_NOT_READY,
        Rule.POOL_STATIC,
    }
    assert [one.nodepool for one in plan.pool_messages] == ["broken"]


def test_existing_nodes_are_counted_by_the_rule_that_refused() -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="3", selector={label_keys.ZONE: "zone-a"})],
        pods=pods(1),
        nodes=[
            a_node("elsewhere", labels={label_keys.ZONE: "zone-b"}),
            a_node("tainted", taints=(a_taint(),)),
            a_node("small-1", allocatable=amounts(cpu=2, memory="4Gi", pods=9)),
            a_node("small-2", allocatable=amounts(cpu=2, memory="4Gi", pods=9)),
        ],
        nodepools=[],
    )

    assert plan.unplaced[0].reason.existing == (
        (Rule.NODE_AFFINITY, 1),
        (Rule.RESOURCES, 2),
        (Rule.TAINTS, 1),
    )


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        pytest.param(
            {
                "selector": {label_keys.ZONE: "zone-a"},
                "required_node_terms": (a_node_term((label_keys.ZONE, "In", ["zone-b"])),),
            },
            "its node affinity contradicts its node selector: "
            f"{label_keys.ZONE} In [zone-b] against In [zone-a]",
            id="with the selector",
        ),
        pytest.param(
            {
                "required_node_terms": (
                    a_node_term(("disk", "In", ["ssd"]), ("disk", "DoesNotExist")),
                    a_node_term(("disk", "Exists"), ("disk", "DoesNotExist")),
                ),
            },
            "its node affinity contradicts itself: it leaves no value of disk, and so does its "
            "other term",
            id="within terms",
        ),
        pytest.param(
            {"required_node_terms": (NOWHERE,)},
            "its node affinity has no term that matches any node; an empty term matches none",
            id="nothing but empty terms",
        ),
        pytest.param(
            {
                "selector": {label_keys.ZONE: "zone-a"},
                "volumes": ((require((label_keys.ZONE, "In", ["zone-b"])),),),
            },
            f"its node selection rules out all places of a volume: {label_keys.ZONE} In [zone-b]",
            id="a volume elsewhere",
        ),
        pytest.param(
            {
                "volumes": (
                    (require((label_keys.ZONE, "In", ["zone-a"])),),
                    (require((label_keys.ZONE, "In", ["zone-b"])),),
                ),
            },
            "its volumes cannot be used from one place",
            id="volumes apart",
        ),
    ],
)
def test_a_contradiction_is_told_with_its_key_and_values(shape: dict[str, Any], words: str) -> None:
    plan = plan_of(shapes=[a_shape(**shape)], pods=pods(1))

    assert the_rejection(plan).message == words


@pytest.mark.parametrize(
    ("offerings", "words", "key"),
    [
        pytest.param(
            [an_offering("zone-a")],
            f"8 cpu asked; big would do, but is not sold with {label_keys.ZONE} In [zone-c]; "
            "the nearest that is, m-4, offers 4 cpu",
            label_keys.ZONE,
            id="not in the zone",
        ),
        pytest.param(
            [an_offering("zone-c", available=False), an_offering("zone-a")],
            "8 cpu asked; big would do, but is not available; the nearest that is, m-4, offers "
            "4 cpu",
            "",
            id="not available there",
        ),
        pytest.param(
            [an_offering("zone-c"), an_offering("zone-a", "spot")],
            f"8 cpu asked; big would do, but is not sold with {label_keys.CAPACITY_TYPE} In "
            f"[spot] and {label_keys.ZONE} In [zone-c] at once; the nearest that is, m-4, offers "
            "4 cpu",
            "",
            id="each, not both",
        ),
    ],
)
def test_a_type_that_would_do_and_is_not_sold_so_is_named(
    offerings: list[Offering], words: str, key: str
) -> None:
    spot = "at once" in words
    selector = {label_keys.ZONE: "zone-c"} | ({label_keys.CAPACITY_TYPE: "spot"} if spot else {})
    big = a_type("big", capacity=amounts(cpu=16, memory="64Gi", pods=9), offerings=tuple(offerings))
    plan = plan_of(
        shapes=[a_shape(cpu="8", selector=selector)],
        pods=pods(1),
        catalogues=[a_catalogue(a_type(), big)],
    )

    found = the_rejection(plan)
    assert (found.rule, found.message, found.key) == (Rule.OFFERINGS, words, key)


def test_a_type_of_another_architecture_would_not_do() -> None:
    big = a_type("big", capacity=amounts(cpu=16, memory="64Gi", pods=9), arch="arm64")
    plan = plan_of(
        shapes=[a_shape(cpu="8", selector={label_keys.ARCH: "amd64"})],
        pods=pods(1),
        catalogues=[a_catalogue(a_type(), big)],
    )

    assert the_rejection(plan).rule is Rule.RESOURCES


def test_a_node_that_is_named_cannot_be_bought() -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="8", selector={label_keys.HOSTNAME: "node-1"})],
        pods=pods(1),
        nodes=[a_node("node-1")],
    )

    found = the_rejection(plan)
    assert found.message == (
        f"{label_keys.HOSTNAME} In [node-1] is asked for, a new node has another name"
    )
    assert (found.key, found.suggestion) == (label_keys.HOSTNAME, "")


@pytest.mark.parametrize(
    "term",
    [
        pytest.param(a_node_term(node_names=("gone",)), id="the name of another"),
        pytest.param(a_node_term(excluded_node_names=("node-1",)), id="any name but this"),
    ],
)
def test_a_node_of_a_name_that_is_not_allowed_refuses_by_node_affinity(term: NodeTerm) -> None:
    plan = plan_of(
        shapes=[a_shape(required_node_terms=(term,))],
        pods=pods(1),
        nodes=[a_node("node-1")],
        nodepools=[],
    )

    assert plan.unplaced[0].reason.existing == ((Rule.NODE_AFFINITY, 1),)


def test_pods_of_one_shape_share_one_reason() -> None:
    plan = plan_of(shapes=[a_shape(cpu="100")], pods=pods(50))

    assert [len(one.pod_uids) for one in plan.unplaced] == [50]


def test_a_spread_that_refuses_tells_its_numbers() -> None:
    plan = plan_of(
        shapes=[
            a_shape(
                topology_spread=(a_spread(min_domains=5),),
                required_node_terms=(a_node_term((label_keys.ZONE, "In", ["zone-a", "zone-b"])),),
            )
        ],
        pods=[a_pod("runs", node="node-1"), *pods(3)],
        nodes=[a_node()],
    )

    assert the_rejection(plan).message == (
        f"topology spread over {label_keys.ZONE} allows no new node here; pods per domain: "
        "zone-a 1, zone-b 1; maxSkew 1, minDomains 5"
    )


def test_unlike_pods_and_many_pools_make_no_answer_of_their_product(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def counting(case: Case, template: Template) -> Rejection | None:
        asked.append(template.pool.name)
        return pool_rejection(case, template)

    monkeypatch.setattr(reasons, "MOST_REJECTIONS", 40)
    monkeypatch.setattr(reasons, "pool_rejection", counting)
    plan = plan_of(
        nodepools=[a_pool(f"pool-{number}") for number in range(8)],
        shapes=[a_shape(number, cpu=str(900 + number)) for number in range(10)],
        pods=[a_pod(f"pod-{number}", number) for number in range(10)],
    )

    assert len(plan.unplaced) == 10
    assert len(asked) == 40
    for one in plan.unplaced:
        told = [each.target for each in one.reason.rejections]
        assert told == ["pool-7", "pool-6", "pool-5", "pool-4"]
        assert one.reason.untold_pools == 4
        assert one.reason.message.startswith("none of 8 nodepools can take it; the first 4 are")
