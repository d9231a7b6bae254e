"""Laws of device allocation, against a brute force that tries every assignment."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from libs.domain.device import Device, DeviceClaim, DeviceConstraint, DevicePool
from services.solver.core.devices.capacity import taken
from services.solver.core.devices.search import Found
from tests.support.builders import a_node, pods
from tests.unit.services.solver.core.asking import on_nodes
from tests.unit.services.solver.core.devices.planning import FEW, claiming, plan_with
from tests.unit.services.solver.core.devices.pools import (
    DRIVER,
    a_claim,
    a_device,
    a_place,
    a_pool,
    a_request,
    a_way,
    find,
)

SETTINGS = settings(max_examples=300, derandomize=True)
BUDGET = 3
CAPACITY = 4


@st.composite
def devices(draw: st.DrawFn, name: str) -> Device:
    fields: dict[str, Any] = {"attributes": {"numa": draw(st.integers(0, 1))}}
    if draw(st.booleans()):
        fields |= {"shared": True, "capacity": {"mem": CAPACITY}}
    if draw(st.booleans()):
        fields["counters"] = {"set": {"slots": draw(st.integers(1, 2))}}
    return a_device(name, **fields)


@st.composite
def device_pools(draw: st.DrawFn) -> DevicePool:
    count = draw(st.integers(0, 4))
    held = [draw(devices(f"d{index}")) for index in range(count)]
    return a_pool(*held, counters={"set": {"slots": BUDGET}})


@st.composite
def claims(draw: st.DrawFn) -> DeviceClaim:
    share = draw(st.sampled_from([{}, {"mem": 1}, {"mem": 3}]))
    count = draw(st.integers(1, 2))
    selectors = draw(st.sampled_from([(), ('device.attributes["gpu.example.com"].numa == 1',)]))
    ways = [a_way(count=count, share=share, selectors=selectors)]
    if draw(st.booleans()):
        ways = [replace(ways[0], name="first"), a_way(name="second")]
    numa = f"{DRIVER}/numa"
    constraints = draw(
        st.sampled_from(
            [
                (),
                (DeviceConstraint(match_attribute=numa),),
                (DeviceConstraint(distinct_attribute=numa),),
            ]
        )
    )
    return a_claim(a_request(*ways), constraints=constraints)


def _assignments(
    pool: DevicePool, claim: DeviceClaim
) -> Iterator[list[tuple[Device, dict[str, int] | None]]]:
    """Yield every set of devices that a claim could get if nobody else were there."""
    (request,) = claim.requests
    for way in request.alternatives:
        asked = {one.name: one.amount for one in way.capacity}
        fitting = []
        for device in pool.devices:
            part = taken(device, asked)
            wanted = not way.selectors or device.attributes[0].value == 1
            if part is not None and wanted:
                fitting.append((device, part if device.shared else None))
        for chosen in combinations(fitting, way.count):
            if _holds(claim, [device for device, _ in chosen]):
                yield list(chosen)


def _holds(claim: DeviceClaim, chosen: Sequence[Device]) -> bool:
    values = {device.attributes[0].value for device in chosen}
    for one in claim.constraints:
        if len(values) != (len(chosen) if one.distinct_attribute else 1):
            return False
    return True


def _possible(pool: DevicePool, wanted: Sequence[DeviceClaim]) -> bool:
    options = [list(_assignments(pool, claim)) for claim in wanted]
    return any(_is_sound(pool, [one for own in all_ for one in own]) for all_ in product(*options))


def _is_sound(pool: DevicePool, given_: Sequence[tuple[Device, dict[str, int] | None]]) -> bool:
    whole = Counter(device.name for device, part in given_ if part is None)
    if any(count > 1 for count in whole.values()):
        return False
    memory: Counter[str] = Counter()
    for device, part in given_:
        memory.update({device.name: (part or {}).get("mem", 0)})
    if any(amount > CAPACITY * 1000 for amount in memory.values()):
        return False
    used = {device.name: device for device, _ in given_}.values()
    slots = sum(use.amounts.get("slots") for device in used for use in device.counters)
    return slots <= BUDGET


@given(pool=device_pools(), wanted=st.lists(claims(), min_size=1, max_size=3))
@SETTINGS
def test_devices_are_found_exactly_where_there_are_some(
    pool: DevicePool, wanted: list[DeviceClaim]
) -> None:
    found = find(a_place(pool), *wanted)

    assert isinstance(found, Found) == _possible(pool, wanted)
    if isinstance(found, Found):
        chosen = [(one.candidate.device, one.part) for own in found.given for one in own]
        assert _is_sound(pool, chosen)


@given(
    counts=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    each=st.integers(1, 2),
    waiting=st.integers(1, 8),
)
@settings(max_examples=60, derandomize=True)
def test_nodes_never_get_more_pods_than_they_have_devices(
    counts: list[int], each: int, waiting: int
) -> None:
    nodes = [a_node(f"n{index}") for index in range(len(counts))]
    pools = [
        a_pool(
            *(a_device(f"gpu-{gpu}") for gpu in range(count)),
            pool=f"n{index}",
            node_name=f"n{index}",
        )
        for index, count in enumerate(counts)
    ]
    shape = claiming(a_claim(a_request(count=each)), cpu="100m")
    given_: dict[str, Any] = {"nodes": nodes, "shapes": [shape], "pods": pods(waiting), **FEW}

    plan = plan_with(*pools, **given_)

    assert sum(on_nodes(plan).values()) == min(waiting, sum(count // each for count in counts))
    for index, count in enumerate(counts):
        assert on_nodes(plan).get(f"n{index}", 0) * each <= count
    assert plan_with(*reversed(pools), **given_) == plan
