"""VolumeAttachments: which volumes are attached to which nodes, because of the pods there.

The driver's side is played too: what is to be attached is attached at once. A volume stays attached
to a node that is not ready for six minutes, unless the node is said to be out of service.

Source: Kubernetes documentation, "Persistent Volumes", "Non-graceful node shutdown handling";
defaults of kube-controller-manager 1.36.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta

from services.simulator.core.client import Client, node_name
from services.simulator.core.controllers.controller import Controller, itself
from services.simulator.core.controllers.protection import claims_of
from services.simulator.core.feed import Change
from services.simulator.core.kubelet import node_report
from services.simulator.core.objects import (
    Object,
    condition_of,
    has_ended,
    is_true,
    key_of,
    read_stamp,
)
from services.simulator.core.part import earliest
from services.simulator.core.scheduler.volumes import CLAIMS, VOLUMES

ATTACHMENTS = "volumeattachments.storage.k8s.io"

_DRIVERS = "csidrivers.storage.k8s.io"
_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
_MANAGED = "volumes.kubernetes.io/controller-managed-attach-detach"
_PATIENCE = timedelta(minutes=6)


def attachment_controller(client: Client) -> Controller:
    """Return the controller that attaches and detaches."""
    api, on_node = client.api, client.index("pods", node_name)
    attached = client.index(ATTACHMENTS, _node_of)
    unneeded: dict[str, datetime] = {}

    def reconcile(name: str, now: datetime) -> datetime | None:
        node = api.find("nodes", name)
        wanted = _wanted(client, on_node.of(name)) if _is_managed(node) else {}
        present = {_volume_of(one): one for one in attached.of(name)}
        for volume in wanted.keys() - present.keys():
            _attach(client, wanted[volume], name)
        for volume in wanted.keys() & present.keys():
            unneeded.pop(present[volume]["metadata"]["name"], None)
        waits = []
        for volume in sorted(present.keys() - wanted.keys()):
            until = _detach(client, node, present[volume], unneeded, now)
            waits.append(until)
        if node is not None:
            _tell_node(client, node, wanted)
        return earliest(*waits)

    def nodes_of_claim(claim: Object) -> Iterable[str]:
        name, namespace = claim["metadata"]["name"], claim["metadata"]["namespace"]
        hosts = (node_name(pod) for pod in api.list("pods", namespace) if name in claims_of(pod))
        return [host for host in hosts if host]

    def its_node(obj: Object) -> Iterable[str]:
        host = node_name(obj) if obj["kind"] == "Pod" else _node_of(obj)
        return (host,) if host else ()

    sources = {"pods": its_node, ATTACHMENTS: its_node, CLAIMS: nodes_of_claim, "nodes": itself}
    matters = {"pods": _may_matter, "nodes": _comes_goes_or_turns, CLAIMS: _is_bound_now}
    return Controller("attachdetach", client, sources, reconcile, matters=matters)


def _is_managed(node: Object | None) -> bool:
    """Tell whether volumes are attached to a node by this controller, as its kubelet wants."""
    if node is None:
        return False
    annotations = node["metadata"].get("annotations") or {}
    return node_report.is_simulated(node) or annotations.get(_MANAGED) == "true"


def _may_matter(change: Change) -> bool:
    """Tell whether a change of a pod may attach or detach anything."""
    if not any(claims_of(side) for side in change.sides):
        return False
    if change.old is None or change.new is None:
        return True
    return node_name(change.old) != node_name(change.new) or has_ended(change.new)


def _comes_goes_or_turns(change: Change) -> bool:
    if change.old is None or change.new is None:
        return True
    before, after = (side["spec"].get("taints") for side in (change.old, change.new))
    return is_true(change.old, "Ready") != is_true(change.new, "Ready") or before != after


def _is_bound_now(change: Change) -> bool:
    if change.new is None or not change.new["spec"].get("volumeName"):
        return False
    return change.old is None or not change.old["spec"].get("volumeName")


def _wanted(client: Client, pods: Iterable[Object]) -> dict[str, Object]:
    """Return the volumes that have to be attached for some pods, by name."""
    found: dict[str, Object] = {}
    for pod in pods:
        if has_ended(pod):
            continue
        for name in claims_of(pod):
            claim = client.api.find(CLAIMS, name, pod["metadata"]["namespace"])
            volume_name = claim["spec"].get("volumeName") if claim is not None else None
            volume = client.api.find(VOLUMES, volume_name) if volume_name else None
            if volume is not None and _has_to_be_attached(client, volume):
                found[volume_name or ""] = volume
    return found


def _has_to_be_attached(client: Client, volume: Object) -> bool:
    source = volume["spec"].get("csi")
    if source is None:
        return False
    driver = client.api.find(_DRIVERS, source["driver"])
    return driver is None or driver["spec"].get("attachRequired", True) is not False


def _node_of(attachment: Object) -> str | None:
    return str(attachment["spec"]["nodeName"])


def _volume_of(attachment: Object) -> str:
    return str(attachment["spec"]["source"].get("persistentVolumeName") or "")


def _attach(client: Client, volume: Object, node: str) -> None:
    source = volume["spec"]["csi"]
    text = f"{source['volumeHandle']}{source['driver']}{node}"
    name = f"csi-{hashlib.sha256(text.encode()).hexdigest()}"
    body = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": name},
        "spec": {
            "attacher": source["driver"],
            "nodeName": node,
            "source": {"persistentVolumeName": volume["metadata"]["name"]},
        },
    }
    if client.api.find(ATTACHMENTS, name) is None:
        client.api.create(ATTACHMENTS, body)
    status = {"status": {"attached": True}}
    client.api.patch(ATTACHMENTS, name, status, subresource="status")


def _detach(
    client: Client,
    node: Object | None,
    attachment: Object,
    unneeded: dict[str, datetime],
    now: datetime,
) -> datetime | None:
    """Detach a volume that no pod needs, or return when that may be done."""
    name = attachment["metadata"]["name"]
    since = unneeded.setdefault(name, now)
    if node is not None and not is_true(node, "Ready") and not _is_out_of_service(node):
        ready = condition_of(node, "Ready") or {}
        until = max(since, read_stamp(ready.get("lastTransitionTime"))) + _PATIENCE
        if now < until:
            return until
    unneeded.pop(name, None)
    client.api.delete(ATTACHMENTS, name)
    return None


def _is_out_of_service(node: Object) -> bool:
    return any(one.get("key") == _OUT_OF_SERVICE for one in node["spec"].get("taints") or ())


def _tell_node(client: Client, node: Object, wanted: dict[str, Object]) -> None:
    """Write which volumes are attached, and thereby used, on the node's status."""
    names = sorted(
        f"kubernetes.io/csi/{one['spec']['csi']['driver']}^{one['spec']['csi']['volumeHandle']}"
        for one in wanted.values()
    )
    known = node["status"].get("volumesAttached") or ()
    if names == [one["name"] for one in known]:
        return
    attached = [{"name": name, "devicePath": ""} for name in names]
    status = {"volumesAttached": attached or None, "volumesInUse": names or None}
    client.api.patch("nodes", key_of(node), {"status": status}, subresource="status")
