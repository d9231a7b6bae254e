"""What pods with claims that have no place are told."""

import pytest

from libs.domain.device import DeviceClaim, DeviceConstraint
from libs.domain.reason import Rule
from services.solver.core.devices.refusing import why_not
from services.solver.core.devices.selecting import Selectors
from tests.support.builders import a_node
from tests.unit.services.solver.core.asking import the_rejection
from tests.unit.services.solver.core.devices.planning import CATALOGUE, FEW, claiming, plan_with
from tests.unit.services.solver.core.devices.pools import (
    CLASSES,
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


def test_all_devices_wait_for_pools_that_are_being_updated() -> None:
    claim = a_claim(a_request(a_way(name="every", all=True)))

    found = why_not([claim], a_place(a_pool(complete=False)), Selectors(CLASSES))

    assert "way 'every': all devices are asked for, and pool 'gpu.example.com/p'" in found
