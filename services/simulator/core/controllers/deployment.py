"""Deployments: a ReplicaSet per template, and the rollout from the old ones to the new one.

Source: Kubernetes documentation, "Deployments".
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.frozen import thaw
from services.simulator.core.client import Client, controller_uid
from services.simulator.core.controllers import pods, rollout
from services.simulator.core.controllers.controller import Controller, its_controller, itself
from services.simulator.core.controllers.deployment_status import status_of
from services.simulator.core.controllers.replica_set import REPLICA_SETS
from services.simulator.core.objects import (
    Object,
    is_deleting,
    labels_of,
    owner_reference,
    read_stamp,
    split_key,
)

DEPLOYMENTS = "deployments.apps"
HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"


def deployment_controller(client: Client) -> Controller:
    """Return the controller of Deployments."""
    api = client.api
    owned = client.index(REPLICA_SETS, controller_uid)

    def reconcile(key: str, now: datetime) -> datetime | None:
        namespace, name = split_key(key)
        deployment = api.find(DEPLOYMENTS, name, namespace)
        if deployment is None:
            return None
        uid = deployment["metadata"]["uid"]
        if not is_deleting(deployment):
            _roll(api, deployment, owned.of(uid))
            deployment = api.get(DEPLOYMENTS, name, namespace)
        return _report(api, deployment, owned.of(uid), now)

    sources = {DEPLOYMENTS: itself, REPLICA_SETS: its_controller("Deployment")}
    return Controller("deployment", client, sources, reconcile)


def _roll(api: DirectApi, deployment: Object, replica_sets: Sequence[Object]) -> None:
    new, old = split(deployment, replica_sets)
    if deployment["spec"].get("paused"):
        if new is not None:
            _scale(api, new, deployment["spec"]["replicas"])
        return
    if deployment["spec"]["strategy"]["type"] == "Recreate" and not _is_gone(api, old):
        return
    if new is None:
        new = api.create(REPLICA_SETS, _new_replica_set(deployment, old))
    _number(api, deployment, new, old)
    goals = rollout.plan(
        rollout.bounds_of(deployment["spec"]), _replicas(new), [_replicas(one) for one in old]
    )
    for one in (new, *old):
        _scale(api, one, goals[one["metadata"]["name"]])
    _forget(api, deployment, old)


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


def _is_gone(api: DirectApi, old: Sequence[Object]) -> bool:
    """Take every old replica down; return whether the last pod is gone."""
    for one in old:
        _scale(api, one, 0)
    counts = ("replicas", "terminatingReplicas")
    return not any(one["status"].get(count) for one in old for count in counts)


def _new_replica_set(deployment: Object, old: Sequence[Object]) -> Object:
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
            "annotations": {**_own_annotations(meta), REVISION: str(_next_revision(old))},
            "ownerReferences": [owner_reference(deployment)],
        },
        "spec": {
            "replicas": 0,
            "minReadySeconds": spec.get("minReadySeconds", 0),
            "selector": selector,
            "template": template,
        },
    }


def _own_annotations(meta: Mapping[str, Any]) -> dict[str, str]:
    skipped = ("kubectl.kubernetes.io/last-applied-configuration", REVISION)
    annotations = meta.get("annotations") or {}
    return {key: value for key, value in annotations.items() if key not in skipped}


def _next_revision(old: Sequence[Object]) -> int:
    return max(map(_revision, old), default=0) + 1


def _number(api: DirectApi, deployment: Object, new: Object, old: Sequence[Object]) -> None:
    """Give the present template the highest revision, a rolled-back one a new number."""
    revision = str(max(_revision(new), _next_revision(old)))
    for resource, obj in ((REPLICA_SETS, new), (DEPLOYMENTS, deployment)):
        meta = obj["metadata"]
        if (meta.get("annotations") or {}).get(REVISION) != revision:
            change = {"metadata": {"annotations": {REVISION: revision}}}
            api.patch(resource, meta["name"], change, meta["namespace"])


def _replicas(replica_set: Object) -> rollout.Replicas:
    return rollout.Replicas(
        name=replica_set["metadata"]["name"],
        wanted=replica_set["spec"]["replicas"],
        available=replica_set["status"].get("availableReplicas", 0),
    )


def _scale(api: DirectApi, replica_set: Object, replicas: int) -> None:
    meta = replica_set["metadata"]
    if replica_set["spec"]["replicas"] != replicas:
        change = {"spec": {"replicas": replicas}}
        api.patch(REPLICA_SETS, meta["name"], change, meta["namespace"])


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
    deadline = timedelta(seconds=deployment["spec"]["progressDeadlineSeconds"])
    return read_stamp(progressing["lastUpdateTime"]) + deadline
