"""The Node object that stands for an instance, and the instance that a Node object stands for.

Source: `docs/sources.md` 8.4.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from libs.domain import allocatable as amounts
from libs.domain import labels as keys
from libs.domain.provider import ClaimLaunch, Instance, LaunchSpec
from libs.domain.resources import Resources
from libs.domain.taint import UNREGISTERED, Taint
from services.provider_kwok.core.choosing import Choice

PREFIX = "kwok://"
FAKE = {"kwok.x-k8s.io/node": "fake"}
_CLAIM = "kwok.joiner.io/nodeclaim"
_CLAIM_UID = "kwok.joiner.io/nodeclaim-uid"
_PRICE = "eks-node-viewer/instance-price"
_LONGEST_CLAIM_NAME = 200


def node_name(claim: ClaimLaunch) -> str:
    """Return the name of a claim's node: the same for every launch of the same claim."""
    digest = hashlib.sha256(claim.uid.encode()).hexdigest()[:10]
    return f"kwok-{claim.name[:_LONGEST_CLAIM_NAME]}-{digest}"


def manifest(claim: ClaimLaunch, spec: LaunchSpec, choice: Choice) -> dict[str, Any]:
    """Return the Node to create.

    Its status comes with it: the API keeps the status of a new Node, and in one write no crash can
    leave a Node whose size somebody else makes up.
    """
    name = node_name(claim)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": _labels(claim, spec, choice),
            "annotations": {
                **dict(spec.annotations),
                **FAKE,
                _CLAIM: claim.name,
                _CLAIM_UID: claim.uid,
            },
        },
        "spec": {"providerID": f"{PREFIX}{name}", "taints": [_taint(UNREGISTERED)]},
        "status": {
            "capacity": capacity(spec, choice).to_quantities(),
            "allocatable": allocatable(spec, choice).to_quantities(),
            "phase": "Pending",
        },
    }


def awaits_node(claim: Mapping[str, Any]) -> bool:
    """Return whether a NodeClaim object was launched here and still has no node."""
    reported = claim.get("status") or {}
    return (
        reported.get("providerID", "").startswith(PREFIX)
        and not reported.get("nodeName")
        and "deletionTimestamp" not in claim["metadata"]
    )


def manifest_of_claim(claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Node to create of a launched NodeClaim object, whose labels are the instance's."""
    metadata, reported = claim["metadata"], claim["status"]
    resources = {name: reported.get(name) or {} for name in ("capacity", "allocatable")}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": reported["providerID"].removeprefix(PREFIX),
            "labels": {**(metadata.get("labels") or {}), keys.HOSTNAME: metadata["name"], **FAKE},
            "annotations": {
                **(metadata.get("annotations") or {}),
                **FAKE,
                _CLAIM: metadata["name"],
                _CLAIM_UID: metadata["uid"],
            },
        },
        "spec": {"providerID": reported["providerID"], "taints": [_taint(UNREGISTERED)]},
        "status": {**resources, "phase": "Pending"},
    }


def capacity(spec: LaunchSpec, choice: Choice) -> Resources:
    """Return the type's capacity, and what was requested of resources that the type lacks."""
    return spec.requests.overlaid(amounts.full_capacity(choice.instance_type, choice.offering))


def allocatable(spec: LaunchSpec, choice: Choice) -> Resources:
    """Return what the type leaves for pods, and requested resources that it lacks."""
    return spec.requests.overlaid(amounts.allocatable(choice.instance_type, choice.offering))


def instance(node: Mapping[str, Any], now: datetime) -> Instance:
    """Return the instance that a Node object stands for; `now` where it has no creation time."""
    metadata, reported = node.get("metadata", {}), node.get("status", {})
    annotations = metadata.get("annotations") or {}
    created = metadata.get("creationTimestamp")
    return Instance(
        provider_id=node.get("spec", {}).get("providerID", ""),
        nodeclaim=annotations.get(_CLAIM, ""),
        nodeclaim_uid=annotations.get(_CLAIM_UID, ""),
        labels=tuple(sorted((metadata.get("labels") or {}).items())),
        annotations=tuple(sorted(annotations.items())),
        capacity=Resources.from_allocatable(reported.get("capacity") or {}),
        allocatable=Resources.from_allocatable(reported.get("allocatable") or {}),
        launched_at=datetime.fromisoformat(created) if created else now,
        terminating="deletionTimestamp" in metadata,
    )


def _labels(claim: ClaimLaunch, spec: LaunchSpec, choice: Choice) -> dict[str, str]:
    offering = choice.offering
    return {
        **dict(spec.labels),
        **spec.requirements.single_values(),
        **choice.instance_type.requirements.single_values(),
        **offering.requirements.single_values(),
        keys.INSTANCE_TYPE: choice.instance_type.name,
        _PRICE: f"{offering.price_nanos_per_hour / 1_000_000_000:f}",
        "kwok-partition": "a",
        keys.HOSTNAME: claim.name,
        **FAKE,
    }


def _taint(taint: Taint) -> dict[str, str]:
    return {"key": taint.key, "effect": taint.effect}
