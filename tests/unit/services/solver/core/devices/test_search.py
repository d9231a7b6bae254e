from typing import Any

import pytest

from libs.domain.device import (
    CapacityPolicy,
    Device,
    DeviceCapacity,
    DeviceConstraint,
    DeviceVersion,
)
from libs.domain.taint import Effect, Taint, Toleration, TolerationOperator
from services.solver.core.devices.search import Found
from services.solver.core.devices.usage import Ledger
from services.solver.core.devices.ways import NotFound
from tests.unit.services.solver.core.devices.pools import (
    DRIVER,
    a_claim,
    a_device,
    a_place,
    a_pool,
    a_request,
    a_way,
    find,
    names,
)

TWO = a_pool(a_device("a"), a_device("b"))
TAINT = Taint(key="broken", effect=Effect.NO_SCHEDULE)
TAINTED = a_pool(a_device("a", taints=(TAINT,)), a_device("b"))
TOLERATION = Toleration(key="broken", operator=TolerationOperator.EXISTS)


def _numa(*values: Any) -> list[Device]:
    return [
        a_device(chr(ord("a") + index), attributes={"numa": value} if value is not None else {})
        for index, value in enumerate(values)
    ]


MATCH = DeviceConstraint(match_attribute=f"{DRIVER}/numa")
DISTINCT = DeviceConstraint(distinct_attribute=f"{DRIVER}/numa")


@pytest.mark.parametrize(
    ("pools", "claims", "expected"),
    [
        pytest.param([TWO], [a_claim()], [["a"]], id="first device"),
        pytest.param([TWO], [a_claim(a_request(count=2))], [["a", "b"]], id="two devices"),
        pytest.param([TWO], [a_claim(a_request(count=3))], None, id="too few devices"),
        pytest.param([TWO], [a_claim(), a_claim()], [["a"], ["b"]], id="two claims"),
        pytest.param([TWO], [a_claim()] * 3, None, id="three claims of two devices"),
        pytest.param(
            [TWO],
            [a_claim(a_request(name="x"), a_request(name="y"))],
            [["a", "b"]],
            id="two requests",
        ),
        pytest.param(
            [a_pool(a_device("a"), driver="other")], [a_claim()], None, id="class refuses"
        ),
        pytest.param(
            [a_pool(a_device("z"), pool="q"), TWO], [a_claim()], [["z"]], id="order of the place"
        ),
        pytest.param(
            [TWO],
            [a_claim(a_request(a_way(name="x", count=3), a_way(name="y", count=1)))],
            [["a"]],
            id="second way",
        ),
        pytest.param(
            [TWO],
            [a_claim(a_request(a_way(name="x", count=2), a_way(name="y"))), a_claim()],
            [["a"], ["b"]],
            id="second way for the sake of another claim",
        ),
        pytest.param([TWO], [a_claim(a_request(all=True))], [["a", "b"]], id="all"),
        pytest.param([], [a_claim(a_request(all=True))], None, id="all of none"),
        pytest.param([TWO], [a_claim(), a_claim(a_request(all=True))], None, id="all, one taken"),
        pytest.param(
            [a_pool(*_numa(0, 1))],
            [a_claim(a_request(a_way(name="x", all=True), a_way(name="y")), constraints=(MATCH,))],
            None,
            id="all, a constraint keeps one out",
        ),
        pytest.param([TAINTED], [a_claim()], [["b"]], id="taint"),
        pytest.param(
            [TAINTED],
            [a_claim(a_request(tolerations=(TOLERATION,)))],
            [["a"]],
            id="taint tolerated",
        ),
        pytest.param(
            [TAINTED], [a_claim(a_request(all=True))], None, id="all, one of them tainted"
        ),
        pytest.param([a_pool(a_device("a"), complete=False)], [a_claim()], None, id="incomplete"),
        pytest.param([a_pool(problem="twice")], [a_claim()], None, id="unsound"),
        pytest.param(
            [TWO, a_pool(pool="q", complete=False)], [a_claim()], [["a"]], id="another incomplete"
        ),
        pytest.param(
            [TWO, a_pool(pool="q", complete=False)],
            [a_claim(a_request(all=True))],
            None,
            id="all, another incomplete",
        ),
        pytest.param(
            [a_pool(*map(a_device, map(str, range(40))))],
            [a_claim(a_request(count=33))],
            None,
            id="more than a claim may have",
        ),
        pytest.param(
            [a_pool(*_numa(0, 1, 1))],
            [a_claim(a_request(count=2), constraints=[MATCH])],
            [["b", "c"]],
            id="match attribute",
        ),
        pytest.param(
            [a_pool(*_numa(0, 1, 2))],
            [a_claim(a_request(count=2), constraints=[MATCH])],
            None,
            id="match attribute fails",
        ),
        pytest.param(
            [a_pool(*_numa(1, True, "1"))],
            [a_claim(a_request(count=2), constraints=[MATCH])],
            None,
            id="values of different types do not match",
        ),
        pytest.param(
            [a_pool(*_numa(None, 1, 1))],
            [a_claim(a_request(count=2), constraints=[MATCH])],
            [["b", "c"]],
            id="a device without the attribute does not match",
        ),
        pytest.param(
            [a_pool(*_numa(1, 1, 2))],
            [a_claim(a_request(count=2), constraints=[DISTINCT])],
            [["a", "c"]],
            id="distinct attribute",
        ),
        pytest.param(
            [a_pool(*_numa(1, 2, 1))],
            [a_claim(a_request(count=3), constraints=[DISTINCT])],
            None,
            id="distinct from all before, not just the last",
        ),
        pytest.param(
            [a_pool(*_numa(0, 1, 1))],
            [
                a_claim(
                    a_request(name="x"),
                    a_request(name="y", count=2),
                    constraints=[
                        DeviceConstraint(match_attribute=MATCH.match_attribute, requests=("y",))
                    ],
                )
            ],
            [["a", "b", "c"]],
            id="constraint of one request",
        ),
        pytest.param(
            [a_pool(*_numa(0, 1, 1))],
            [
                a_claim(
                    a_request(a_way(name="w", count=2), name="x"),
                    constraints=[
                        DeviceConstraint(match_attribute=MATCH.match_attribute, requests=("x/w",))
                    ],
                )
            ],
            [["b", "c"]],
            id="constraint of one way",
        ),
    ],
)
def test_which_devices_claims_get(pools: list[Any], claims: list[Any], expected: object) -> None:
    assert names(find(a_place(*pools), *claims)) == expected


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        pytest.param([a_claim(a_request(admin_access=True))], [["a"]], id="a taken device"),
        pytest.param(
            [a_claim(a_request(admin_access=True))] * 2, [["a"], ["a"]], id="twice by two claims"
        ),
        pytest.param(
            [a_claim(a_request(admin_access=True, count=2))], [["a", "b"]], id="not by one claim"
        ),
        pytest.param(
            [a_claim(a_request(admin_access=True, all=True))], [["a", "b"]], id="all devices"
        ),
    ],
)
def test_admin_access_looks_at_what_others_have(claims: list[Any], expected: object) -> None:
    taken = Ledger(whole={(DRIVER, "p", "a")})

    assert names(find(a_place(TWO, taken=taken), *claims)) == expected


