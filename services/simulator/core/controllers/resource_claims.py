"""ResourceClaims of pods: made from templates, reserved for bound pods, freed when pods are done.

Source: Kubernetes documentation, "Dynamic Resource Allocation".
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.frozen import thaw
from services.simulator.core.client import Client, controller_uid
from services.simulator.core.controllers.controller import Controller, itself
from services.simulator.core.events import Note
from services.simulator.core.feed import Change
from services.simulator.core.objects import (
    Object,
    controller_of,
    has_ended,
    is_deleting,
    key_of,
    owner_reference,
    split_key,
)

CLAIMS = "resourceclaims.resource.k8s.io"
TEMPLATES = "resourceclaimtemplates.resource.k8s.io"
FINALIZER = "resource.kubernetes.io/delete-protection"

_OF_POD = "resource.kubernetes.io/pod-claim-name"
_POD, _CLAIM = "pod:", "claim:"
_LONGEST_BASE = 57


def resource_claim_controller(client: Client) -> Controller:
    """Return the controller of the claims that pods ask for."""
    work = _Work(client)

    def reconcile(key: str, _now: datetime) -> None:
        kind, _, rest = key.partition(":")
        namespace, name = split_key(rest)
        if f"{kind}:" == _POD:
            pod = client.api.find("pods", name, namespace)
            if pod is not None and not is_deleting(pod):
                work.follow_pod(pod)
            return
        claim = client.api.find(CLAIMS, name, namespace)
        if claim is not None:
            work.follow_claim(claim)

    def waiting_for(template: Object) -> Iterable[str]:
        namespace, name = template["metadata"]["namespace"], template["metadata"]["name"]
        for pod in client.api.list("pods", namespace):
            asked = pod["spec"].get("resourceClaims") or ()
            if any(one.get("resourceClaimTemplateName") == name for one in asked):
                yield _POD + key_of(pod)

    sources = {
        "pods": _of_pod,
        CLAIMS: lambda claim: [_CLAIM + one for one in itself(claim)],
        TEMPLATES: waiting_for,
    }
    matters = {"pods": _has_claims}
    return Controller("resourceclaim", client, sources, reconcile, matters=matters)


def _has_claims(change: Change) -> bool:
    return any(side["spec"].get("resourceClaims") for side in change.sides)


def _of_pod(pod: Object) -> Iterable[str]:
    namespace = pod["metadata"]["namespace"]
    yield _POD + key_of(pod)
    for name in claim_names(pod):
        yield f"{_CLAIM}{namespace}/{name}"


def claim_names(pod: Mapping[str, Any]) -> list[str]:
    """Return the names of the claims that a pod has, as far as they are there."""
    made = {
        one["name"]: one.get("resourceClaimName")
        for one in pod["status"].get("resourceClaimStatuses") or ()
    }
    names = (
        one.get("resourceClaimName") or made.get(one["name"])
        for one in pod["spec"].get("resourceClaims") or ()
    )
    return [name for name in names if name]


class _Work:
    """What is done for pods and claims."""

    def __init__(self, client: Client) -> None:
        self._api = client.api
        self._events = client.events
        self._owned = client.index(CLAIMS, controller_uid)

    def follow_pod(self, pod: Object) -> None:
        """Make the claims that a pod lacks, and reserve those that it has once it is bound."""
        self._make_missing(pod)
        if not pod["spec"].get("nodeName") or has_ended(pod):
            return
        for name in claim_names(pod):
            claim = self._api.find(CLAIMS, name, pod["metadata"]["namespace"])
            if claim is not None and (claim.get("status") or {}).get("allocation"):
                self._reserve(claim, pod)

    def _make_missing(self, pod: Object) -> None:
        namespace = pod["metadata"]["namespace"]
        statuses = {
            one["name"]: one.get("resourceClaimName")
            for one in pod["status"].get("resourceClaimStatuses") or ()
        }
        before = dict(statuses)
        for asked in pod["spec"].get("resourceClaims") or ():
            template = asked.get("resourceClaimTemplateName")
            known = statuses.get(asked["name"])
            if template is None or (known and self._api.find(CLAIMS, known, namespace)):
                continue
            statuses[asked["name"]] = self._made(pod, asked["name"], template)
        if statuses != before:
            told = [
                {"name": name, **({"resourceClaimName": claim} if claim else {})}
                for name, claim in statuses.items()
            ]
            status = {**pod["status"], "resourceClaimStatuses": told}
            self._api.update("pods", {**pod, "status": status}, subresource="status")

    def _made(self, pod: Object, name: str, template_name: str) -> str:
        """Return the name of the claim that is made for a pod; raises what refuses it."""
        meta = pod["metadata"]
        for claim in self._owned.of(meta["uid"]):
            if (claim["metadata"].get("annotations") or {}).get(_OF_POD) == name:
                return str(claim["metadata"]["name"])
        try:
            template = self._api.get(TEMPLATES, template_name, meta["namespace"])
            made = self._api.create(CLAIMS, _claim(pod, name, template))
        except ApiError as error:
            message = f'PodResourceClaim {name}: resource claim template "{template_name}": {error}'
            note = Note(
                reason="FailedResourceClaimCreation",
                message=message,
                component="resource_claim",
                is_warning=True,
            )
            self._events.record(pod, note)
            raise
        return str(made["metadata"]["name"])

    def _reserve(self, claim: Object, pod: Object) -> None:
        meta, status = pod["metadata"], claim["status"]
        reserved = list(status.get("reservedFor") or ())
        if any(one["uid"] == meta["uid"] for one in reserved):
            return
        mine = {"resource": "pods", "name": meta["name"], "uid": meta["uid"]}
        changed = {**status, "reservedFor": [*reserved, mine]}
        self._api.update(CLAIMS, {**claim, "status": changed}, subresource="status")

    def follow_claim(self, claim: Object) -> None:
        """Drop what is reserved for pods that are done, free it then, and delete what they own."""
        status = claim.get("status") or {}
        reserved = status.get("reservedFor") or ()
        namespace = claim["metadata"]["namespace"]
        left = [one for one in reserved if self._is_used(one, namespace)]
        if len(left) < len(reserved):
            changed = {**status, "reservedFor": left}
            if not left:
                changed = {key: value for key, value in status.items() if key != "reservedFor"}
                changed.pop("allocation", None)
                changed.pop("devices", None)
            claim = self._api.update(CLAIMS, {**claim, "status": changed}, subresource="status")
        status = claim.get("status") or {}
        if is_deleting(claim) or not left:
            self._unprotect(claim, status)
        owner = controller_of(claim)
        if owner is None or owner["kind"] != "Pod" or is_deleting(claim):
            return
        pod = self._api.find("pods", owner["name"], namespace)
        if pod is not None and pod["metadata"]["uid"] == owner["uid"] and _is_done(pod):
            self._api.delete(CLAIMS, claim["metadata"]["name"], namespace)

    def _unprotect(self, claim: Object, status: Mapping[str, Any]) -> None:
        """Take the finalizer off a claim that nobody has."""
        meta = claim["metadata"]
        finalizers = meta.get("finalizers") or ()
        if FINALIZER not in finalizers or status.get("allocation") or status.get("reservedFor"):
            return
        kept = [one for one in finalizers if one != FINALIZER]
        change = {"metadata": {"finalizers": kept or None}}
        self._api.patch(CLAIMS, meta["name"], change, meta["namespace"])

    def _is_used(self, consumer: Mapping[str, Any], namespace: str) -> bool:
        if consumer.get("apiGroup") or consumer["resource"] != "pods":
            return True
        pod = self._api.find("pods", consumer["name"], namespace)
        return pod is not None and pod["metadata"]["uid"] == consumer["uid"] and not _is_done(pod)


def _is_done(pod: Object) -> bool:
    return has_ended(pod) or (is_deleting(pod) and not pod["spec"].get("nodeName"))


def _claim(pod: Object, name: str, template: Object) -> Object:
    meta, above = pod["metadata"], template["spec"].get("metadata") or {}
    base = f"{meta['name']}-{name}-"
    if len(base) > _LONGEST_BASE:  # both names stay recognizable
        lengths = (len(one) * _LONGEST_BASE // len(base) for one in (meta["name"], name))
        first, second = lengths
        base = f"{meta['name'][:first]}-{name[:second]}"
    owner = owner_reference(pod)
    del owner["blockOwnerDeletion"]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "generateName": base,
            "namespace": meta["namespace"],
            "labels": dict(above.get("labels") or {}),
            "annotations": {**(above.get("annotations") or {}), _OF_POD: name},
            "ownerReferences": [owner],
        },
        "spec": thaw(template["spec"]["spec"]),
    }
