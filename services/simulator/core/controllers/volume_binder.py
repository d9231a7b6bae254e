"""PersistentVolumes for claims: existing ones, or new ones where the class and the scheduler say.

A claim of a class that waits for its first consumer gets its volume once the scheduler has named a
node or reserved a volume; any other at once. New volumes are reached from where the driver says
(topology keys on the node's CSINode), else from the node's zone.

Source: Kubernetes documentation, "Persistent Volumes", "Storage Classes".
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from libs.apiserver.labels import selects_labels
from libs.domain import quantity_text
from libs.oracle.volume_matching import BOUND_ANNOTATION, SELECTED_NODE_ANNOTATION
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.client import Client
from services.simulator.core.controllers.controller import Controller, itself
from services.simulator.core.events import Note
from services.simulator.core.objects import Object, is_deleting, key_of, split_key
from services.simulator.core.scheduler.volumes import CLAIMS, VOLUMES, claim_reference

CLASSES = "storageclasses.storage.k8s.io"
CSI_NODES = "csinodes.storage.k8s.io"

_ZONE = "topology.kubernetes.io/zone"
_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
_BOUND_BY_US = "pv.kubernetes.io/bound-by-controller"
_COMPONENT = "persistentvolume-controller"
_NO_PROVISIONER = ("", "kubernetes.io/no-provisioner")


def volume_binder(client: Client) -> Controller:
    """Return the controller of claims and volumes."""
    api = client.api
    reserved = client.index(VOLUMES, lambda volume: next(iter(_its_claim(volume)), None))

    def reconcile(key: str, _now: datetime) -> None:
        namespace, name = split_key(key)
        if not namespace:
            _keep_volume(api, name)
            return
        claim = api.find(CLAIMS, name, namespace)
        if claim is None or is_deleting(claim):
            for volume in reserved.of(key):
                _keep_volume(api, volume["metadata"]["name"])
        elif claim["spec"].get("volumeName") and BOUND_ANNOTATION in _annotations(claim):
            _keep_bound(api, claim)
        else:
            chosen = _volume_for(api, claim, reserved.of(key))
            if chosen is not None:
                _bind(api, claim, chosen)
            elif (note := _why_it_waits(api, claim)) is not None:
                client.events.record(claim, note)

    def unbound_claims(_obj: Object) -> Iterable[str]:
        return [key_of(claim) for claim in api.list(CLAIMS) if not claim["spec"].get("volumeName")]

    sources = {
        CLAIMS: itself,
        VOLUMES: lambda volume: [key_of(volume), *_its_claim(volume), *unbound_claims(volume)],
        CLASSES: unbound_claims,
    }
    return Controller("volumebinder", client, sources, reconcile)


def _why_it_waits(api: DirectApi, claim: Object) -> Note | None:
    """Return what to tell of a claim that has no volume yet, None if nothing."""
    name = claim["spec"].get("storageClassName") or ""
    storage_class = api.find(CLASSES, name)
    if storage_class is not None and storage_class["volumeBindingMode"] != "Immediate":
        if SELECTED_NODE_ANNOTATION in _annotations(claim):
            return None
        message = "waiting for first consumer to be created before binding"
        return Note(reason="WaitForFirstConsumer", message=message, component=_COMPONENT)
    if name:
        return None
    message = "no persistent volumes available for this claim and no storage class is set"
    return Note(reason="FailedBinding", message=message, component=_COMPONENT)


def _its_claim(volume: Object) -> Iterable[str]:
    reference = volume["spec"].get("claimRef")
    if not reference or not reference.get("namespace") or not reference.get("name"):
        return ()
    return (f"{reference['namespace']}/{reference['name']}",)


def _annotations(obj: Mapping[str, Any]) -> Mapping[str, str]:
    return obj["metadata"].get("annotations") or {}


# Choosing


def _volume_for(api: DirectApi, claim: Object, reserved: list[Object]) -> Object | None:
    """Return the volume that a claim gets now, made if need be; None if it has to wait."""
    for volume in reserved:
        if (
            volume["spec"]["claimRef"].get("uid", claim["metadata"]["uid"])
            == claim["metadata"]["uid"]
        ):
            return volume
    if named := claim["spec"].get("volumeName"):
        wanted = api.find(VOLUMES, named)
        return wanted if wanted is not None and "claimRef" not in wanted["spec"] else None
    storage_class = api.find(CLASSES, claim["spec"].get("storageClassName") or "")
    waits = storage_class is not None and storage_class["volumeBindingMode"] != "Immediate"
    node = _annotations(claim).get(SELECTED_NODE_ANNOTATION)
    if waits and node is None:
        return None
    existing = None if waits else _existing(api, claim)
    if existing is not None or storage_class is None:
        return existing
    if storage_class["provisioner"] in _NO_PROVISIONER:
        return None
    return _provision(api, claim, storage_class, node)


def _existing(api: DirectApi, claim: Object) -> Object | None:
    fitting = [volume for volume in api.list(VOLUMES) if _fits(claim, volume)]
    return min(fitting, key=lambda volume: (_capacity(volume), key_of(volume)), default=None)


def _fits(claim: Object, volume: Object) -> bool:
    spec, wanted = volume["spec"], claim["spec"]
    selector = wanted.get("selector")
    return (
        "claimRef" not in spec
        and not is_deleting(volume)
        and (spec.get("storageClassName") or "") == (wanted.get("storageClassName") or "")
        and spec["volumeMode"] == wanted["volumeMode"]
        and set(wanted.get("accessModes") or ()) <= set(spec.get("accessModes") or ())
        and _capacity(volume) >= quantity_text.value(_requested(claim))
        and (selector is None or selects_labels(selector)(volume["metadata"].get("labels") or {}))
    )


def _capacity(volume: Object) -> Any:
    return quantity_text.value((volume["spec"].get("capacity") or {}).get("storage", "0"))


def _requested(claim: Object) -> str:
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return str(requests.get("storage", "0"))


# Making


def _provision(
    api: DirectApi, claim: Object, storage_class: Object, node_name: str | None
) -> Object | None:
    spec, driver = claim["spec"], storage_class["provisioner"]
    node = api.find("nodes", node_name) if node_name else None
    if node_name and node is None:
        _deselect(api, claim)
        return None
    name = f"pvc-{claim['metadata']['uid']}"
    topology = _topology(api, driver, node) if node else _free_topology(api, storage_class)
    expressions = [
        {"key": key, "operator": "In", "values": values} for key, values in topology.items()
    ]
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {_PROVISIONED_BY: driver}},
        "spec": {
            "capacity": {"storage": _requested(claim)},
            "accessModes": list(spec.get("accessModes") or ()),
            "volumeMode": spec["volumeMode"],
            "storageClassName": storage_class["metadata"]["name"],
            "persistentVolumeReclaimPolicy": storage_class["reclaimPolicy"],
            "csi": {"driver": driver, "volumeHandle": name},
            "claimRef": claim_reference(claim),
            **({"nodeAffinity": affinity} if expressions else {}),
        },
    }
    return api.create(VOLUMES, volume)


def _deselect(api: DirectApi, claim: Object) -> None:
    """Take back a node that is gone, so that the scheduler chooses another."""
    meta = claim["metadata"]
    change = {"metadata": {"annotations": {SELECTED_NODE_ANNOTATION: None}}}
    api.patch(CLAIMS, meta["name"], change, meta["namespace"])


def _topology(api: DirectApi, driver: str, node: Object) -> dict[str, list[str]]:
    labels = node["metadata"].get("labels") or {}
    csi_node = api.find(CSI_NODES, node["metadata"]["name"])
    drivers = (csi_node["spec"].get("drivers") or ()) if csi_node is not None else ()
    known = [entry.get("topologyKeys") or () for entry in drivers if entry["name"] == driver]
    keys = known[0] if known and known[0] else (_ZONE,)
    return {key: [labels[key]] for key in keys if key in labels}


def _free_topology(api: DirectApi, storage_class: Object) -> dict[str, list[str]]:
    """Return where a volume goes that has no consumer: the first allowed place or zone."""
    for term in storage_class.get("allowedTopologies") or ():
        return {
            expression["key"]: expression["values"][:1]
            for expression in term.get("matchLabelExpressions") or ()
        }
    labels = [node["metadata"].get("labels") or {} for node in api.list("nodes")]
    zones = sorted(label[_ZONE] for label in labels if _ZONE in label)
    return {_ZONE: zones[:1]} if zones else {}


# Binding and keeping


def _bind(api: DirectApi, claim: Object, volume: Object) -> None:
    name = volume["metadata"]["name"]
    if volume["spec"].get("claimRef", {}).get("uid") != claim["metadata"]["uid"]:
        change: Object = {"spec": {"claimRef": claim_reference(claim)}}
        if "claimRef" not in volume["spec"]:
            change["metadata"] = {"annotations": {_BOUND_BY_US: "yes"}}
        volume = api.patch(VOLUMES, name, change)
    _set_phase(api, VOLUMES, volume, {"phase": "Bound"})
    meta = claim["metadata"]
    notes = {BOUND_ANNOTATION: "yes"}
    if not claim["spec"].get("volumeName"):
        notes[_BOUND_BY_US] = "yes"
    done = {"metadata": {"annotations": notes}, "spec": {"volumeName": name}}
    _keep_bound(api, api.patch(CLAIMS, meta["name"], done, meta["namespace"]))


def _keep_bound(api: DirectApi, claim: Object) -> None:
    volume = api.find(VOLUMES, claim["spec"]["volumeName"])
    if volume is None:
        _set_phase(api, CLAIMS, claim, {"phase": "Lost"})
        return
    spec = volume["spec"]
    bound = {
        "phase": "Bound",
        "accessModes": spec.get("accessModes"),
        "capacity": spec.get("capacity"),
    }
    _set_phase(api, CLAIMS, claim, bound)


def _set_phase(api: DirectApi, resource: str, obj: Object, status: Object) -> None:
    if any(obj["status"].get(key) != value for key, value in status.items()):
        meta = obj["metadata"]
        api.patch(
            resource,
            meta["name"],
            {"status": status},
            meta.get("namespace", ""),
            subresource="status",
        )


def _keep_volume(api: DirectApi, name: str) -> None:
    """Keep a volume's phase; delete or release it when its claim is gone, as its policy says."""
    volume = api.find(VOLUMES, name)
    if volume is None or is_deleting(volume):
        return
    reference = volume["spec"].get("claimRef")
    if reference is None:
        _set_phase(api, VOLUMES, volume, {"phase": "Available"})
    elif reference.get("uid") and not _is_there(api, reference):
        _set_phase(api, VOLUMES, volume, {"phase": "Released"})
        if volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete":
            api.delete(VOLUMES, name)


def _is_there(api: DirectApi, reference: Mapping[str, str]) -> bool:
    claim = api.find(CLAIMS, reference.get("name", ""), reference.get("namespace", ""))
    return claim is not None and claim["metadata"]["uid"] == reference["uid"]
