"""From the short form of a pod to pods, and to the DaemonSet that has such pods."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.scenarios.words import canonical, checked, merged, requirement, toleration

_POD = {
    *("name", "count", "namespace", "labels", "annotations", "node", "metadata", "spec", "status"),
    *("cpu", "memory", "resources", "limits", "nodeSelector", "requires", "prefers"),
    *("spread", "near", "apart", "tolerations", "claims", "ports", "owner", "ending"),
    *("deviceTemplates", "deviceClaims"),
}
_VERSIONS = {"Node": "v1", "ReplicationController": "v1", "Job": "batch/v1"}
"""API versions of owners that are not of `apps/v1`."""


def pods(short: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a pod, or `count` of them with a number behind the name; with `node` they run there."""
    checked(short, _POD)
    metadata, spec = _template(short)
    status: dict[str, Any] = {"phase": "Pending"}
    if "node" in short:
        spec = {**spec, "nodeName": short["node"]}
        status = {"phase": "Running"}
    names = [short["name"]]
    if "count" in short:
        names = [f"{short['name']}-{index}" for index in range(short["count"])]
    for name in names:
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "uid": f"{metadata['namespace']}/{name}", **metadata},
            "spec": spec,
            "status": merged(status, short.get("status", {})),
        }


def daemon_set(short: Mapping[str, Any]) -> dict[str, Any]:
    """Return the DaemonSet whose pods have this form."""
    name = short["name"]
    metadata, spec = _template({"labels": {"daemon": name}, **short})
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": metadata["namespace"], "uid": name},
        "spec": {
            "selector": {"matchLabels": metadata["labels"]},
            "template": {"metadata": {"labels": metadata["labels"]}, "spec": spec},
        },
    }


def _template(short: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return metadata but for the name, and spec."""
    metadata: dict[str, Any] = {
        "namespace": short.get("namespace", "default"),
        "labels": short.get("labels", {}),
        "annotations": short.get("annotations", {}),
    }
    if short.get("ending"):
        metadata["deletionTimestamp"] = "2026-07-01T12:00:30Z"
    if "owner" in short:
        metadata["ownerReferences"] = [_owner(short["owner"])]
    spec: dict[str, Any] = {"containers": [_container(short)]}
    selector = short.get("nodeSelector", {})
    spec["nodeSelector"] = {canonical(key): value for key, value in selector.items()}
    spec["tolerations"] = [toleration(one) for one in short.get("tolerations", ())]
    spec["topologySpreadConstraints"] = [_spread(one, short) for one in short.get("spread", ())]
    spec["affinity"] = {
        "nodeAffinity": _node_affinity(short),
        "podAffinity": _pod_affinity(short, "near"),
        "podAntiAffinity": _pod_affinity(short, "apart"),
    }
    spec["volumes"] = [
        {"name": f"volume-{claim}", "persistentVolumeClaim": {"claimName": claim}}
        for claim in short.get("claims", ())
    ]
    spec["resourceClaims"] = [
        {"name": name, field: name}
        for key, field in (
            ("deviceTemplates", "resourceClaimTemplateName"),
            ("deviceClaims", "resourceClaimName"),
        )
        for name in short.get(key, ())
    ]
    return merged(metadata, short.get("metadata", {})), merged(spec, short.get("spec", {}))


def _owner(short: str) -> dict[str, Any]:
    """Return the reference to `Kind/name`, whose uid is its name."""
    kind, _, name = short.partition("/")
    version = _VERSIONS.get(kind, "apps/v1")
    return {"apiVersion": version, "kind": kind, "name": name, "uid": name, "controller": True}


def _container(short: Mapping[str, Any]) -> dict[str, Any]:
    requests = {key: str(short[key]) for key in ("cpu", "memory") if key in short}
    requests |= {key: str(value) for key, value in short.get("resources", {}).items()}
    limits = {key: str(value) for key, value in short.get("limits", {}).items()}
    ports = [
        one if isinstance(one, Mapping) else {"hostPort": one, "containerPort": one}
        for one in short.get("ports", ())
    ]
    return {"name": "c", "resources": {"requests": requests, "limits": limits}, "ports": ports}


def _spread(short: str | Mapping[str, Any], pod: Mapping[str, Any]) -> dict[str, Any]:
    rest = {} if isinstance(short, str) else dict(short)
    key = short if isinstance(short, str) else rest.pop("key")
    made = {
        "topologyKey": canonical(key),
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": rest.pop("labels", pod.get("labels", {}))},
    }
    return made | rest


def _node_affinity(short: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "requires" in short:
        given = short["requires"]
        terms = given if all(isinstance(one, list) for one in given) else [given]
        found["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": [_term(one) for one in terms]
        }
    preferred = []
    for one in short.get("prefers", ()):
        whole = one if isinstance(one, Mapping) else {"requires": [one]}
        preferred.append({"weight": whole.get("weight", 1), "preference": _term(whole["requires"])})
    if preferred:
        found["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
    return found


def _term(entries: list[Any]) -> dict[str, Any]:
    return {"matchExpressions": [requirement(one) for one in entries]}


def _pod_affinity(short: Mapping[str, Any], field: str) -> dict[str, Any]:
    required, preferred = [], []
    for one in short.get(field, ()):
        rest = {} if isinstance(one, str) else dict(one)
        key = one if isinstance(one, str) else rest.pop("key")
        weight = rest.pop("weight", None)
        selector = {"matchLabels": rest.pop("labels", short.get("labels", {}))}
        term = {"topologyKey": canonical(key), "labelSelector": selector} | rest
        if weight is None:
            required.append(term)
        else:
            preferred.append({"weight": weight, "podAffinityTerm": term})
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": required,
        "preferredDuringSchedulingIgnoredDuringExecution": preferred,
    }
