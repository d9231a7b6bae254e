from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.domain.pod import SharedVolume, VolumeAttachCount
from libs.domain.requirements import Requirements
from libs.kube.convert.storage import PodClaim, Storage
from libs.kube.convert.volume import PodVolumes, resolve
from libs.kube.objects.decoding import from_document
from libs.kube.objects.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from tests.unit.libs.kube.manifests import Document, metadata

ZONE = "topology.kubernetes.io/zone"
NO_PLACE = "topology.kubernetes.io/region DoesNotExist, topology.kubernetes.io/zone DoesNotExist"
"""Nodes that say nothing of zone and region are taken to reach every volume."""
BOUND = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}


def _claim(*, meta: Document | None = None, phase: str = "Pending", **spec: Any) -> Document:
    given = {"storageClassName": "gp3", **spec}
    return {
        "metadata": metadata("data", "default", **(meta or {})),
        "spec": given,
        "status": {"phase": phase},
    }


def _bound(**more: Any) -> Document:
    return _claim(meta=BOUND, volumeName="pv", **more)


def _volume(*terms: list[Document], meta: Document | None = None, **spec: Any) -> Document:
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": one} for one in terms]}}
    given = {"nodeAffinity": affinity, **spec} if terms else spec
    return {"metadata": metadata("pv", **(meta or {})), "spec": given}


def _class(**more: Any) -> Document:
    given = {"provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer", **more}
    return {"metadata": metadata("gp3", **given.pop("meta", {})), **given}


def _in(key: str, *values: str) -> Document:
    return {"key": key, "operator": "In", "values": list(values)}


def _resolved(
    claim: Document | None, volume: Document | None = None, storage_class: Document | None = None
) -> PodVolumes:
    storage = Storage(
        claims={}
        if claim is None
        else {("default", "data"): from_document(claim, PersistentVolumeClaim)},
        volumes={} if volume is None else {("", "pv"): from_document(volume, PersistentVolume)},
        classes={}
        if storage_class is None
        else {("", "gp3"): from_document(storage_class, StorageClass)},
    )
    found = resolve("default", [PodClaim("spec.volumes[0]", "data")], [], storage)
    if found.problem is not None:
        raise found.problem
    return found.volumes


def _shown(requirements: Requirements) -> str:
    return ", ".join(str(one) for one in requirements)


@pytest.mark.parametrize(
    ("claim", "volume", "storage_class", "topology"),
    [
        pytest.param(
            _bound(),
            _volume([_in(ZONE, "a")], [_in(ZONE, "b")]),
            None,
            [[f"{ZONE} In [a b]"]],
            id="terms of a bound volume are alternatives",
        ),
        pytest.param(_bound(), _volume(), None, [], id="a volume that works everywhere"),
        pytest.param(
            _bound(),
            _volume(meta={"labels": {"failure-domain.beta.kubernetes.io/zone": "a__b"}}),
            None,
            [[NO_PLACE, f"{ZONE} In [a b]"]],
            id="legacy zone label with two zones",
        ),
        pytest.param(
            _bound(),
            _volume(meta={"labels": {ZONE: "a__"}}),
            None,
            [],
            id="a zone label with an empty zone is ignored",
        ),
        pytest.param(
            _bound(),
            _volume(meta={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
            None,
            [],
            id="a volume that is going",
        ),
        pytest.param(
            _bound(),
            {
                "metadata": metadata("pv"),
                "spec": {
                    "nodeAffinity": {
                        "required": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [_in("disk", "ssd")],
                                    "matchFields": [_in("metadata.name", "n1")],
                                }
                            ]
                        }
                    }
                },
            },
            None,
            [["disk In [ssd]"]],
            id="a node's name says nothing",
        ),
        pytest.param(
            _bound(),
            _volume([_in("disk", "ssd")], meta={"labels": {ZONE: "a"}}),
            None,
            [[f"disk In [ssd], {NO_PLACE}", f"disk In [ssd], {ZONE} In [a]"]],
            id="label and affinity both hold",
        ),
        pytest.param(
            _bound(),
            _volume([_in("kubernetes.io/hostname", "n1")], local={"path": "/x"}),
            None,
            [["kubernetes.io/hostname In [n1]"]],
            id="a local volume stays on its host",
        ),
        pytest.param(_claim(), None, _class(), [], id="unbound, provisioned anywhere"),
        pytest.param(
            _claim(),
            None,
            _class(
                allowedTopologies=[
                    {"matchLabelExpressions": [{"key": ZONE, "values": ["a", "b"]}]},
                    {"matchLabelExpressions": [{"key": "rack", "values": ["c"]}]},
                    {},
                ]
            ),
            [["rack In [c]", f"{ZONE} In [a b]"]],
            id="allowed topologies are alternatives",
        ),
        pytest.param(
            _claim(storageClassName=None),
            None,
            _class(meta={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}),
            [],
            id="the default class",
        ),
        pytest.param(
            _claim(),
            _volume([_in(ZONE, "a")], storageClassName="gp3"),
            _class(provisioner="kubernetes.io/no-provisioner"),
            [[f"{ZONE} In [a]"]],
            id="a class without provisioner binds volumes that exist",
        ),
    ],
)
def test_where_a_claim_can_be_used(
    claim: Document,
    volume: Document | None,
    storage_class: Document | None,
    topology: list[list[str]],
) -> None:
    found = _resolved(claim, volume, storage_class).topology

    assert [[_shown(one) for one in alternatives] for alternatives in found] == topology


