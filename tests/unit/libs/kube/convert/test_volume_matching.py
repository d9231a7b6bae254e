"""Claims that wait for their pod: which volumes they may take, alone and with others."""

from typing import Any

import pytest

from libs.domain.requirements import Requirements
from libs.kube.convert.storage import PodClaim, Storage
from libs.kube.convert.volume import Resolved, resolve
from libs.kube.objects.decoding import from_document
from libs.kube.objects.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from tests.unit.libs.kube.manifests import Document, metadata

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
READY = {"phase": "Available"}


def _claim(name: str = "data", size: str = "5Gi", **more: Any) -> Document:
    meta = metadata(name, "default", **more.pop("meta", {}))
    requests = {"storage": size}
    spec = {"storageClassName": "c", "accessModes": ["ReadWriteOnce"], **more}
    return {"metadata": meta, "spec": {**spec, "resources": {"requests": requests}}}


def _volume(name: str, *values: str, key: str = HOST, size: str = "5Gi", **more: Any) -> Document:
    """Return a volume that can be used where the label has one of these values."""
    expression = {"key": key, "operator": "In", "values": list(values)}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {
        "metadata": metadata(name, **more.pop("meta", {})),
        "status": more.pop("status", READY),
        "spec": {
            "storageClassName": "c",
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": size},
            "local": {"path": "/disk"},
            **({"nodeAffinity": {"required": required}} if values else {}),
            **more,
        },
    }


def _resolved(
    claims: list[Document], volumes: list[Document], provisioner: str = "", **more: Any
) -> Resolved:
    given = {"provisioner": provisioner or "kubernetes.io/no-provisioner", **more}
    storage_class = {
        "metadata": metadata("c"),
        "volumeBindingMode": "WaitForFirstConsumer",
        **given,
    }
    storage = Storage(
        claims={
            ("default", one["metadata"]["name"]): from_document(one, PersistentVolumeClaim)
            for one in claims
        },
        volumes={
            ("", one["metadata"]["name"]): from_document(one, PersistentVolume) for one in volumes
        },
        classes={("", "c"): from_document(storage_class, StorageClass)},
    )
    uses = [
        PodClaim(f"spec.volumes[{index}]", one["metadata"]["name"])
        for index, one in enumerate(claims)
    ]
    return resolve("default", uses, [], storage)


def _places(found: Resolved) -> list[str]:
    assert found.problem is None
    return [" or ".join(map(_shown, places)) for places in found.volumes.topology]


def _shown(place: Requirements) -> str:
    return ", ".join(map(str, place))


def test_volumes_of_many_hosts_are_one_place() -> None:
    found = _resolved([_claim()], [_volume(f"v{n}", f"n{n}") for n in range(3)])

    assert _places(found) == [f"{HOST} In [n0 n1 n2]"]


