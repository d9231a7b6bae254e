"""The claims of a StatefulSet's pods: made from templates, and kept or let go by its policy.

Source: Kubernetes documentation, "StatefulSets: Volume Claim Templates, PersistentVolumeClaim
retention".
"""

from collections.abc import Mapping
from typing import Any

from services.simulator.core.api.frozen import thaw
from services.simulator.core.client import Client
from services.simulator.core.events import Note
from services.simulator.core.objects import Object, owner_reference

CLAIMS = "persistentvolumeclaims"


def make(client: Client, stateful_set: Object, pod_name: str) -> list[Object]:
    """Make the claims of a pod that are not there; return the volumes that name them."""
    meta = stateful_set["metadata"]
    volumes = []
    for template in stateful_set["spec"].get("volumeClaimTemplates") or ():
        claim = _claim(stateful_set, template, pod_name)
        name = claim["metadata"]["name"]
        if client.api.find(CLAIMS, name, meta["namespace"]) is None:
            client.api.create(CLAIMS, claim)
            what = f"Create Claim {name} Pod {pod_name} in StatefulSet {meta['name']} success"
            note = Note(reason="SuccessfulCreate", message=what, component="statefulset-controller")
            client.events.record(stateful_set, note)
        volume = template["metadata"].get("name", "")
        volumes.append({"name": volume, "persistentVolumeClaim": {"claimName": name}})
    return volumes


def _claim(stateful_set: Object, template: Mapping[str, Any], pod_name: str) -> Object:
    meta = template["metadata"]
    labels = stateful_set["spec"]["selector"].get("matchLabels") or {}
    metadata: Object = {
        "name": f"{meta.get('name', '')}-{pod_name}",
        "namespace": stateful_set["metadata"]["namespace"],
        "labels": {**(meta.get("labels") or {}), **labels},
        "annotations": dict(meta.get("annotations") or {}),
    }
    if _policy(stateful_set, "whenDeleted") == "Delete":
        metadata["ownerReferences"] = [owner_reference(stateful_set)]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": thaw(template["spec"]),
    }


def _policy(stateful_set: Object, when: str) -> str:
    policy = stateful_set["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    return str(policy.get(when, "Retain"))


def give_to(client: Client, stateful_set: Object, pod: Object) -> None:
    """Let the claims of a pod that is scaled away go with it, if the policy says so."""
    if _policy(stateful_set, "whenScaled") != "Delete":
        return
    namespace = pod["metadata"]["namespace"]
    for template in stateful_set["spec"].get("volumeClaimTemplates") or ():
        name = f"{template['metadata'].get('name', '')}-{pod['metadata']['name']}"
        claim = client.api.find(CLAIMS, name, namespace)
        if claim is None:
            continue
        reference = owner_reference(pod)
        if reference not in (claim["metadata"].get("ownerReferences") or ()):
            change = {"metadata": {"ownerReferences": [reference]}}
            client.api.patch(CLAIMS, name, change, namespace)