@pytest.mark.parametrize(
    ("claim", "volume", "storage_class", "message"),
    [
        pytest.param(None, None, None, "does not exist", id="no claim"),
        pytest.param(
            _claim(meta={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
            None,
            _class(),
            "is being deleted",
            id="claim deleting",
        ),
        pytest.param(
            _bound(phase="Lost"), None, None, "is lost: bound to non-existent", id="claim lost"
        ),
        pytest.param(
            _bound(), None, None, 'bound to non-existent persistentvolume "pv"', id="no volume"
        ),
        pytest.param(
            _claim(volumeName="pv"),
            _volume(),
            _class(),
            "not yet bound",
            id="binding not completed",
        ),
        pytest.param(_claim(), None, None, 'storageclass "gp3" .* does not exist', id="no class"),
        pytest.param(
            _claim(storageClassName=""), None, _class(), "no storage class", id="class ''"
        ),
        pytest.param(
            _claim(storageClassName=None), None, _class(), "none is the default", id="no default"
        ),
        pytest.param(
            _claim(),
            None,
            _class(volumeBindingMode="Immediate"),
            "binds before pods are placed",
            id="immediate",
        ),
        pytest.param(
            _claim(),
            None,
            _class(volumeBindingMode="Whenever"),
            "volumeBindingMode 'Whenever'",
            id="a mode that there is not",
        ),
        pytest.param(
            _claim(),
            None,
            _class(allowedTopologies=[{}]),
            "makes them on no node, and there is no free one",
            id="topologies that are nowhere",
        ),
        pytest.param(
            _claim(),
            _volume([_in(ZONE, "a")], storageClassName="other"),
            _class(provisioner="kubernetes.io/no-provisioner"),
            "makes none, and there is no free one",
            id="no volume of the class",
        ),
        pytest.param(
            _claim(resources={"requests": {"storage": "2Gi"}}),
            _volume([_in(ZONE, "a")], storageClassName="gp3", capacity={"storage": "1Gi"}),
            _class(provisioner="kubernetes.io/no-provisioner"),
            "none of its 1 free ones suits 2Gi Filesystem: 1 too small",
            id="volume too small",
        ),
        pytest.param(
            _claim(accessModes=["ReadWriteMany"]),
            _volume(storageClassName="gp3", accessModes=["ReadWriteOnce"]),
            _class(provisioner="kubernetes.io/no-provisioner"),
            "suits 0 Filesystem ReadWriteMany: 1 without its access modes",
            id="another access mode",
        ),
        pytest.param(
            _claim(volumeMode="Block"),
            _volume(storageClassName="gp3"),
            _class(provisioner="kubernetes.io/no-provisioner"),
            "suits 0 Block: 1 of another mode",
            id="another volume mode",
        ),
        pytest.param(
            _claim(selector={"matchLabels": {"tier": "gold"}}),
            _volume(storageClassName="gp3"),
            _class(provisioner="kubernetes.io/no-provisioner"),
            "1 not selected",
            id="a selector",
        ),
        pytest.param(
            _claim(),
            _volume(storageClassName="gp3", claimRef={"namespace": "default", "name": "other"}),
            _class(provisioner="kubernetes.io/no-provisioner"),
            "makes none, and there is no free one of it",
            id="volume kept for another claim",
        ),
    ],
)
def test_a_claim_that_cannot_be_used_says_why(
    claim: Document | None, volume: Document | None, storage_class: Document | None, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message) as caught:
        _resolved(claim, volume, storage_class)

    assert caught.value.field == "spec.volumes[0]"


@pytest.mark.parametrize(
    ("claim", "volume", "storage_class", "driver"),
    [
        pytest.param(_bound(), _volume(csi={"driver": "d"}), None, "d", id="bound, CSI"),
        pytest.param(
            _bound(),
            _volume(awsElasticBlockStore={"volumeID": "v"}),
            None,
            "ebs.csi.aws.com",
            id="bound, in tree",
        ),
        pytest.param(
            _claim(),
            None,
            _class(provisioner="kubernetes.io/gce-pd"),
            "pd.csi.storage.gke.io",
            id="unbound, in tree",
        ),
        pytest.param(_claim(), None, _class(provisioner="p"), "p", id="unbound, CSI"),
        pytest.param(_bound(), _volume(nfs={}), None, "", id="nothing to attach"),
    ],
)
def test_volumes_are_counted_per_driver(
    claim: Document, volume: Document | None, storage_class: Document | None, driver: str
) -> None:
    found = _resolved(claim, volume, storage_class).attached

    assert found == ((VolumeAttachCount(driver=driver, count=1),) if driver else ())


@pytest.mark.parametrize("owner", ["pod-uid", "another", None])
def test_an_ephemeral_claim_is_for_the_pod_that_owns_it(owner: str | None) -> None:
    owners = [{"kind": "Pod", "name": "web", "uid": owner, "controller": True}] if owner else []
    claim = from_document(_claim(meta={"ownerReferences": owners}), PersistentVolumeClaim)
    storage = Storage(
        claims={("default", "data"): claim},
        volumes={},
        classes={("", "gp3"): from_document(_class(), StorageClass)},
    )

    found = resolve("default", [PodClaim("spec.volumes[0]", "data", "pod-uid")], [], storage)

    assert (found.problem is None) == (owner == "pod-uid")


def test_what_runs_keeps_its_volumes_attached_whatever_became_of_their_claims() -> None:
    claim = from_document(
        _bound(phase="Lost", accessModes=["ReadWriteOncePod"]), PersistentVolumeClaim
    )
    volume = from_document(_volume(csi={"driver": "d"}), PersistentVolume)
    storage = Storage(claims={("default", "data"): claim}, volumes={("", "pv"): volume}, classes={})
    claims = [PodClaim("spec.volumes[0]", "gone"), PodClaim("spec.volumes[1]", "data")]

    found = resolve("default", claims, [], storage, frozenset({"default/data"}))

    assert found.problem is not None
    assert found.problem.field == "spec.volumes[0]"
    assert found.volumes.attached == (VolumeAttachCount(driver="d", count=1),)
    assert found.volumes.shared == (SharedVolume(claim="default/data", driver="d", exclusive=True),)


def test_zone_labels_do_not_bind_ephemeral_claims() -> None:
    owner = {"kind": "Pod", "name": "p", "uid": "u", "controller": True}
    meta = {**BOUND, "ownerReferences": [owner]}
    storage = Storage(
        claims={
            ("default", "data"): from_document(
                _claim(meta=meta, volumeName="pv"), PersistentVolumeClaim
            )
        },
        volumes={
            ("", "pv"): from_document(_volume(meta={"labels": {ZONE: "a"}}), PersistentVolume)
        },
        classes={},
    )

    found = resolve("default", [PodClaim("spec.volumes[0]", "data", "u")], [], storage)

    assert found.problem is None
    assert found.volumes.topology == ()
