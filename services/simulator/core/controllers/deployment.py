"""Deployments: a ReplicaSet per template, and the rollout from the old ones to the new one.

Source: Kubernetes documentation, "Deployments".
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.frozen import thaw
from services.simulator.core.client import Client, controller_uid
from services.simulator.core.controllers import adoption, pods, rollout
from services.simulator.core.controllers.controller import Controller, its_controller, itself
from services.simulator.core.controllers.deployment_status import status_of
from services.simulator.core.controllers.replica_set import REPLICA_SETS
from services.simulator.core.events import Note
from services.simulator.core.objects import (
    Object,
    is_deleting,
    labels_of,
    owner_reference,
    read_stamp,
    span_of,
    split_key,
)

DEPLOYMENTS = "deployments.apps"
HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"


def deployment_controller(client: Client) -> Controller:
    """Return the controller of Deployments."""
    api = client.api
    owned = client.index(REPLICA_SETS, controller_uid)
    free = adoption.orphans(client, REPLICA_SETS)

    def reconcile(key: str, now: datetime) -> datetime | None:
        namespace, name = split_key(key)
        deployment = api.find(DEPLOYMENTS, name, namespace)
        if deployment is None:
            return None
        uid = deployment["metadata"]["uid"]
        if not is_deleting(deployment):
            adoption.adopt(api, deployment, free, REPLICA_SETS)
            _roll(client, deployment, owned.of(uid))
            deployment = api.get(DEPLOYMENTS, name, namespace)
        return _report(api, deployment, owned.of(uid), now)

    sources = {DEPLOYMENTS: itself, REPLICA_SETS: its_controller("Deployment")}
    return Controller("deployment", client, sources, reconcile)


def _roll(client: Client, deployment: Object, replica_sets: Sequence[Object]) -> None:
    new, old = split(deployment, replica_sets)
    present = [*([] if new is None else [new]), *reversed(old)]
    if _is_scaled(deployment, present):
        _resize(client, deployment, present)
        return
    if deployment["spec"].get("paused"):
        return
    if deployment["spec"]["strategy"]["type"] == "Recreate" and not _is_gone(
        client, deployment, old
    ):
        return
    bounds = rollout.bounds_of(deployment["spec"])
    if new is None:
        replicas = _first_replicas(bounds, old)
        new = client.api.create(REPLICA_SETS, _new_replica_set(deployment, old, replicas))
        if replicas:
            _tell(client, deployment, f"Scaled up replica set {_name(new)} from 0 to {replicas}")
    _number(client.api, deployment, new, old)
    goals = rollout.plan(bounds, _replicas(new), [_replicas(one) for one in old])
    for one in (new, *old):
        _scale(client, deployment, one, goals[_name(one)])
    _forget(client.api, deployment, old)


def _first_replicas(bounds: rollout.Bounds, old: Sequence[Object]) -> int:
    room: int = bounds.replicas + bounds.surge - sum(one["spec"]["replicas"] for one in old)
    return max(0, min(room, bounds.replicas))


def _is_scaled(deployment: Object, present: Sequence[Object]) -> bool:
    """Tell whether the Deployment's replicas changed since its ReplicaSets were scaled."""
    wanted = str(deployment["spec"]["replicas"])
    return any(
        one["spec"]["replicas"] and _annotations(one).get(DESIRED, wanted) != wanted
        for one in present
    )


def _resize(client: Client, deployment: Object, present: Sequence[Object]) -> None:
    """Give ReplicaSets their share of the Deployment's new replicas; `present` newest first."""
    bounds = rollout.bounds_of(deployment["spec"])
    running = [one for one in present if one["spec"]["replicas"]]
    if len(running) <= 1 or deployment["spec"]["strategy"]["type"] != "RollingUpdate":
        for one in running[:1]:
            _scale(client, deployment, one, bounds.replicas)
        return
    before = {_name(one): int(_annotations(one).get(MOST, "0")) for one in running}
    goals = rollout.in_proportion(bounds, [_replicas(one) for one in running], before)
    for one in running:
        _scale(client, deployment, one, goals[_name(one)])


def _annotations(obj: Mapping[str, Any]) -> Mapping[str, str]:
    return obj["metadata"].get("annotations") or {}


def _name(obj: Mapping[str, Any]) -> str:
    return str(obj["metadata"]["name"])


def _tell(client: Client, deployment: Object, message: str) -> None:
    note = Note(reason="ScalingReplicaSet", message=message, component="deployment-controller")
    client.events.record(deployment, note)


def split(
    deployment: Mapping[str, Any], replica_sets: Sequence[Object]
) -> tuple[Object | None, list[Object]]:
    """Return the ReplicaSet of the present template, if any, and the others, the oldest first."""
    ordered = sorted(replica_sets, key=_revision)
    template = _without_hash(deployment["spec"]["template"])
    matching = [one for one in ordered if _without_hash(one["spec"]["template"]) == template]
    new = matching[-1] if matching else None
    return new, [one for one in ordered if one is not new]


def _without_hash(template: Mapping[str, Any]) -> Object:
    metadata = template["metadata"]
    labels = {key: value for key, value in labels_of(template).items() if key != HASH_LABEL}
    return {**template, "metadata": {**metadata, "labels": labels}}


