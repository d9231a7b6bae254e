"""ReplicaSets and ReplicationControllers: as many pods as asked for, owned by reference.

Source: Kubernetes documentation, "ReplicaSet", "ReplicationController".
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.simulator.core.api.errors import ApiError
from services.simulator.core.client import Client, controller_uid
from services.simulator.core.controllers import adoption, pods
from services.simulator.core.controllers.controller import Controller, its_controller, itself
from services.simulator.core.objects import Object, is_deleting, split_key, with_condition
from services.simulator.core.part import earliest
from services.simulator.core.timetable import AT_ONCE

REPLICA_SETS = "replicasets.apps"
REPLICATION_CONTROLLERS = "replicationcontrollers"

_FAILURE = "ReplicaFailure"
_MANY_PODS = 1000
_PAUSE = timedelta(milliseconds=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    name: str
    resource: str
    kind: str
    tells_terminating: bool


def replica_set_controller(client: Client) -> Controller:
    """Return the controller of ReplicaSets."""
    kind = _Kind(
        name="replicaset", resource=REPLICA_SETS, kind="ReplicaSet", tells_terminating=True
    )
    return _controller(client, kind)


def replication_controller(client: Client) -> Controller:
    """Return the controller of ReplicationControllers."""
    kind = _Kind(
        name="replicationcontroller",
        resource=REPLICATION_CONTROLLERS,
        kind="ReplicationController",
        tells_terminating=False,
    )
    return _controller(client, kind)


def _controller(client: Client, kind: _Kind) -> Controller:
    api = client.api
    owned, free = client.index("pods", controller_uid), adoption.orphans(client)
    of_owner, who_selects = (
        its_controller(kind.kind),
        adoption.who_selects(client, kind.resource),
    )

    sizes: dict[str, int] = {}

    def reconcile(key: str, now: datetime) -> datetime | None:
        namespace, name = split_key(key)
        owner = api.find(kind.resource, name, namespace)
        if owner is None:
            sizes.pop(key, None)
            return None
        uid, failure = owner["metadata"]["uid"], None
        if not is_deleting(owner):
            adoption.release(api, owner, owned.of(uid))
            adoption.adopt(api, owner, free)
            try:
                if _scale(client, owner, owned.of(uid)):
                    return now
            except ApiError as error:
                failure = error
        everyone = owned.of(uid)
        sizes[key] = len(everyone)
        again = _report(client, kind, owner, everyone, failure, now)
        if failure is not None:
            raise failure
        return again

    def concerned(pod: Object) -> Iterable[str]:
        return (*of_owner(pod), *who_selects(pod))

    def pause(key: str) -> timedelta:
        """A look at a ReplicaSet costs as much as it has pods."""
        return _PAUSE * (sizes.get(key, 0) // _MANY_PODS)

    sources = {kind.resource: itself, "pods": concerned}
    return Controller(kind.name, client, sources, reconcile, pause=pause)


def _scale(client: Client, owner: Object, everyone: Iterable[Object]) -> bool:
    """Make or delete some pods; return whether there are more to be made or deleted."""
    present = pods.active(everyone)
    missing: int = owner["spec"]["replicas"] - len(present)
    for _ in range(min(missing, AT_ONCE)):
        pods.create(client, owner, pods.pod_from(owner, owner["spec"]["template"]))
    if missing < 0:
        on_node = Counter(pod["spec"].get("nodeName") for pod in present)
        present.sort(key=lambda pod: pods.deletion_order(pod, on_node[pod["spec"].get("nodeName")]))
        for pod in present[: min(-missing, AT_ONCE)]:
            pods.remove(client, owner, pod)
    return abs(missing) > AT_ONCE


def _report(
    client: Client,
    kind: _Kind,
    owner: Object,
    everyone: list[Object],
    failure: ApiError | None,
    now: datetime,
) -> datetime | None:
    spec = owner["spec"]
    present = pods.active(everyone)
    wanted = (spec["template"]["metadata"].get("labels") or {}).items()
    instants = [
        instant
        for pod in present
        if (instant := pods.available_at(pod, spec.get("minReadySeconds", 0))) is not None
    ]
    terminating = sum(map(is_deleting, everyone)) if kind.tells_terminating else None
    status = {
        "replicas": len(present),
        "fullyLabeledReplicas": sum(
            wanted <= (pod["metadata"].get("labels") or {}).items() for pod in present
        )
        or None,
        "readyReplicas": sum(map(pods.is_ready, present)) or None,
        "availableReplicas": sum(instant <= now for instant in instants) or None,
        "terminatingReplicas": terminating,
        "observedGeneration": owner["metadata"]["generation"],
        "conditions": _conditions(owner, failure, now) or None,
    }
    pods.write_status(client.api, kind.resource, owner, status)
    return earliest(*(instant for instant in instants if instant > now))


def _conditions(owner: Object, failure: ApiError | None, now: datetime) -> list[Object]:
    """Return the conditions: one while pods cannot be made."""
    before = list((owner.get("status") or {}).get("conditions") or ())
    if failure is None:
        return [one for one in before if one["type"] != _FAILURE]
    condition = {
        "type": _FAILURE,
        "status": "True",
        "reason": "FailedCreate",
        "message": str(failure),
    }
    return with_condition(before, condition, now)
