"""Validation of pods and pod templates.

Source: Kubernetes API reference, PodSpec; order and wordings as recorded from kube-apiserver 1.36.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import (
    Stored,
    formed,
    formed_if_present,
    in_range,
    needed_one_of,
    present_and_formed,
)
from libs.apiserver.field_errors import FieldError, duplicate, missing, not_allowed, wrong
from libs.apiserver.metadata import validate_annotations, validate_labels
from libs.apiserver.rules.containers import (
    surroundings,
    validate_containers,
    validate_image_spaces,
)
from libs.apiserver.rules.network import (
    validate_dns,
    validate_host_names,
    validate_host_network,
    validate_host_users,
)
from libs.apiserver.rules.resources import (
    container_resource,
    validate_pod_resources,
    validate_requirements,
)
from libs.apiserver.rules.scheduling import validate_scheduling
from libs.apiserver.rules.security import validate_pod_context, validate_system
from libs.apiserver.rules.volumes import validate_volumes

_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DEADLINE = (1, 2**31 - 1)
_NO_TOKEN = "must not be specified when serviceAccountName is not set"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


def validate_pod(pod: Mapping[str, Any]) -> list[FieldError]:
    """Return what is wrong with a pod."""
    spec, meta = pod["spec"], pod["metadata"]
    found = validate_own_annotations(pod)
    found += validate_pod_spec(spec, "spec", meta.get("name", ""), of_pod=True)
    if not spec.get("serviceAccountName"):
        found += _tokens(spec)
    for kind in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            found += validate_image_spaces(container, f"spec.{kind}[{index}]")
    return found


def validate_own_annotations(pod: Mapping[str, Any]) -> list[FieldError]:
    """Return what is wrong with the annotations that pods alone have: the part beside the spec."""
    annotations = pod["metadata"].get("annotations") or {}
    return list(_validate_own_annotations(annotations, "metadata.annotations"))


def validate_new_pod(pod: Mapping[str, Any]) -> list[FieldError]:
    """Return what is wrong with a pod only because it is new."""
    found: list[FieldError] = []
    spec = pod["spec"]
    if spec.get("ephemeralContainers"):
        found.append(not_allowed("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        why = "cannot be set until all schedulingGates have been cleared"
        found.append(not_allowed("spec.nodeName", why))
    return found


def validate_template(template: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with a pod template; its labels and annotations are not in `metadata`."""
    annotations = template["metadata"].get("annotations") or {}
    yield from validate_labels(template["metadata"].get("labels") or {}, f"{at}.labels")
    yield from validate_annotations(annotations, f"{at}.annotations")
    yield from _validate_own_annotations(annotations, f"{at}.annotations")
    yield from validate_pod_spec(template["spec"], f"{at}.spec")
    if template["spec"].get("ephemeralContainers"):
        why = "ephemeral containers not allowed in pod template"
        yield not_allowed(f"{at}.spec.ephemeralContainers", why)


def _validate_own_annotations(annotations: Stored, at: str) -> Iterator[FieldError]:
    cost = annotations.get(_DELETION_COST)
    if cost is not None and not _is_int32(cost):
        yield wrong(f"{at}[{_DELETION_COST}]", cost, "must be a 32bit integer")


def _is_int32(text: str) -> bool:
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)", text) or text == "-0":
        return False
    return -(2**31) <= int(text) < 2**31


def validate_pod_spec(
    spec: Mapping[str, Any], at: str, pod_name: str = "", *, of_pod: bool = False
) -> Iterator[FieldError]:
    """Yield what is wrong with a pod spec.

    Args:
        spec: with its defaults.
        at: its path.
        pod_name: the pod's; empty in a template.
        of_pod: whether it is a pod's rather than a template's.
    """
    volumes, found = validate_volumes(spec.get("volumes") or (), f"{at}.volumes", pod_name)
    yield from found
    around = surroundings(spec, volumes)
    yield from _validate_resource_claims(spec.get("resourceClaims") or (), f"{at}.resourceClaims")
    yield from validate_containers(spec, at, around)
    yield from validate_pod_resources(spec, at, around.claims)
    yield from validate_host_network(spec, at, of_pod=of_pod)
    yield from needed_one_of(spec, at, "restartPolicy", _RESTART_POLICIES)
    yield from needed_one_of(spec, at, "dnsPolicy", _DNS_POLICIES)
    yield from validate_pod_context(spec, at)
    yield from validate_scheduling(spec, at)
    yield from validate_dns(spec, at)
    yield from validate_host_users(spec, at)
    yield from validate_host_names(spec, at)
    for name in ("serviceAccountName", "nodeName", "priorityClassName"):
        yield from formed_if_present(spec, at, name, names.subdomain)
    if "runtimeClassName" in spec:
        yield from formed(spec["runtimeClassName"], f"{at}.runtimeClassName", names.subdomain)
    yield from in_range(spec, at, "activeDeadlineSeconds", _DEADLINE)
    if "preemptionPolicy" in spec:
        yield from needed_one_of(spec, at, "preemptionPolicy", ("PreemptLowerPriority", "Never"))
    if overhead := spec.get("overhead"):
        limits = {"limits": overhead}
        # Its path has `limits` in it although the field has not: it is judged as one.
        yield from validate_requirements(limits, f"{at}.overhead", check_name=container_resource)
    yield from validate_system(spec, at)
    yield from _validate_files(spec, at)


def _tokens(spec: Stored) -> Iterator[FieldError]:
    for index, volume in enumerate(spec.get("volumes") or ()):
        for number, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            if "serviceAccountToken" in source:
                at = f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken"
                yield not_allowed(at, _NO_TOKEN)


def _validate_resource_claims(claims: Sequence[Stored], at: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        where, name = f"{at}[{index}]", claim.get("name", "")
        if name in seen:
            yield duplicate(f"{where}.name", name)
        else:
            yield from present_and_formed(claim, where, "name", names.label)
        seen.add(name)
        sources = [one for one in _CLAIM_SOURCES if one in claim]
        shown = {
            "Name": name,
            **{one[0].upper() + one[1:]: claim.get(one) for one in _CLAIM_SOURCES},
        }
        if len(sources) > 1:
            why = (
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            )
            yield wrong(where, shown, why)
        elif not sources:
            why = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            yield wrong(where, shown, why)
        for source in sources:
            yield from formed(claim[source], f"{where}.{source}", names.subdomain)


_CLAIM_SOURCES = ("resourceClaimName", "resourceClaimTemplateName")


def _validate_files(spec: Stored, at: str) -> Iterator[FieldError]:
    """Yield variables read from files of a volume that is no empty directory."""
    volumes = {volume.get("name", ""): volume for volume in spec.get("volumes") or ()}
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            for number, variable in enumerate(container.get("env") or ()):
                key = (variable.get("valueFrom") or {}).get("fileKeyRef")
                if key is None:
                    continue
                name = key.get("volumeName", "")
                where = f"{at}.{kind}[{index}].env[{number}].valueFrom.fileKeyRef.volumeName"
                if name not in volumes:
                    yield missing(where, name)
                elif "emptyDir" not in volumes[name]:
                    yield wrong(where, name, "referenced volume must be of type emptyDir")
