"""Which volumes are alike, and what claims may take of them."""

from typing import Any

import pytest

from libs.domain.requirements import ANYTHING
from libs.domain.volume import VolumeKind, VolumePlace
from libs.kube.convert.storage import PodClaim, Storage
from libs.kube.convert.volume import resolve
from libs.kube.objects.decoding import from_document
from libs.kube.objects.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from tests.support.builders import require
from tests.unit.libs.kube.manifests import Document, metadata

ZONE = "topology.kubernetes.io/zone"
ZONE_A = require((ZONE, "In", ["zone-a"]))
KIND = "c 1073741824 ReadWriteOnce Filesystem"


def _volume(name: str, *zones: str, size: str = "1Gi", **more: Any) -> Document:
    expression = {"key": ZONE, "operator": "In", "values": list(zones)}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {
        "metadata": metadata(name, **more.pop("meta", {})),
        "spec": {
            "storageClassName": "c",
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": size},
            **({"nodeAffinity": {"required": required}} if zones else {}),
            **more,
        },
        "status": {"phase": "Available"},
    }


def _claim(name: str, size: str = "1Gi") -> Document:
    requests = {"requests": {"storage": size}}
    spec = {"storageClassName": "c", "accessModes": ["ReadWriteOnce"], "resources": requests}
    return {"metadata": metadata(name, "shop"), "spec": spec}


def _storage(volumes: list[Document], *claims: Document, provisioner: str = "") -> Storage:
    given = {"metadata": metadata("c"), "volumeBindingMode": "WaitForFirstConsumer"}
    given["provisioner"] = provisioner or "kubernetes.io/no-provisioner"
    return Storage(
        claims={
            ("shop", one["metadata"]["name"]): from_document(one, PersistentVolumeClaim)
            for one in claims
        },
        volumes={
            ("", one["metadata"]["name"]): from_document(one, PersistentVolume) for one in volumes
        },
        classes={("", "c"): from_document(given, StorageClass)},
    )


def _places(*places: VolumePlace, key: str = KIND) -> tuple[VolumeKind, ...]:
    return (VolumeKind(key=key, places=places),)


@pytest.mark.parametrize(
    ("volumes", "kinds"),
    [
        pytest.param(
            [_volume("v1"), _volume("v2")],
            _places(VolumePlace(rank=0, count=2, terms=(ANYTHING,))),
            id="alike",
        ),
        pytest.param(
            [_volume("v1", "zone-a"), _volume("v2"), _volume("v3", "zone-a")],
            _places(
                VolumePlace(rank=0, count=1, terms=(ZONE_A,)),
                VolumePlace(rank=1, count=1, terms=(ANYTHING,)),
                VolumePlace(rank=2, count=1, terms=(ZONE_A,)),
            ),
            id="by name among equals, wherever they are",
        ),
        pytest.param(
            [_volume("v1", claimRef={"namespace": "shop", "name": "c1"})],
            _places(
                VolumePlace(rank=0, count=1, terms=(ANYTHING,)), key=f"{KIND} kept for shop/c1"
            ),
            id="kept for a claim that waits",
        ),
        pytest.param(
            [_volume("v1", claimRef={"namespace": "shop", "name": "other"})],
            (),
            id="kept for a claim that there is not",
        ),
        pytest.param(
            [_volume("v1", meta={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
            (),
            id="being deleted",
        ),
    ],
)
def test_volumes_are_counted_by_kind(
    volumes: list[Document], kinds: tuple[VolumeKind, ...]
) -> None:
    assert _storage(volumes, _claim("c1")).kinds.all == kinds


def test_among_equals_the_name_ranks_whatever_the_kind() -> None:
    gold = {"labels": {"tier": "gold"}}

    plain, golden = _storage([_volume("v1"), _volume("v2", meta=gold), _volume("v3")]).kinds.all

    assert [one.rank for one in plain.places] == [0, 2]
    assert [one.rank for one in golden.places] == [1]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"size": "2Gi"}, id="size"),
        pytest.param({"accessModes": ["ReadWriteMany"]}, id="access modes"),
        pytest.param({"volumeMode": "Block"}, id="mode"),
        pytest.param({"storageClassName": "d"}, id="class"),
        pytest.param({"volumeAttributesClassName": "gold"}, id="attributes class"),
        pytest.param({"meta": {"labels": {"tier": "gold"}}}, id="labels"),
    ],
)
def test_what_a_claim_can_tell_apart_is_of_two_kinds(other: dict[str, Any]) -> None:
    assert len(_storage([_volume("v1"), _volume("v2", **other)]).kinds.all) == 2


def test_claims_name_the_kinds_that_they_may_take_in_the_order_in_which_they_choose() -> None:
    claims = [_claim("large", "5Gi"), _claim("small")]
    storage = _storage([_volume("v1", size="9Gi"), _volume("v2")], *claims)
    uses = [PodClaim("spec.volumes[0]", "large"), PodClaim("spec.volumes[1]", "small")]

    small, large = resolve("shop", uses, [], storage, frozenset({"shop/small"})).volumes.unbound

    big = "c 9663676416 ReadWriteOnce Filesystem"
    assert (small.claim, small.kinds) == ("shop/small", (KIND, big))
    assert (large.claim, large.kinds) == ("", (big,))


def test_a_claim_for_which_there_is_no_volume_competes_for_none() -> None:
    storage = _storage([], _claim("c1"), provisioner="csi.example.com")

    found = resolve("shop", [PodClaim("spec.volumes[0]", "c1")], [], storage)

    assert found.problem is None
    assert found.volumes.unbound == ()
