"""Room for volumes that are yet to be made: where drivers publish it, where they cannot have."""

from typing import Any

import pytest

from libs.domain.pod import StorageRoom
from libs.domain.requirements import Requirements
from libs.kube.convert.storage import PodClaim, Storage
from libs.kube.convert.volume import Resolved, resolve
from libs.kube.objects.decoding import from_document
from libs.kube.objects.storage import (
    CsiDriver,
    CsiStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from tests.unit.libs.kube.manifests import Document, metadata

DRIVER = "csi.example.com"
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
RACK = "example.com/rack"
GIB = 1 << 30


def _capacity(topology: Any, **amounts: Any) -> Document:
    return {"storageClassName": "late", "nodeTopology": topology, **amounts}


def _within(key: str, *values: str, operator: str = "In") -> Document:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def _claim(name: str = "data", size: str = "10Gi", **more: Any) -> PersistentVolumeClaim:
    requests = {"requests": {"storage": size}} if size else {}
    spec = {"storageClassName": "late", "resources": requests}
    document = {"metadata": metadata(name, "default", **more), "spec": spec}
    return from_document(document, PersistentVolumeClaim)


def _resolved(
    *capacities: Document,
    claims: tuple[PersistentVolumeClaim, ...] = (_claim(),),
    volumes: tuple[Document, ...] = (),
    tracked: bool | None = True,
    **more: Any,
) -> Resolved:
    given = {"provisioner": DRIVER, "volumeBindingMode": "WaitForFirstConsumer", **more}
    driver = {"metadata": metadata(DRIVER), "spec": {"storageCapacity": tracked}}
    storage = Storage(
        claims={("default", one.metadata.name): one for one in claims},
        volumes={
            ("", one["metadata"]["name"]): from_document(one, PersistentVolume) for one in volumes
        },
        classes={
            ("", "late"): from_document({"metadata": metadata("late"), **given}, StorageClass)
        },
        drivers={("", DRIVER): from_document(driver, CsiDriver)},
        capacities={
            ("storage", str(number)): from_document(one, CsiStorageCapacity)
            for number, one in enumerate(capacities)
        },
    )
    uses = [PodClaim(f"spec.volumes[{n}]", one.metadata.name) for n, one in enumerate(claims)]
    return resolve("default", uses, [], storage)


def _shown(places: tuple[Requirements, ...]) -> str:
    return " or ".join(", ".join(map(str, one)) or "anywhere" for one in places) or "nowhere"


def _rooms(found: Resolved) -> list[tuple[str, str]]:
    assert found.problem is None
    return [(_shown(one.published), _shown(one.starting)) for one in found.volumes.rooms]


@pytest.mark.parametrize(
    ("capacities", "published", "starting"),
    [
        pytest.param((), "nowhere", "anywhere", id="nothing is published"),
        pytest.param(
            (_capacity({}, capacity="9Gi"),), "nowhere", "nowhere", id="too little everywhere"
        ),
        pytest.param(
            (_capacity(None, capacity="99Gi"),), "nowhere", "anywhere", id="within nobody's reach"
        ),
        pytest.param(
            (_capacity(_within(ZONE, "a"), capacity="10Gi"),),
            f"{ZONE} In [a]",
            "anywhere",
            id="just enough in a zone",
        ),
        pytest.param(
            (_capacity({"matchLabels": {OLD_ZONE: "a"}}, capacity="1Gi"),),
            "nowhere",
            f"{ZONE} NotIn [a]",
            id="too little in a zone by its old name",
        ),
        pytest.param(
            (
                _capacity(_within(HOST, "n1"), capacity="1Gi"),
                _capacity(_within(HOST, "n2"), capacity="1Gi"),
                _capacity(_within(HOST, "n3"), capacity="20Gi"),
                _capacity(_within(HOST, "n4"), capacity="30Gi"),
            ),
            f"{HOST} In [n3 n4]",
            f"{HOST} NotIn [n1 n2]",
            id="hosts",
        ),
        pytest.param(
            (
                _capacity({"matchLabels": {ZONE: "a", RACK: "r1"}}, capacity="1Gi"),
                _capacity({"matchLabels": {ZONE: "b", RACK: "r1"}}, capacity="1Gi"),
            ),
            "nowhere",
            f"{RACK} NotIn [r1] or {ZONE} NotIn [a b]",
            id="too little by two labels",
        ),
        pytest.param(
            (_capacity(_within(ZONE, operator="Exists"), capacity="1Gi"),),
            "nowhere",
            f"{ZONE} DoesNotExist",
            id="too little wherever there are zones",
        ),
        pytest.param(
            (_capacity(_within(ZONE, "a"), capacity="99Gi", maximumVolumeSize="1Gi"),),
            "nowhere",
            f"{ZONE} NotIn [a]",
            id="only small volumes",
        ),
        pytest.param(
            (_capacity(_within(ZONE, "a")),), "nowhere", f"{ZONE} NotIn [a]", id="no amount"
        ),
        pytest.param(
            (_capacity(_within(ZONE, "a", operator="Near"), capacity="99Gi"),),
            "nowhere",
            "anywhere",
            id="illegible",
        ),
        pytest.param(
            ({**_capacity({}, capacity="99Gi"), "storageClassName": "other"},),
            "nowhere",
            "anywhere",
            id="of another class",
        ),
    ],
)
def test_room_is_where_enough_is_published(
    capacities: tuple[Document, ...], published: str, starting: str
) -> None:
    assert _rooms(_resolved(*capacities)) == [(published, starting)]


def test_room_names_what_it_is_for() -> None:
    claims = (_claim("small", "1Gi"), _claim("large", "10Gi"))

    found = _resolved(claims=claims).volumes.rooms

    asked = [(one.storage_class, one.size) for one in found]
    assert asked == [("late", GIB), ("late", 10 * GIB)]


@pytest.mark.parametrize(
    ("capacities", "more"),
    [
        pytest.param((), {"tracked": False}, id="the driver publishes nothing"),
        pytest.param((), {"tracked": None}, id="the driver does not say whether it does"),
        pytest.param((), {"provisioner": "other.example.com"}, id="no such driver"),
        pytest.param((), {"claims": (_claim(size=""),)}, id="the claim asks for no size"),
        pytest.param((_capacity({}, capacity="10Gi"),), {}, id="there is room everywhere"),
    ],
)
def test_nothing_is_said_where_room_does_not_matter(
    capacities: tuple[Document, ...], more: dict[str, Any]
) -> None:
    assert _resolved(*capacities, **more).volumes.rooms == ()


def test_room_counts_only_where_the_class_makes_volumes() -> None:
    zones = {"key": ZONE, "values": ["a", "b"]}
    capacities = (
        _capacity(_within(ZONE, "b", "c"), capacity="99Gi"),
        _capacity(_within(ZONE, "a"), capacity="1Gi"),
    )

    found = _resolved(*capacities, allowedTopologies=[{"matchLabelExpressions": [zones]}])

    assert _rooms(found) == [(f"{ZONE} In [b]", f"{ZONE} In [b]")]
    assert [_shown(one) for one in found.volumes.topology] == [f"{ZONE} In [a b]"]


def test_a_node_that_was_chosen_still_has_to_have_room() -> None:
    chosen = _claim(annotations={"volume.kubernetes.io/selected-node": "n1"})

    found = _resolved(_capacity(_within(ZONE, "a"), capacity="99Gi"), claims=(chosen,))

    assert _rooms(found) == [(f"{HOST} In [n1], {ZONE} In [a]", f"{HOST} In [n1]")]


def test_a_volume_that_is_there_needs_no_room() -> None:
    required = {"nodeSelectorTerms": [_within(ZONE, "c")]}
    free = {
        "metadata": metadata("free"),
        "status": {"phase": "Available"},
        "spec": {
            "storageClassName": "late",
            "capacity": {"storage": "10Gi"},
            "nodeAffinity": {"required": required},
        },
    }

    found = _resolved(_capacity({}, capacity="1Gi"), volumes=(free,))

    assert _rooms(found) == [(f"{ZONE} In [c]", f"{ZONE} In [c]")]


def test_claims_that_compete_for_a_volume_need_room_for_the_other_one() -> None:
    free = {
        "metadata": metadata("free"),
        "status": {"phase": "Available"},
        "spec": {
            "storageClassName": "late",
            "capacity": {"storage": "10Gi"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [_within(ZONE, "a", "b")]}},
        },
    }
    claims = (_claim("one", "8Gi"), _claim("two", "9Gi"))

    found = _resolved(_capacity(_within(ZONE, "a"), capacity="9Gi"), claims=claims, volumes=(free,))

    assert [(one.storage_class, one.size) for one in found.volumes.rooms] == [("late", 9 * GIB)]
    assert _rooms(found)[0][0] == f"{ZONE} In [a]"


def test_rooms_of_equal_claims_are_equal() -> None:
    capacity = _capacity(_within(HOST, "n1"), capacity="1Gi")

    (one,), (other,) = _resolved(capacity).volumes.rooms, _resolved(capacity).volumes.rooms

    assert one == other
    assert isinstance(one, StorageRoom)