def test_what_is_taken_is_not_given() -> None:
    taken = Ledger(whole={(DRIVER, "p", "a")})

    assert names(find(a_place(TWO, taken=taken), a_claim())) == [["b"]]
    assert names(find(a_place(TWO, taken=taken), a_claim(a_request(count=2)))) is None


def test_devices_that_come_with_the_node_are_tried_by_driver_like_all() -> None:
    early = a_pool(a_device("own"), driver="a.example.com")
    place = a_place(a_pool(a_device("net")), template=[early])

    assert names(find(place, a_claim(a_request(a_way("any"))))) == [["own"]]


def test_of_one_driver_devices_of_the_cluster_come_before_those_of_the_node() -> None:
    place = a_place(a_pool(a_device("net")), template=[a_pool(a_device("own"))])

    found = find(place, a_claim(a_request(count=2)))

    assert names(found) == [["net", "own"]]


# Counters.

PARTS = a_pool(
    a_device("whole", counters={"gpu": {"slices": 7}}),
    a_device("half-1", counters={"gpu": {"slices": 4}}),
    a_device("half-2", counters={"gpu": {"slices": 4}}),
    a_device("third", counters={"gpu": {"slices": 3}}),
    counters={"gpu": {"slices": 7}},
)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        pytest.param(1, [["whole"]], id="the whole"),
        pytest.param(2, [["half-1", "third"]], id="parts that fit together"),
        pytest.param(3, None, id="more parts than there are counters"),
    ],
)
def test_devices_share_the_counters_of_their_pool(count: int, expected: object) -> None:
    assert names(find(a_place(PARTS), a_claim(a_request(count=count)))) == expected


def test_counters_that_are_taken_are_gone() -> None:
    taken = Ledger(counters={(DRIVER, "p", "gpu", "slices"): 4})

    assert names(find(a_place(PARTS, taken=taken), a_claim())) == [["third"]]


# Shared capacity.


