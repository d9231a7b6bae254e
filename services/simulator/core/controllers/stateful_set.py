"""StatefulSets: pods with a number each, made and removed in order, with claims that outlive them.

A pod that is made anew below the partition gets the present template, too.

Source: Kubernetes documentation, "StatefulSets".
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.frozen import thaw
from services.simulator.core.client import Client, controller_uid
from services.simulator.core.controllers import pods
from services.simulator.core.controllers.controller import Controller, its_controller, itself
from services.simulator.core.controllers.revisions import Revisions
from services.simulator.core.objects import Object, has_ended, is_deleting, labels_of, split_key
from services.simulator.core.part import earliest

STATEFUL_SETS = "statefulsets.apps"
CLAIMS = "persistentvolumeclaims"
REVISION = "controller-revision-hash"


def stateful_set_controller(client: Client) -> Controller:
    """Return the controller of StatefulSets."""
    api = client.api
    owned, revisions = client.index("pods", controller_uid), Revisions(client)

    def reconcile(key: str, now: datetime) -> datetime | None:
        namespace, name = split_key(key)
        stateful_set = api.find(STATEFUL_SETS, name, namespace)
        if stateful_set is None:
            return None
        uid = stateful_set["metadata"]["uid"]
        wanted = revisions.present(stateful_set)["metadata"]["name"]
        if not is_deleting(stateful_set):
            present = _by_ordinal(stateful_set, owned.of(uid))
            _move(client, stateful_set, wanted, present, now)
            used = {labels_of(pod).get(REVISION, "") for pod in owned.of(uid)}
            revisions.forget_old(stateful_set, used)
        return _report(api, stateful_set, wanted, owned.of(uid), now)

    sources = {STATEFUL_SETS: itself, "pods": its_controller("StatefulSet")}
    return Controller("statefulset", client, sources, reconcile)


def _by_ordinal(stateful_set: Object, owned: Sequence[Object]) -> dict[int, Object]:
    """Return the pods with their numbers; one that is named otherwise is not counted."""
    pattern = re.compile(re.escape(stateful_set["metadata"]["name"]) + r"-(0|[1-9]\d{0,8})")
    found = [(pattern.fullmatch(pod["metadata"]["name"]), pod) for pod in owned]
    return {int(match[1]): pod for match, pod in found if match is not None}


def _ordinals(spec: Mapping[str, Any]) -> range:
    start = (spec.get("ordinals") or {}).get("start", 0)
    return range(start, start + spec["replicas"])


def _move(
    client: Client, stateful_set: Object, wanted: str, present: Mapping[int, Object], now: datetime
) -> None:
    """Take the next step, or with parallel management the next steps, towards what is wanted."""
    spec = stateful_set["spec"]
    in_order = spec["podManagementPolicy"] == "OrderedReady"
    for pod in present.values():
        if has_ended(pod) and not is_deleting(pod):
            pods.remove(client, stateful_set, pod, now)
    for ordinal in _ordinals(spec):
        if ordinal not in present:
            _create(client, stateful_set, wanted, ordinal, now)
        if in_order and not _is_available(present.get(ordinal), spec, now):
            return
    surplus = sorted(set(present) - set(_ordinals(spec)), reverse=True)
    for ordinal in surplus[:1] if in_order else surplus:
        if not is_deleting(present[ordinal]):
            pods.remove(client, stateful_set, present[ordinal], now)
    if not surplus:
        _renew(client, stateful_set, wanted, present, now)


def _is_available(pod: Object | None, spec: Mapping[str, Any], now: datetime) -> bool:
    if pod is None or is_deleting(pod) or has_ended(pod):
        return False
    at = pods.available_at(pod, spec.get("minReadySeconds", 0))
    return at is not None and at <= now


def _renew(
    client: Client, stateful_set: Object, wanted: str, present: Mapping[int, Object], now: datetime
) -> None:
    """Delete the last pod of an old template once all after it are new and available."""
    spec = stateful_set["spec"]
    if spec["updateStrategy"]["type"] != "RollingUpdate":
        return
    partition = (spec["updateStrategy"].get("rollingUpdate") or {}).get("partition", 0)
    for ordinal in reversed(_ordinals(spec)):
        pod = present.get(ordinal)
        if ordinal < partition or pod is None or is_deleting(pod):
            return
        if labels_of(pod).get(REVISION) != wanted:
            pods.remove(client, stateful_set, pod, now)
            return
        if not _is_available(pod, spec, now):
            return


def _create(client: Client, stateful_set: Object, wanted: str, ordinal: int, now: datetime) -> None:
    meta, spec = stateful_set["metadata"], stateful_set["spec"]
    name = f"{meta['name']}-{ordinal}"
    pod = pods.pod_from(stateful_set, spec["template"])
    del pod["metadata"]["generateName"]
    pod["metadata"]["name"] = name
    pod["metadata"]["labels"] = {
        **labels_of(pod),
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(ordinal),
        REVISION: wanted,
    }
    pod["spec"] |= {"hostname": name, "subdomain": spec.get("serviceName", "")}
    templates = spec.get("volumeClaimTemplates") or ()
    claimed = {template["metadata"].get("name", "") for template in templates}
    volumes = [v for v in pod["spec"].get("volumes") or () if v["name"] not in claimed]
    for template in templates:
        claim = _claim(stateful_set, template, name)
        if client.api.find(CLAIMS, claim["metadata"]["name"], meta["namespace"]) is None:
            client.api.create(CLAIMS, claim)
        source = {"claimName": claim["metadata"]["name"]}
        name_of_volume = template["metadata"].get("name", "")
        volumes.append({"name": name_of_volume, "persistentVolumeClaim": source})
    if volumes:
        pod["spec"]["volumes"] = volumes
    pods.create(client, stateful_set, pod, now)


def _claim(stateful_set: Object, template: Mapping[str, Any], pod_name: str) -> Object:
    meta = template["metadata"]
    labels = stateful_set["spec"]["selector"].get("matchLabels") or {}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": f"{meta.get('name', '')}-{pod_name}",
            "namespace": stateful_set["metadata"]["namespace"],
            "labels": {**(meta.get("labels") or {}), **labels},
            "annotations": dict(meta.get("annotations") or {}),
        },
        "spec": thaw(template["spec"]),
    }


def _report(
    api: DirectApi, stateful_set: Object, wanted: str, everyone: Sequence[Object], now: datetime
) -> datetime | None:
    spec = stateful_set["spec"]
    present = pods.active(everyone)
    new = [pod for pod in present if labels_of(pod).get(REVISION) == wanted]
    waits = [pods.available_at(pod, spec.get("minReadySeconds", 0)) for pod in present]
    instants = [instant for instant in waits if instant is not None]
    current = stateful_set["status"].get("currentRevision") or wanted
    if len(new) == len(present) == spec["replicas"] == len(instants):
        current = wanted
    of_current = sum(labels_of(pod).get(REVISION) == current for pod in present)
    status = {
        "observedGeneration": stateful_set["metadata"]["generation"],
        "replicas": len(present),
        "readyReplicas": len(instants) or None,
        "availableReplicas": sum(instant <= now for instant in instants),
        "currentReplicas": of_current or None,
        "updatedReplicas": len(new) or None,
        "currentRevision": current,
        "updateRevision": wanted,
        "collisionCount": stateful_set["status"].get("collisionCount", 0),
    }
    pods.write_status(api, STATEFUL_SETS, stateful_set, status)
    return earliest(*(instant for instant in instants if instant > now))
