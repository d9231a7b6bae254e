"""Claims that pods use and volumes that claims are bound to are not deleted before their time.

Source: Kubernetes documentation, "Storage Object in Use Protection".
"""

from collections.abc import Callable, Iterable
from datetime import datetime

from services.simulator.core.client import Client
from services.simulator.core.controllers.controller import Controller, itself
from services.simulator.core.feed import Change
from services.simulator.core.objects import Object, has_ended, is_deleting, key_of, split_key
from services.simulator.core.scheduler.volumes import CLAIMS, VOLUMES

CLAIM_FINALIZER = "kubernetes.io/pvc-protection"
VOLUME_FINALIZER = "kubernetes.io/pv-protection"


def claim_protection_controller(client: Client) -> Controller:
    """Return the controller that keeps claims while pods use them."""

    def is_used(claim: Object) -> bool:
        name, namespace = claim["metadata"]["name"], claim["metadata"]["namespace"]
        return any(
            name in claims_of(pod) and not has_ended(pod)
            for pod in client.api.list("pods", namespace)
        )

    def of_pod(pod: Object) -> Iterable[str]:
        namespace = pod["metadata"]["namespace"]
        return [f"{namespace}/{name}" for name in claims_of(pod)]

    def ends(change: Change) -> bool:
        return change.new is None or has_ended(change.new)

    reconcile = _protect(client, CLAIMS, CLAIM_FINALIZER, is_used)
    sources = {CLAIMS: itself, "pods": of_pod}
    return Controller("pvcprotection", client, sources, reconcile, matters={"pods": ends})


def volume_protection_controller(client: Client) -> Controller:
    """Return the controller that keeps volumes while claims are bound to them."""

    def is_used(volume: Object) -> bool:
        return bool((volume.get("status") or {}).get("phase") == "Bound")

    reconcile = _protect(client, VOLUMES, VOLUME_FINALIZER, is_used)
    return Controller("pvprotection", client, {VOLUMES: itself}, reconcile)


def claims_of(pod: Object) -> list[str]:
    """Return the names of the claims that a pod mounts, also of those made for it."""
    names = []
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            names.append(volume["persistentVolumeClaim"]["claimName"])
        elif "ephemeral" in volume:
            names.append(f"{pod['metadata']['name']}-{volume['name']}")
    return names


def _protect(
    client: Client, resource: str, finalizer: str, is_used: Callable[[Object], bool]
) -> Callable[[str, datetime], None]:
    def reconcile(key: str, _now: datetime) -> None:
        namespace, name = split_key(key)
        obj = client.api.find(resource, name, namespace)
        if obj is None:
            return
        finalizers = list(obj["metadata"].get("finalizers") or ())
        if not is_deleting(obj) and finalizer not in finalizers:
            _set(client, resource, obj, [*finalizers, finalizer])
        elif is_deleting(obj) and finalizer in finalizers and not is_used(obj):
            _set(client, resource, obj, [one for one in finalizers if one != finalizer])

    return reconcile


def _set(client: Client, resource: str, obj: Object, finalizers: list[str]) -> None:
    namespace, name = split_key(key_of(obj))
    change = {"metadata": {"finalizers": finalizers or None}}
    client.api.patch(resource, name, change, namespace)