def _shared(**fields: Any) -> Device:
    return a_device("s", shared=True, capacity={"mem": 10}, **fields)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        pytest.param([4, 6], [["s"], ["s"]], id="fill it"),
        pytest.param([4, 7], None, id="exceed it"),
        pytest.param([None], [["s"]], id="all of it"),
        pytest.param([1, None], None, id="all of what is shared already"),
    ],
)
def test_parts_of_a_shared_device(shares: list[int | None], expected: object) -> None:
    claims = [a_claim(a_request(share={} if share is None else {"mem": share})) for share in shares]

    assert names(find(a_place(a_pool(_shared())), *claims)) == expected


def test_a_share_is_asked_of_devices_that_are_not_shared_too() -> None:
    pool = a_pool(a_device("small", capacity={"mem": 4}), a_device("large", capacity={"mem": 8}))

    assert names(find(a_place(pool), a_claim(a_request(share={"mem": 6})))) == [["large"]]
    assert names(find(a_place(pool), a_claim(a_request(share={"cores": 1})))) is None


def test_counters_of_a_shared_device_are_taken_once() -> None:
    pool = a_pool(_shared(counters={"gpu": {"slices": 7}}), counters={"gpu": {"slices": 7}})
    claims = [a_claim(a_request(share={"mem": 1}))] * 3

    found = find(a_place(pool), *claims)

    assert isinstance(found, Found)
    assert [one.counted for given in found.given for one in given] == [True, False, False]


def test_a_policy_rounds_up_what_is_asked() -> None:
    policy = CapacityPolicy(default=1000, least=1000, most=8000, step=2000)
    capacity = {"mem": DeviceCapacity(name="mem", amount=10_000, policy=policy)}
    pool = a_pool(a_device("s", shared=True, capacity=capacity))

    found = find(a_place(pool), a_claim(a_request(share={"mem": 4})), a_claim())

    assert isinstance(found, Found)
    assert [one.part for given in found.given for one in given] == [{"mem": 5000}, {"mem": 1000}]


# Selectors.


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param('device.attributes["gpu.example.com"].model == "x"', "a", id="attribute"),
        pytest.param('device.attributes["other.org"].rack == 7', "b", id="another domain"),
        pytest.param(
            'device.attributes["gpu.example.com"].driver.isGreaterThan(semver("1.10.0"))',
            "b",
            id="version",
        ),
        pytest.param(
            'device.capacity["gpu.example.com"].mem.compareTo(quantity("16Gi")) >= 0',
            "b",
            id="capacity",
        ),
        pytest.param("device.allowMultipleAllocations", "b", id="shared"),
        pytest.param('has(device.attributes["other.org"].rack)', "b", id="domain unknown to one"),
        pytest.param('device.driver == "gpu.example.com"', "a", id="driver"),
        pytest.param("false", None, id="nothing"),
    ],
)
def test_selectors_see_the_device(selector: str, expected: str | None) -> None:
    first = a_device(
        "a",
        attributes={"model": "x", "driver": DeviceVersion(text="1.9.0"), "other.org/rack": 6},
        capacity={"mem": 8 * 2**30},
    )
    if "has" in selector:
        first = a_device("a")
    second = a_device(
        "b",
        attributes={"model": "y", "driver": DeviceVersion(text="1.11.0"), "other.org/rack": 7},
        capacity={"mem": 16 * 2**30},
        shared=True,
    )

    found = find(a_place(a_pool(first, second)), a_claim(a_request(selectors=(selector,))))

    assert names(found) == (None if expected is None else [[expected]])


@pytest.mark.parametrize(
    ("selector", "problem"),
    [
        pytest.param("device.", "is no CEL", id="syntax"),
        pytest.param("nothing == 1", "undeclared reference", id="unknown name"),
        pytest.param('device.attributes["d"].x == 1', "no such key", id="no such attribute"),
        pytest.param('"text"', "of type string", id="no truth value"),
    ],
)
def test_a_selector_without_an_answer_stops_the_search(selector: str, problem: str) -> None:
    found = find(a_place(TWO), a_claim(a_request(selectors=(selector,))))

    assert isinstance(found, NotFound)
    assert problem in found.problem


def test_a_selector_is_not_asked_of_devices_that_are_taken() -> None:
    pool = a_pool(a_device("a"), a_device("b", attributes={"x": 1}))
    taken = Ledger(whole={(DRIVER, "p", "a")})
    selector = 'device.attributes["gpu.example.com"].x == 1'

    found = find(a_place(pool, taken=taken), a_claim(a_request(selectors=(selector,))))

    assert names(found) == [["b"]]
