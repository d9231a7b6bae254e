"""What schedulers and drains do to pods: bind and evict.

Source: Kubernetes documentation, "API-initiated eviction", "Disruptions"; details as recorded from
kube-apiserver 1.36.
"""

from typing import Any

from libs.apiserver.labels import selects_labels
from services.simulator.core.api import deletion, errors
from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.frozen import thaw
from services.simulator.core.api.placement import uid_mismatch
from services.simulator.core.api.plugins import admission
from services.simulator.core.api.storage import Version
from services.simulator.core.api.store import Object, Store

_BLOCKED = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL = (
    "This pod has more than one PodDisruptionBudget, "
    "which the eviction subresource does not support."
)


def bind(
    store: Store, name: str, namespace: str, binding: Object, *, dry_run: bool = False
) -> None:
    """Assign a pod to a node; raises 400, 404, 409, 500."""
    pods = store.resource("pods")
    meta, target = binding.get("metadata") or {}, binding.get("target") or {}
    if meta.get("name", name) != name:
        raise errors.bad_request("name in URL does not match name in Binding object")
    if target.get("kind", "Node") not in ("Node", ""):
        kind = target["kind"]
        raise errors.internal(
            f'target.kind: Unsupported value: "{kind}": supported values: "Node", "<empty>"'
        )
    if not target.get("name"):
        raise errors.internal("target.name: Required value")
    old = store.read(pods, name, namespace)
    if meta.get("uid", old.object["metadata"]["uid"]) != old.object["metadata"]["uid"]:
        raise uid_mismatch(pods, old, meta["uid"])
    _check_bindable(old.object, name)
    pod = thaw(old.object)
    pod["spec"]["nodeName"] = target["name"]
    admission.label_bound_pod(store.plugins, store, pod)
    if meta.get("annotations"):
        pod["metadata"].setdefault("annotations", {}).update(meta["annotations"])
    set_condition(pod, {"type": "PodScheduled", "status": "True"}, store.timestamp())
    pod["status"].pop("nominatedNodeName", None)
    if not dry_run:
        store.write(pods, old.key, pod)


def _check_bindable(pod: Object, name: str) -> None:
    why = ""
    if "deletionTimestamp" in pod["metadata"]:
        why = f"pod {name} is being deleted, cannot be assigned to a host"
    elif node := pod["spec"].get("nodeName"):
        why = f'pod {name} is already assigned to node "{node}"'
    elif pod["spec"].get("schedulingGates"):
        why = f"pod {name} has non-empty .spec.schedulingGates"
    if why:
        message = f'Operation cannot be fulfilled on pods/binding "{name}": {why}'
        raise ApiError(409, "Conflict", message, {"name": name, "kind": "pods/binding"})


def set_condition(obj: Object, condition: dict[str, str], now: str) -> None:
    """Set a condition of a pod, its transition time only when its status changes."""
    conditions = obj["status"].setdefault("conditions", [])
    old = next((entry for entry in conditions if entry["type"] == condition["type"]), None)
    changed = old is None or old["status"] != condition["status"]
    transition = now if changed or old is None else old["lastTransitionTime"]
    entry = {
        "type": condition["type"],
        "status": condition["status"],
        "lastProbeTime": None,
        "lastTransitionTime": transition,
    }
    entry.update({key: condition[key] for key in ("reason", "message") if key in condition})
    if old is None:
        conditions.append(entry)
    else:
        conditions[conditions.index(old)] = entry


def evict(
    store: Store, name: str, namespace: str, eviction: Object, *, dry_run: bool = False
) -> None:
    """Evict a pod if its budget allows; raises 400, 404, 409, 429, 500 (two budgets)."""
    meta = eviction.get("metadata") or {}
    if meta.get("name", name) != name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    sent = eviction.get("deleteOptions") or {}
    preconditions = sent.get("preconditions") or {}
    dry_run = dry_run or bool(sent.get("dryRun"))
    options = DeleteOptions(
        grace_seconds=sent.get("gracePeriodSeconds"),
        uid=preconditions.get("uid") or "",
        resource_version=preconditions.get("resourceVersion") or "",
        dry_run=dry_run,
    )
    pods = store.resource("pods")
    pod = store.read(pods, name, namespace)
    if not _ignores_budget(pod.object):
        _charge_budget(store, pod, namespace, dry_run=dry_run)
    deletion.check_preconditions(pods, pod, options)
    if not dry_run:
        _mark_disrupted(store, pod)
        options = DeleteOptions(grace_seconds=options.grace_seconds, uid=options.uid)
    deletion.delete(store, pods, name, namespace, options)


