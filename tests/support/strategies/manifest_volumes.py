"""Volumes as Kubernetes documents: classes, claims bound and unbound, attach limits of nodes."""

from hypothesis import strategies as st

from tests.support.strategies.choices import chance, pick, some_of
from tests.support.strategies.manifest_pods import NAMESPACES, ZONE, ZONES, Document

_DRIVER = "ebs.csi.aws.com"


@st.composite
def storage(draw: st.DrawFn, nodes: tuple[str, ...]) -> tuple[Document, ...]:
    """Return all objects about volumes: claims of both namespaces, and what they refer to."""
    found = [
        _class(draw, "wait", "WaitForFirstConsumer"),
        _class(draw, "disks", "WaitForFirstConsumer", "kubernetes.io/no-provisioner"),
        _class(draw, "now", "Immediate"),
    ]
    for number in range(pick(draw, 1, 2, 3, 4, 7)):
        found += _claim(draw, number)
    found += [_free(draw, number) for number in range(pick(draw, 0, 0, 1, 2, 3, 6))]
    found += [_attach_limit(draw, name) for name in nodes if chance(draw, 40)]
    return tuple(found)


def _class(draw: st.DrawFn, name: str, mode: str, provisioner: str = _DRIVER) -> Document:
    found: Document = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }
    if name == "wait" and chance(draw, 40):
        zones = {"key": ZONE, "values": some_of(draw, ZONES, 2)}
        found["allowedTopologies"] = [{"matchLabelExpressions": [zones]}]
    return found


def _claim(draw: st.DrawFn, number: int) -> list[Document]:
    """Return a claim, behind its volume if it has one."""
    name, namespace = f"data{number}", pick(draw, *NAMESPACES)
    state = pick(draw, *["bound"] * 5, *["unbound"] * 4, "lost")
    claim: Document = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}"},
        "spec": {
            "storageClassName": "wait",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Pending"},
    }
    if state == "unbound":
        claim["spec"]["storageClassName"] = pick(draw, "wait", "disks")
        claim["spec"]["resources"]["requests"]["storage"] = pick(draw, "1Gi", "2Gi", "3Gi")
    if state == "lost":
        claim["spec"]["storageClassName"] = pick(draw, "now", "nowhere")
    if state != "bound":
        return [claim]
    claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    claim["spec"]["volumeName"] = f"volume{number}"
    claim["spec"]["accessModes"] = [
        pick(draw, "ReadWriteOnce", "ReadWriteOnce", "ReadWriteOncePod")
    ]
    claim["status"] = {"phase": "Bound"}
    return [_volume(draw, number, claim), claim]


def _volume(draw: st.DrawFn, number: int, claim: Document) -> Document:
    metadata = claim["metadata"]
    terms = [
        {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
        for zone in some_of(draw, ZONES, 2)
    ]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"volume{number}"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "wait",
            # Two volumes may be one disk.
            "csi": {"driver": _DRIVER, "volumeHandle": f"handle{number // 2}"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            "claimRef": {key: metadata[key] for key in ("namespace", "name", "uid")},
        },
        "status": {"phase": "Bound"},
    }


def _free(draw: st.DrawFn, number: int) -> Document:
    """Return a volume that claims may take."""
    spec: Document = {
        "capacity": {"storage": pick(draw, "1Gi", "2Gi", "3Gi")},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": pick(draw, "wait", "disks"),
        "csi": {"driver": _DRIVER, "volumeHandle": f"free{number}"},
    }
    if chance(draw, 60):
        terms = [
            {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
            for zone in some_of(draw, ZONES, 2)
        ]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"free{number}"},
        "spec": spec,
        "status": {"phase": "Available"},
    }


def _attach_limit(draw: st.DrawFn, node: str) -> Document:
    driver = {
        "name": _DRIVER,
        "nodeID": node,
        "topologyKeys": [ZONE],
        "allocatable": {"count": pick(draw, 25, 1, 2)},
    }
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": node},
        "spec": {"drivers": [driver]},
    }
