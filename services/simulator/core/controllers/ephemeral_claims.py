"""Claims that pods ask for as part of themselves (generic ephemeral volumes).

Source: Kubernetes documentation, "Generic ephemeral volumes".
"""

from datetime import datetime

from services.simulator.core.api.frozen import thaw
from services.simulator.core.client import Client
from services.simulator.core.controllers.controller import Controller, itself
from services.simulator.core.feed import Change
from services.simulator.core.objects import has_ended, is_deleting, owner_reference, split_key
from services.simulator.core.scheduler.volumes import CLAIMS


def ephemeral_claim_controller(client: Client) -> Controller:
    """Return the controller that makes the claims of pods; they go with their pods as garbage."""
    api = client.api

    def reconcile(key: str, _now: datetime) -> None:
        namespace, name = split_key(key)
        pod = api.find("pods", name, namespace)
        if pod is None or is_deleting(pod) or has_ended(pod):
            return
        for volume in pod["spec"].get("volumes") or ():
            claim_name = f"{name}-{volume['name']}"
            if "ephemeral" not in volume or api.find(CLAIMS, claim_name, namespace) is not None:
                continue
            template = volume["ephemeral"]["volumeClaimTemplate"]
            claim = {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {
                    **thaw(template.get("metadata") or {}),
                    "name": claim_name,
                    "namespace": namespace,
                    "ownerReferences": [owner_reference(pod)],
                },
                "spec": thaw(template["spec"]),
            }
            api.create(CLAIMS, claim)

    matters = {"pods": _asks_for_claims}
    return Controller("ephemeralvolume", client, {"pods": itself}, reconcile, matters=matters)


def _asks_for_claims(change: Change) -> bool:
    pod = change.new
    return pod is not None and any("ephemeral" in one for one in pod["spec"].get("volumes") or ())
