"""Pods: defaults, quality of service, what the server sets, what may change."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from libs.apiserver import names
from libs.apiserver.field_errors import FieldError
from libs.apiserver.rules import pod_warnings, pods, podspec
from libs.domain import quantity_text
from services.simulator.core.api.strategies import podupdates
from services.simulator.core.api.strategies.strategy import BOTH, Object, Stored, Strategy

GATED = {
    "type": "PodScheduled",
    "status": "False",
    "lastProbeTime": None,
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}


def default(pod: Object) -> None:
    """Fill in the defaults of a pod."""
    podspec.default_pod(pod["spec"])


def prepare_create(pod: Object, now: str) -> None:
    """Set generation and the status of a new pod."""
    pod["metadata"]["generation"] = 1
    spec = pod["spec"]
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    status: Object = {"phase": "Pending"}
    if spec.get("schedulingGates"):
        status["conditions"] = [{**GATED, "lastTransitionTime": now}]
    status["qosClass"] = qos_class(spec)
    pod["status"] = status


def prepare_update(pod: Object, old: Stored) -> None:
    """Keep the status; count changes of the spec."""
    if pod["spec"] != old["spec"]:
        pod["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def prepare_status(pod: Object, old: Stored) -> None:
    """Keep what a status update may not change; the quality of service never changes."""
    pod["metadata"].pop("ownerReferences", None)
    if "ownerReferences" in old["metadata"]:
        pod["metadata"]["ownerReferences"] = old["metadata"]["ownerReferences"]
    pod["status"].setdefault("qosClass", old["status"].get("qosClass", "BestEffort"))


def qos_class(spec: Mapping[str, Any]) -> str:
    """Return the quality-of-service class.

    The whole pod's resources if set, else its containers'.
    """
    if "resources" in spec:
        parts = [spec["resources"]]
    else:
        parts = [container["resources"] for container in (spec.get("initContainers") or [])]
        parts += [container["resources"] for container in spec.get("containers") or []]
    sides = [(_compute(part.get("requests")), _compute(part.get("limits"))) for part in parts]
    if not any(requests or limits for requests, limits in sides):
        return "BestEffort"
    guaranteed = all(
        len(limits) == 2 and (not requests or requests == limits) for requests, limits in sides
    )
    return "Guaranteed" if guaranteed else "Burstable"


def _compute(quantities: Mapping[str, str] | None) -> dict[str, Any]:
    if not quantities:
        return {}
    return {
        name: quantity_text.value(quantities[name])
        for name in ("cpu", "memory")
        if name in quantities and quantity_text.value(quantities[name]) > 0
    }


def validate(pod: Object) -> list[FieldError]:
    """Return what is wrong with a pod; a spec that others had already is not judged again."""
    spec = pod["spec"]
    if _stands_alone(spec) and _is_faultless(_text(spec)):
        return pods.validate_own_annotations(pod)
    return pods.validate_pod(pod)


def _stands_alone(spec: Object) -> bool:
    """Tell whether the verdict on a spec depends on nothing but the spec without its node."""
    node = spec.get("nodeName")
    if node and names.subdomain(node):
        return False
    return not any("ephemeral" in volume for volume in spec.get("volumes") or ())


def _text(spec: Object) -> bytes:
    if "nodeName" not in spec:
        return msgspec.json.encode(spec)
    return msgspec.json.encode({name: spec[name] for name in spec if name != "nodeName"})


@lru_cache(maxsize=4096)
def _is_faultless(spec: bytes) -> bool:
    return not pods.validate_pod({"metadata": {}, "spec": msgspec.json.decode(spec)})


def warnings(pod: Object, old: Stored | None) -> list[str]:
    """Return what is odd about a new pod; people seldom change one."""
    if old is not None:
        return []
    return [*_warned(_text(pod["spec"])), *pod_warnings.of_name(pod["metadata"], _HOST_NAME)]


@lru_cache(maxsize=4096)
def _warned(spec: bytes) -> tuple[str, ...]:
    return tuple(pod_warnings.warnings(msgspec.json.decode(spec), "spec"))


_HOST_NAME = "the Pod's hostname"


STRATEGY = Strategy(
    metadata=BOTH,
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    prepare_status=prepare_status,
    validate=validate,
    validate_new=pods.validate_new_pod,
    validate_update=podupdates.validate_update,
    warnings=warnings,
)
