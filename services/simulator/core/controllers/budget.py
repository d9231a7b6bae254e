"""PodDisruptionBudgets: how many of the selected pods may be evicted now.

Evictions lower the number at once (`core/api/pods.py`); here it is counted anew from the pods.

Source: Kubernetes documentation, "Specifying a Disruption Budget for your Application".
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from libs.apiserver.labels import selects_labels
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.client import Client
from services.simulator.core.controllers import pods
from services.simulator.core.controllers.controller import Controller, itself
from services.simulator.core.controllers.rollout import scaled
from services.simulator.core.objects import (
    Object,
    controller_of,
    is_deleting,
    key_of,
    read_stamp,
    split_key,
    with_condition,
)
from services.simulator.core.part import earliest

BUDGETS = "poddisruptionbudgets.policy"

Selects = Callable[[Mapping[str, str]], bool]

_MANY_PODS = 500
_PAUSE = timedelta(milliseconds=100)
_EVICTION_TAKES = timedelta(minutes=2)
"""After this an evicted pod that is still there counts again."""

_SCALED = {
    "ReplicaSet": "replicasets.apps",
    "StatefulSet": "statefulsets.apps",
    "Deployment": "deployments.apps",
    "ReplicationController": "replicationcontrollers",
}


def budget_controller(client: Client) -> Controller:
    """Return the controller of PodDisruptionBudgets."""
    api, chosen_by = client.api, _Chosen(client)

    def reconcile(key: str, now: datetime) -> datetime | None:
        namespace, name = split_key(key)
        budget = api.find(BUDGETS, name, namespace)
        if budget is None:
            chosen_by.forget(key)
            return None
        chosen = chosen_by.of(key, budget)
        status = _status(api, budget, chosen, now)
        pods.write_status(api, BUDGETS, budget, status)
        ends = [read_stamp(at) + _EVICTION_TAKES for at in (status["disruptedPods"] or {}).values()]
        return earliest(*ends)

    sources = {BUDGETS: itself, "pods": chosen_by.selecting}
    return Controller("disruption", client, sources, reconcile, pause=chosen_by.pause)


class _Chosen:
    """Which pods which budget selects: kept up pod by pod, so that many pods cost nothing."""

    def __init__(self, client: Client) -> None:
        self._api = client.api
        self._budgets = client.index(BUDGETS, _namespace)
        self._members: dict[str, dict[str, None]] = {}
        self._selectors: dict[str, tuple[str, int, Selects]] = {}

    def selecting(self, pod: Object) -> Iterable[str]:
        """Yield the budgets that select a pod, as it is or was."""
        labels = _labels(pod)
        for budget in self._budgets.of(pod["metadata"]["namespace"]):
            key = key_of(budget)
            if self._selector(key, budget)(labels):
                self._members.setdefault(key, {})[key_of(pod)] = None
                yield key

    def of(self, key: str, budget: Object) -> list[Object]:
        """Return the pods that a budget selects, by name."""
        selects = self._selector(key, budget)
        members = self._members.setdefault(key, {})
        chosen = {}
        for pod_key in list(members):
            namespace, name = split_key(pod_key)
            pod = self._api.find("pods", name, namespace)
            if pod is None or not selects(_labels(pod)):
                del members[pod_key]
            else:
                chosen[name] = pod
        return [chosen[name] for name in sorted(chosen)]

    def pause(self, key: str) -> timedelta:
        """A look at a budget costs as much as it selects."""
        return _PAUSE * (len(self._members.get(key, ())) // _MANY_PODS)

    def forget(self, key: str) -> None:
        """Forget a budget that is gone."""
        self._members.pop(key, None)
        self._selectors.pop(key, None)

    def _selector(self, key: str, budget: Object) -> Selects:
        """Return the compiled selector; a new one chooses anew among all pods."""
        meta = budget["metadata"]
        known = self._selectors.get(key)
        if known is not None and known[:2] == (meta["uid"], meta["generation"]):
            return known[2]
        selects = selects_labels(budget["spec"].get("selector"))
        self._selectors[key] = (meta["uid"], meta["generation"], selects)
        pods_there = self._api.list("pods", meta["namespace"])
        self._members[key] = {key_of(pod): None for pod in pods_there if selects(_labels(pod))}
        return selects


def _namespace(obj: Object) -> str | None:
    return str(obj["metadata"]["namespace"])


def _labels(pod: Mapping[str, Any]) -> Mapping[str, str]:
    return pod["metadata"].get("labels") or {}


def _status(api: DirectApi, budget: Object, chosen: Sequence[Object], now: datetime) -> Object:
    evicted = _still_evicted(budget, chosen, now)
    healthy = sum(
        pods.is_ready(pod)
        for pod in chosen
        if not is_deleting(pod) and pod["metadata"]["name"] not in evicted
    )
    expected, desired = _wanted(api, budget["spec"], chosen)
    allowed = max(0, healthy - desired) if expected and desired is not None else 0
    return {
        "observedGeneration": budget["metadata"]["generation"],
        "currentHealthy": healthy,
        "desiredHealthy": desired or 0,
        "expectedPods": expected,
        "disruptionsAllowed": allowed,
        "disruptedPods": evicted or None,
        "conditions": _conditions(budget, allowed, now, failed=desired is None),
    }


def _still_evicted(budget: Object, chosen: Sequence[Object], now: datetime) -> dict[str, str]:
    """Return the pods whose allowed eviction is not seen yet, with the time of the answer."""
    present = {pod["metadata"]["name"] for pod in chosen if not is_deleting(pod)}
    noted = budget["status"].get("disruptedPods") or {}
    return {
        name: at
        for name, at in noted.items()
        if name in present and now < read_stamp(at) + _EVICTION_TAKES
    }


def _wanted(
    api: DirectApi, spec: Mapping[str, Any], chosen: Sequence[Object]
) -> tuple[int, int | None]:
    """Return how many pods there should be and how many healthy; None if that is unknown."""
    least = spec.get("minAvailable")
    if isinstance(least, int):
        return len(chosen), least
    expected = _expected(api, chosen)
    if expected is None:
        return len(chosen), None
    if least is not None:
        return expected, scaled(least, expected, up=True)
    most = spec.get("maxUnavailable")
    if most is None:
        return expected, 1  # a budget that says nothing asks for one
    return expected, max(0, expected - scaled(most, expected, up=True))


def _expected(api: DirectApi, chosen: Sequence[Object]) -> int | None:
    """Return the replicas that the pods' controllers want; None if one of them has none."""
    replicas: dict[str, int] = {}
    looked_up: set[str] = set()
    for pod in chosen:
        reference = controller_of(pod)
        if reference is None or reference["uid"] in looked_up:
            continue
        looked_up.add(reference["uid"])
        owner = _scaled_owner(api, pod)
        if owner is None:
            continue
        if "replicas" not in owner["spec"]:
            return None
        replicas[owner["metadata"]["uid"]] = owner["spec"]["replicas"]
    return sum(replicas.values())


def _scaled_owner(api: DirectApi, obj: Object) -> Object | None:
    """Return the topmost controller of a pod; a kind without replicas has none in its spec."""
    found: Object | None = None
    reference = controller_of(obj)
    while reference is not None:
        resource = _SCALED.get(reference["kind"])
        if resource is None:
            return {"metadata": {"uid": reference["uid"]}, "spec": {}} if found is None else found
        owner = api.find(resource, reference["name"], obj["metadata"]["namespace"])
        if owner is None:
            return found
        found, reference = owner, controller_of(owner)
    return found


def _conditions(budget: Object, allowed: int, now: datetime, *, failed: bool) -> list[Object]:
    reason = "SyncFailed" if failed else "SufficientPods" if allowed else "InsufficientPods"
    condition = {
        "type": "DisruptionAllowed",
        "status": "True" if allowed else "False",
        "reason": reason,
        "message": "a controller of the pods has no replicas to count" if failed else "",
        "observedGeneration": budget["metadata"]["generation"],
    }
    return with_condition(list(budget["status"].get("conditions") or ()), condition, now)
