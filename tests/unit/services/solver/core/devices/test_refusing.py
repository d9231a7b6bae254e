"""What pods with claims that have no place are told."""

from typing import Any

import pytest

from libs.domain.device import Device, DeviceClaim, DeviceClass, DeviceConstraint
from libs.domain.reason import Rule
from services.solver.core.devices.refusing import why_not
from services.solver.core.devices.selecting import Selectors
from services.solver.core.devices.usage import Ledger
from tests.support.builders import a_node, a_taint
from tests.unit.services.solver.core.asking import the_rejection
from tests.unit.services.solver.core.devices.planning import CATALOGUE, FEW, claiming, plan_with
from tests.unit.services.solver.core.devices.pools import (
    CLASSES,
    DRIVER,
    a_claim,
    a_device,
    a_place,
    a_pool,
    a_request,
    a_way,
)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        pytest.param(
            a_claim(a_request(count=3)),
            "3 of class 'gpu' asked, 2 of 2 devices match",
            id="too few",
        ),
        pytest.param(
            a_claim(a_request(a_way("missing"))),
            "device class 'missing' does not exist",
            id="no class",
        ),
        pytest.param(
            a_claim(a_request(selectors=("false",))), "selector 'false' refuses", id="selector"
        ),
        pytest.param(a_claim(a_request(selectors=("device.",))), "is no CEL", id="no CEL"),
        pytest.param(
            a_claim(
                a_request(count=2),
                constraints=[DeviceConstraint(match_attribute="d/numa")],
            ),
            "no free devices satisfy matchAttribute d/numa",
            id="constraint",
        ),
        pytest.param(
            a_claim(a_request(count=2), a_request(name="more")),
            "for each of its requests, but not for all",
            id="both together",
        ),
    ],
)
def test_a_reason_says_what_is_missing(claim: DeviceClaim, words: str) -> None:
    plan = plan_with(shapes=[claiming(claim)], catalogues=[CATALOGUE])

    found = the_rejection(plan)

    assert found.rule is Rule.DEVICES
    assert words in found.message


def test_nodes_without_devices_are_counted_by_that_rule() -> None:
    plan = plan_with(nodes=[a_node()], **FEW)

    assert plan.unplaced[0].reason.existing == ((Rule.DEVICES, 1),)


def test_devices_that_are_free_may_not_be_so_together() -> None:
    halves = [a_device(name, counters={"gpu": {"slices": 4}}) for name in ("a", "b")]
    pool = a_pool(*halves, counters={"gpu": {"slices": 7}})

    found = why_not([a_claim(a_request(count=2))], a_place(pool), Selectors(CLASSES))

    assert found == (
        "its resourceclaim, request 'r': 2 of class 'gpu' asked, 2 of 2 devices are free, "
        "but not 2 of them together"
    )


@pytest.mark.parametrize(
    ("device", "fields", "words"),
    [
        pytest.param(
            a_device("a", taints=(a_taint(),)),
            {},
            "0 of 1 devices can be had: 1 tainted (a has dedicated:NoSchedule)",
            id="tainted",
        ),
        pytest.param(
            a_device("a", capacity={"memory": 2**30}, shared=True),
            {"share": {"memory": 2**31}},
            "0 of 1 devices can be had: 1 with too little left (a: 1Gi of 1Gi memory, 2Gi asked)",
            id="too small a share",
        ),
        pytest.param(
            a_device("a", capacity={"memory": 2**30}, shared=True),
            {"share": {"lanes": 1}},
            "1 with too little left (a: not to be had in such parts)",
            id="shared otherwise",
        ),
    ],
)
def test_devices_that_are_free_and_cannot_be_had_are_told_apart(
    device: Device, fields: dict[str, Any], words: str
) -> None:
    claim = a_claim(a_request(**fields))

    assert words in why_not([claim], a_place(a_pool(device)), Selectors(CLASSES))


def test_what_is_left_of_a_device_is_told() -> None:
    shared = a_device("a", capacity={"lanes": 10}, shared=True)
    taken = Ledger(parts={(DRIVER, "p", "a"): {"lanes": 7_500}})

    found = why_not(
        [a_claim(a_request(share={"lanes": 4}))],
        a_place(a_pool(shared), taken=taken),
        Selectors(CLASSES),
    )

    assert "(a: 2500m of 10 lanes, 4 asked)" in found


def test_devices_whose_counters_are_used_up_are_not_in_use() -> None:
    whole = a_device("whole", counters={"gpu": {"slices": 7}})
    part = a_device("part", counters={"gpu": {"slices": 3}})
    pool = a_pool(whole, part, counters={"gpu": {"slices": 7}})
    taken = Ledger()
    taken.take((DRIVER, "p", "part"))
    taken.count((DRIVER, "p", "part"), part)

    found = why_not([a_claim()], a_place(pool, taken=taken), Selectors(CLASSES))

    assert (
        "0 of 2 devices can be had: 1 with counters used up (whole: gpu/slices), 1 in use" in found
    )


def test_what_is_the_same_on_nodes_is_told_once() -> None:
    claim = a_claim(a_request(a_way("missing")))

    plan = plan_with(shapes=[claiming(claim)], nodes=[a_node()], **FEW)

    assert the_rejection(plan).message == "device class 'missing' does not exist"


def test_devices_that_are_not_meant_do_not_count() -> None:
    held = Ledger(whole={(DRIVER, "p", "a")})
    place = a_place(
        a_pool(a_device("a", attributes={"new": True}), a_device("b", attributes={"new": False})),
        taken=held,
    )
    claim = a_claim(a_request(selectors=(f"device.attributes['{DRIVER}'].new",)))

    assert "0 of 1 matching devices are free" in why_not([claim], place, Selectors(CLASSES))


def test_a_class_that_is_no_cel_is_told_where_no_device_is_judged_by_it() -> None:
    broken = DeviceClass(name="gpu", selectors=("device.driver == ",))

    found = why_not([a_claim()], a_place(), Selectors({"gpu": broken}))

    assert "a selector of device class 'gpu' fails: 'device.driver == ' is no CEL" in found


@pytest.mark.parametrize("pools", [pytest.param([], id="no pool"), pytest.param(None, id="pool")])
def test_where_new_nodes_have_no_devices_it_is_told_what_is_with_those_there(
    pools: list[Any] | None,
) -> None:
    fields = FEW if pools is None else {"nodepools": pools}
    plan = plan_with(
        a_pool(a_device("a", taints=(a_taint(),)), node_name="node-2"),
        nodes=[a_node("node-1"), a_node("node-2")],
        **fields,
    )

    (unplaced,) = plan.unplaced
    assert "; on node node-2, its resourceclaim, request 'r': " in unplaced.reason.message
    assert "1 tainted" in unplaced.reason.message


def test_all_devices_wait_for_pools_that_are_being_updated() -> None:
    claim = a_claim(a_request(a_way(name="every", all=True)))

    found = why_not([claim], a_place(a_pool(complete=False)), Selectors(CLASSES))

    assert "way 'every': all devices are asked for, and pool 'gpu.example.com/p'" in found
