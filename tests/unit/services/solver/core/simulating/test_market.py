"""Pools, overlays and offerings that are otherwise than now."""

from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.capacity import InstanceType
from libs.domain.errors import InvalidRequest
from libs.domain.requirements import ANYTHING
from libs.domain.resources import NOTHING
from libs.domain.scenario import (
    Edit,
    EditOfferings,
    PutNodePool,
    PutOverlay,
    RemoveNodePool,
    RemoveOverlay,
)
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.workload import NodeOverlay, SetAside
from services.solver.core.simulating.edited import edited
from tests.support.builders import (
    NOW,
    a_node,
    a_nodeclaim,
    a_pod,
    a_pool,
    a_snapshot,
    amounts,
    require,
)

OVERLAY = NodeOverlay(
    name="cheap", uid="u", requirements=ANYTHING, price_delta_ppm=-1, capacity=NOTHING
)


def sold(snapshot: ClusterSnapshot) -> set[tuple[str, str, str]]:
    """Return what can be bought."""
    return {
        (kind.name, one.zone, one.capacity_type)
        for catalogue in snapshot.catalogues.values()
        for kind in catalogue.instance_types
        for one in kind.offerings
        if one.available
    }


def test_a_pool_is_put_and_removed_with_its_nodes() -> None:
    snapshot = a_snapshot(
        pods=[a_pod(node="node-1")],
        nodes=[a_node("node-1", nodeclaim="mine"), a_node("node-2")],
        nodeclaims=[
            a_nodeclaim("mine"),
            a_nodeclaim("flying"),
            a_nodeclaim("other", nodepool="other"),
        ],
    )

    put = edited(snapshot, [PutNodePool(nodepool=a_pool("new"))])
    removed = edited(snapshot, [RemoveNodePool(name="default")])

    assert list(put.nodepools) == ["default", "new"]
    assert list(removed.nodepools) == []
    assert (list(removed.nodes), list(removed.nodeclaims)) == (["node-2"], ["other"])
    assert [row.node for row in removed.pods.rows()] == [""]


def test_an_overlay_is_put_and_removed() -> None:
    aside = SetAside(kind="NodeOverlay", name="cheap", message="is wrong", since=NOW)
    snapshot = a_snapshot(set_aside=[aside])

    put = edited(snapshot, [PutOverlay(overlay=OVERLAY)])

    assert (list(put.overlays), list(put.set_aside)) == (["cheap"], [])
    assert list(edited(put, [RemoveOverlay(name="cheap")]).overlays) == []


@pytest.mark.parametrize(
    "field",
    [
        pytest.param({"zone": "zone-b"}, id="zone"),
        pytest.param({"capacity_type": "spot"}, id="capacity type"),
        pytest.param({"instance_type": "m-4"}, id="instance type"),
        pytest.param({"zone": "zone-a", "instance_type": "m-8"}, id="type in a zone"),
        pytest.param({}, id="everything"),
    ],
)
def test_what_is_gone_cannot_be_bought_until_it_is_back(field: dict[str, Any]) -> None:
    snapshot = a_snapshot()
    wanted = tuple(field.get(key) for key in ("instance_type", "zone", "capacity_type"))
    matching = {
        one
        for one in sold(snapshot)
        if all(asked in (None, own) for asked, own in zip(wanted, one, strict=True))
    }
    gone = EditOfferings(**field, available=False)
    back = EditOfferings(**field, available=True)

    after = edited(snapshot, [gone])

    assert matching
    assert sold(after) == sold(snapshot) - matching
    assert edited(after, [back]) == snapshot


@pytest.mark.parametrize(
    ("edit", "left"),
    [
        pytest.param(EditOfferings(zone="zone-a", available=False), ["b-spot"], id="zone"),
        pytest.param(EditOfferings(capacity_type="spot", available=False), ["a"], id="spot"),
        pytest.param(
            EditOfferings(zone="zone-b", capacity_type="on-demand", available=False),
            ["a", "b-spot"],
            id="neither",
        ),
        pytest.param(EditOfferings(available=False), [], id="everything"),
        pytest.param(EditOfferings(zone="zone-a", price_delta_ppm=9), ["a", "b-spot"], id="price"),
        pytest.param(EditOfferings(zone="zone-a", available=True), ["a", "b-spot"], id="back"),
    ],
)
def test_nodes_go_with_their_offering(edit: EditOfferings, left: list[str]) -> None:
    spot = {label_keys.ZONE: "zone-b", label_keys.CAPACITY_TYPE: "spot"}
    snapshot = a_snapshot(nodes=[a_node("a"), a_node("b-spot", labels=spot)])

    assert list(edited(snapshot, [edit]).nodes) == left


def test_a_claim_in_flight_goes_if_it_could_become_nothing_else() -> None:
    zones = [("only-a", ["zone-a"]), ("a-or-b", ["zone-a", "zone-b"]), ("only-c", ["zone-c"])]
    launched = a_nodeclaim("launched", labels={label_keys.ZONE: "zone-b"}, capacity=amounts(cpu=4))
    snapshot = a_snapshot(
        nodeclaims=[
            launched,
            *(
                a_nodeclaim(name, requirements=require((label_keys.ZONE, "In", listed)))
                for name, listed in zones
            ),
        ]
    )
    without = [EditOfferings(zone=zone, available=False) for zone in ("zone-a", "zone-b")]

    assert list(edited(snapshot, without[:1]).nodeclaims) == ["a-or-b", "launched", "only-c"]
    assert list(edited(snapshot, without).nodeclaims) == ["only-c"]


@pytest.mark.parametrize(
    ("ppm", "price"),
    [
        pytest.param(100_000, 110_000_000, id="a tenth dearer"),
        pytest.param(-500_000, 50_000_000, id="half"),
        pytest.param(-2_000_000, 0, id="never below nothing"),
        pytest.param(2**62, 10**15, id="never above a million dollars"),
    ],
)
def test_a_price_is_changed_by_millionths(ppm: int, price: int) -> None:
    edit = EditOfferings(
        instance_type="m-2", zone="zone-a", capacity_type="on-demand", price_delta_ppm=ppm
    )

    after = edited(a_snapshot(), [edit])

    before = {one for kind in _kinds(a_snapshot()) for one in kind.offerings}
    changed = [one for kind in _kinds(after) for one in kind.offerings if one not in before]
    assert [one.price_nanos_per_hour for one in changed] == [price]


def _kinds(snapshot: ClusterSnapshot) -> list[InstanceType]:
    return [kind for one in snapshot.catalogues.values() for kind in one.instance_types]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        pytest.param(
            RemoveNodePool(name="defalt"),
            'remove_nodepool: there is no nodepool "defalt"; perhaps "default"',
            id="pool",
        ),
        pytest.param(
            RemoveOverlay(name="x"), 'remove_overlay: there is no overlay "x"', id="overlay"
        ),
        pytest.param(
            EditOfferings(zone="west", available=False),
            'offerings.zone: there is no zone "west"; there is "zone-a", "zone-b", "zone-c"',
            id="zone",
        ),
        pytest.param(
            EditOfferings(capacity_type="spott", price_delta_ppm=1),
            'offerings.capacity_type: there is no capacity type "spott"; perhaps "spot"',
            id="capacity type",
        ),
        pytest.param(
            EditOfferings(instance_type="m-32", available=True),
            'offerings.instance_type: there is no instance type "m-32"; perhaps "m-2"',
            id="instance type",
        ),
    ],
)
def test_what_is_not_there_is_named(edit: Edit, message: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        edited(a_snapshot(), [edit])

    assert str(refused.value) == f"edits[0].{message}"