def _revision(replica_set: Mapping[str, Any]) -> int:
    text = (replica_set["metadata"].get("annotations") or {}).get(REVISION, "0")
    return int(text) if text.isdecimal() else 0


def _is_gone(client: Client, deployment: Object, old: Sequence[Object]) -> bool:
    """Take every old replica down; return whether the last pod is gone."""
    for one in old:
        _scale(client, deployment, one, 0)
    counts = ("replicas", "terminatingReplicas")
    return not any(one["status"].get(count) for one in old for count in counts)


def _new_replica_set(deployment: Object, old: Sequence[Object], replicas: int) -> Object:
    meta, spec = deployment["metadata"], deployment["spec"]
    digest = pods.hash_of(spec["template"])
    template = thaw(spec["template"])
    template["metadata"]["labels"] = {**labels_of(template), HASH_LABEL: digest}
    selector = thaw(spec["selector"])
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH_LABEL: digest}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{meta['name']}-{digest}",
            "namespace": meta["namespace"],
            "labels": dict(template["metadata"]["labels"]),
            "annotations": {
                **_own_annotations(meta),
                **_sizes(deployment),
                REVISION: str(_next_revision(old)),
            },
            "ownerReferences": [owner_reference(deployment)],
        },
        "spec": {
            "replicas": replicas,
            "minReadySeconds": spec.get("minReadySeconds", 0),
            "selector": selector,
            "template": template,
        },
    }


def _sizes(deployment: Mapping[str, Any]) -> dict[str, str]:
    """Return what a ReplicaSet remembers of its Deployment, to share later growth by."""
    bounds = rollout.bounds_of(deployment["spec"])
    return {DESIRED: str(bounds.replicas), MOST: str(bounds.replicas + bounds.surge)}


def _own_annotations(meta: Mapping[str, Any]) -> dict[str, str]:
    skipped = ("kubectl.kubernetes.io/last-applied-configuration", REVISION, DESIRED, MOST)
    annotations = meta.get("annotations") or {}
    return {key: value for key, value in annotations.items() if key not in skipped}


def _next_revision(old: Sequence[Object]) -> int:
    return max(map(_revision, old), default=0) + 1


def _number(api: DirectApi, deployment: Object, new: Object, old: Sequence[Object]) -> None:
    """Give the present template the highest revision, a rolled-back one a new number."""
    revision = str(max(_revision(new), _next_revision(old)))
    # With its status, so that it is no new generation of the Deployment.
    for resource, obj, part in ((REPLICA_SETS, new, ""), (DEPLOYMENTS, deployment, "status")):
        meta = obj["metadata"]
        if (meta.get("annotations") or {}).get(REVISION) != revision:
            change = {"metadata": {"annotations": {REVISION: revision}}}
            api.patch(resource, meta["name"], change, meta["namespace"], subresource=part)


def _replicas(replica_set: Object) -> rollout.Replicas:
    return rollout.Replicas(
        name=replica_set["metadata"]["name"],
        wanted=replica_set["spec"]["replicas"],
        available=replica_set["status"].get("availableReplicas", 0),
    )


def _scale(client: Client, deployment: Object, replica_set: Object, replicas: int) -> None:
    meta, before, sizes = (
        replica_set["metadata"],
        replica_set["spec"]["replicas"],
        _sizes(deployment),
    )
    remembers = sizes.items() <= _annotations(replica_set).items()
    if before == replicas and (remembers or not replicas):
        return
    change: Object = {"metadata": {"annotations": sizes}, "spec": {"replicas": replicas}}
    client.api.patch(REPLICA_SETS, meta["name"], change, meta["namespace"])
    if before != replicas:
        way = "up" if replicas > before else "down"
        what = f"Scaled {way} replica set {meta['name']} from {before} to {replicas}"
        _tell(client, deployment, what)


def _forget(api: DirectApi, deployment: Object, old: Sequence[Object]) -> None:
    """Delete old ReplicaSets without pods beyond the history that the Deployment keeps."""
    empty = [
        one
        for one in old
        if one["spec"]["replicas"] == 0
        and not one["status"].get("replicas")
        and not is_deleting(one)
    ]
    for one in empty[: max(0, len(empty) - deployment["spec"]["revisionHistoryLimit"])]:
        meta = one["metadata"]
        api.delete(REPLICA_SETS, meta["name"], meta["namespace"], DeleteOptions(uid=meta["uid"]))


def _report(
    api: DirectApi, deployment: Object, replica_sets: Sequence[Object], now: datetime
) -> datetime | None:
    new, old = split(deployment, replica_sets)
    status = status_of(deployment, new, old, now)
    pods.write_status(api, DEPLOYMENTS, deployment, status)
    progressing = next((c for c in status["conditions"] if c["type"] == "Progressing"), None)
    if progressing is None or progressing["reason"] != "ReplicaSetUpdated":
        return None
    deadline = span_of(deployment["spec"]["progressDeadlineSeconds"])
    return read_stamp(progressing["lastUpdateTime"]) + deadline