@pytest.mark.parametrize(
    ("claim", "volume"),
    [
        pytest.param({}, {"status": {"phase": "Released"}}, id="not available"),
        pytest.param({}, {"accessModes": ["ReadOnlyMany"]}, id="access mode"),
        pytest.param({}, {"size": "4Gi"}, id="too small"),
        pytest.param({}, {"volumeMode": "Block"}, id="volume mode"),
        pytest.param({}, {"volumeAttributesClassName": "fast"}, id="attributes class"),
        pytest.param({}, {"meta": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, id="deleting"),
        pytest.param({}, {"storageClassName": "other"}, id="class"),
        pytest.param({"selector": {"matchLabels": {"disk": "ssd"}}}, {}, id="selector"),
        pytest.param({}, {"claimRef": {"namespace": "default", "name": "other"}}, id="kept"),
        pytest.param(
            {"meta": {"uid": "new"}},
            {"claimRef": {"namespace": "default", "name": "data", "uid": "old"}},
            id="kept for an earlier claim of that name",
        ),
    ],
)
def test_a_claim_does_not_take(claim: Document, volume: Document) -> None:
    found = _resolved([_claim(**claim)], [_volume("good", "n1", **volume), _volume("v", "n2")])

    if claim.get("selector"):
        assert found.problem is not None
    else:
        assert _places(found) == [f"{HOST} In [n2]"]


def test_a_volume_that_is_kept_for_the_claim_comes_before_all_others() -> None:
    kept = {"namespace": "default", "name": "data"}
    mine = _volume("mine", "n1", claimRef=kept, accessModes=[], status={"phase": "Released"})

    found = _resolved([_claim()], [_volume("free", "n2"), mine])

    assert _places(found) == [f"{HOST} In [n1]"]


def test_where_no_volume_is_the_class_makes_one() -> None:
    topologies = [{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}]

    found = _resolved(
        [_claim()], [_volume("v", "n1")], "ebs.csi.aws.com", allowedTopologies=topologies
    )

    assert _places(found) == [f"{HOST} In [n1] or {ZONE} In [a]"]


def test_a_claim_with_a_chosen_node_gets_its_volume_there() -> None:
    chosen = _claim(meta={"annotations": {"volume.kubernetes.io/selected-node": "n2"}})

    found = _resolved([chosen], [_volume("v", "n1")], "ebs.csi.aws.com")

    assert _places(found) == [f"{HOST} In [n2]"]


def test_two_claims_need_two_volumes_in_one_place() -> None:
    volumes = [_volume("a", "n1"), _volume("b", "n2"), _volume("c", "n2")]

    found = _resolved([_claim("one"), _claim("two")], volumes)

    assert _places(found) == [f"{HOST} In [n2]"]


def test_disks_of_many_hosts_are_counted_by_host() -> None:
    hosts = range(40)
    volumes = [_volume(f"v{n}-{disk}", f"n{n}") for n in hosts for disk in range(1 + (n == 7))]

    assert _places(_resolved([_claim("one"), _claim("two")], volumes)) == [f"{HOST} In [n7]"]
    everywhere = _volume("shared")
    found = _resolved([_claim("one"), _claim("two")], [*volumes, everywhere])
    assert found.problem is None
    (places,) = found.volumes.topology
    assert all(any(place.allows({HOST: f"n{n}"}) for place in places) for n in hosts)


def test_an_illegible_volume_is_left_out_and_no_other_one() -> None:
    broken = _volume("broken", "n1")
    term = broken["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]
    term["matchExpressions"][0]["operator"] = "Near"

    assert _places(_resolved([_claim()], [broken, _volume("v", "n2")])) == [f"{HOST} In [n2]"]


def test_places_of_two_volumes_may_overlap() -> None:
    volumes = [_volume("a", "n1", "n2"), _volume("b", "zone-a", key=ZONE)]

    found = _resolved([_claim("one"), _claim("two")], volumes)

    assert _places(found) == [f"{HOST} In [n1 n2], {ZONE} In [zone-a]"]


def test_the_smaller_claim_chooses_the_smaller_volume_first() -> None:
    volumes = [_volume("large", "n1", size="20Gi"), _volume("small", "n1", size="5Gi")]

    found = _resolved([_claim("huge", "20Gi"), _claim("tiny", "1Gi")], volumes)

    assert _places(found) == [f"{HOST} In [n1]"]


def test_claims_that_compete_for_too_few_volumes_say_so() -> None:
    found = _resolved([_claim("one"), _claim("two")], [_volume("v", "n1")])

    assert found.problem is not None
    assert str(found.problem) == (
        'spec.volumes: persistentvolumeclaims "one", "two" compete for volumes; '
        "no place has one for each"
    )


def test_claims_that_compete_for_nothing_are_independent() -> None:
    volumes = [_volume(n, f"n-{n}", "n2", meta={"labels": {"disk": n}}) for n in ("a", "b")]
    claims = [_claim(n, selector={"matchLabels": {"disk": n}}) for n in ("a", "b")]

    assert _places(_resolved(claims, volumes)) == [f"{HOST} In [n-a n2]", f"{HOST} In [n-b n2]"]