def _ignores_budget(pod: Object) -> bool:
    phase = pod["status"].get("phase")
    return phase in ("Succeeded", "Failed", "Pending") or "deletionTimestamp" in pod["metadata"]


def _charge_budget(store: Store, pod: Version, namespace: str, *, dry_run: bool) -> None:
    budgets = store.resource("poddisruptionbudgets.policy")
    labels = pod.object["metadata"].get("labels") or {}
    matching = [
        version
        for version in store.storage.scan(budgets.bucket, f"{namespace}/")
        if selects_labels(version.object["spec"].get("selector"))(labels)
    ]
    if len(matching) > 1:
        raise errors.internal(_SEVERAL)
    if matching and not _unready_may_go(pod.object, matching[0].object):
        _take_one(store, matching[0], pod, dry_run=dry_run)


def _unready_may_go(pod: Object, budget: Object) -> bool:
    """Tell whether an unready pod goes without lowering the budget."""
    ready = any(
        entry["type"] == "Ready" and entry["status"] == "True"
        for entry in pod["status"].get("conditions", ())
    )
    if ready:
        return False
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget["status"]
    healthy, needed = int(status["currentHealthy"]), int(status["desiredHealthy"])
    return 0 < needed <= healthy


def _take_one(store: Store, budget: Version, pod: Version, *, dry_run: bool) -> None:
    """Lower the budget by one.

    Raises the 429 if nothing is left or the budget is not up to date.
    """
    name, status = budget.object["metadata"]["name"], budget.object["status"]
    if status.get("observedGeneration", 0) < budget.object["metadata"].get("generation", 0):
        raise _too_many(
            f"The disruption budget {name} is still being processed by the server.", retry_after=10
        )
    if status["disruptionsAllowed"] < 0:
        raise errors.forbidden(store.resource("pods"), name, "pdb disruptions allowed is negative")
    if status["disruptionsAllowed"] == 0:
        needed, healthy = status["desiredHealthy"], status["currentHealthy"]
        if healthy > needed:
            raise _too_many(f"The disruption budget {name} does not allow evicting pods currently")
        raise _too_many(
            f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
        )
    if dry_run:
        return
    changed = thaw(budget.object)
    left = status["disruptionsAllowed"] - 1
    changed["status"]["disruptionsAllowed"] = left
    disrupted = changed["status"].setdefault("disruptedPods", {})
    disrupted[pod.object["metadata"]["name"]] = store.timestamp()
    _note_allowed(changed, left, store.timestamp())
    store.write(store.resource("poddisruptionbudgets.policy"), budget.key, changed)


def _note_allowed(budget: Object, left: int, now: str) -> None:
    condition = {
        "type": "DisruptionAllowed",
        "status": "True" if left > 0 else "False",
        "observedGeneration": budget["status"].get("observedGeneration", 0),
        "lastTransitionTime": now,
        "reason": "SufficientPods" if left > 0 else "InsufficientPods",
        "message": "",
    }
    conditions = budget["status"].setdefault("conditions", [])
    for index, old in enumerate(conditions):
        if old["type"] == condition["type"]:
            if old["status"] == condition["status"]:
                condition["lastTransitionTime"] = old["lastTransitionTime"]
            conditions[index] = condition
            return
    conditions.append(condition)


def _mark_disrupted(store: Store, pod: Version) -> None:
    changed = thaw(pod.object)
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    set_condition(changed, condition, store.timestamp())
    store.write(store.resource("pods"), pod.key, changed)


def _too_many(cause: str, *, retry_after: int | None = None) -> ApiError:
    details: dict[str, Any] = {"causes": [{"reason": "DisruptionBudget", "message": cause}]}
    if retry_after is not None:
        details["retryAfterSeconds"] = retry_after
    return ApiError(429, "TooManyRequests", _BLOCKED, details, retry_after=retry_after)
