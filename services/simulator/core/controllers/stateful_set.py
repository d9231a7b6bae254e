"""StatefulSets: pods with a number each, made and removed in order, with claims that outlive them.

Source: Kubernetes documentation, "StatefulSets".
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.simulator.core.api.errors import ApiError
from services.simulator.core.client import Client, controller_uid
from services.simulator.core.controllers import adoption, pods, stateful_claims
from services.simulator.core.controllers.controller import Controller, its_controller, itself
from services.simulator.core.controllers.revisions import Revisions, template_of
from services.simulator.core.events import Note
from services.simulator.core.objects import Object, has_ended, is_deleting, labels_of, split_key
from services.simulator.core.part import earliest

STATEFUL_SETS = "statefulsets.apps"
REVISION = "controller-revision-hash"

_COMPONENT = "statefulset-controller"


def stateful_set_controller(client: Client) -> Controller:
    """Return the controller of StatefulSets."""
    api = client.api
    owned, free = client.index("pods", controller_uid), adoption.orphans(client)
    revisions = Revisions(client)
    of_owner, who_selects = (
        its_controller("StatefulSet"),
        adoption.who_selects(client, STATEFUL_SETS),
    )

    def reconcile(key: str, now: datetime) -> datetime | None:
        namespace, name = split_key(key)
        stateful_set = api.find(STATEFUL_SETS, name, namespace)
        if stateful_set is None:
            return None
        uid = stateful_set["metadata"]["uid"]
        adoption.release(api, stateful_set, owned.of(uid))
        if not is_deleting(stateful_set):
            adoption.adopt(api, stateful_set, free, only=_names(stateful_set))
        templates = _templates(revisions, stateful_set)
        if not is_deleting(stateful_set):
            _move(client, stateful_set, templates, _by_ordinal(stateful_set, owned.of(uid)), now)
        again = _report(client, stateful_set, templates, owned.of(uid), now)
        if not is_deleting(stateful_set):
            revisions.forget_old(stateful_set, _used(templates, owned.of(uid)))
        return again

    def concerned(pod: Object) -> Iterable[str]:
        return (*of_owner(pod), *who_selects(pod))

    sources = {STATEFUL_SETS: itself, "pods": concerned}
    return Controller("statefulset", client, sources, reconcile)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Templates:
    """The revisions that pods are made from: by their names."""

    current: str
    update: str
    old: Mapping[str, Any]
    """The template of the current revision."""


def _templates(revisions: Revisions, stateful_set: Object) -> _Templates:
    update = revisions.present(stateful_set)
    name = stateful_set["status"].get("currentRevision") or update["metadata"]["name"]
    current = revisions.of(stateful_set).get(name, update)
    return _Templates(
        current=current["metadata"]["name"],
        update=update["metadata"]["name"],
        old=template_of(current),
    )


def _used(templates: _Templates, present: Sequence[Object]) -> set[str]:
    return {templates.current, templates.update, *(labels_of(p).get(REVISION, "") for p in present)}


def _names(stateful_set: Object) -> re.Pattern[str]:
    return re.compile(re.escape(stateful_set["metadata"]["name"]) + r"-(0|[1-9]\d{0,8})")


def _by_ordinal(stateful_set: Object, owned: Sequence[Object]) -> dict[int, Object]:
    """Return the pods with their numbers; one that is named otherwise is not counted."""
    pattern = _names(stateful_set)
    found = [(pattern.fullmatch(pod["metadata"]["name"]), pod) for pod in owned]
    return {int(match[1]): pod for match, pod in found if match is not None}


def _ordinals(spec: Mapping[str, Any]) -> range:
    start = (spec.get("ordinals") or {}).get("start", 0)
    return range(start, start + spec["replicas"])


def _move(
    client: Client,
    stateful_set: Object,
    templates: _Templates,
    present: Mapping[int, Object],
    now: datetime,
) -> None:
    """Take the next step, or with parallel management the next steps, towards what is wanted."""
    spec = stateful_set["spec"]
    in_order = spec["podManagementPolicy"] == "OrderedReady"
    for pod in present.values():
        if has_ended(pod) and not is_deleting(pod):
            _delete(client, stateful_set, pod)
    for ordinal in _ordinals(spec):
        if ordinal not in present:
            _create(client, stateful_set, templates, ordinal)
        if in_order and not _is_available(present.get(ordinal), spec, now):
            return
    surplus = sorted(set(present) - set(_ordinals(spec)), reverse=True)
    for ordinal in surplus[:1] if in_order else surplus:
        if not is_deleting(present[ordinal]):
            stateful_claims.give_to(client, stateful_set, present[ordinal])
            _delete(client, stateful_set, present[ordinal])
    if not surplus:
        _renew(client, stateful_set, templates, present, now)


def _is_available(pod: Object | None, spec: Mapping[str, Any], now: datetime) -> bool:
    if pod is None or is_deleting(pod) or has_ended(pod):
        return False
    at = pods.available_at(pod, spec.get("minReadySeconds", 0))
    return at is not None and at <= now


def _renew(
    client: Client,
    stateful_set: Object,
    templates: _Templates,
    present: Mapping[int, Object],
    now: datetime,
) -> None:
    """Delete the last pod of an old template once all after it are new and available."""
    spec = stateful_set["spec"]
    if spec["updateStrategy"]["type"] != "RollingUpdate":
        return
    partition = (spec["updateStrategy"].get("rollingUpdate") or {}).get("partition", 0)
    for ordinal in reversed(_ordinals(spec)):
        if ordinal < partition or ordinal not in present:
            return
        pod = present[ordinal]
        if labels_of(pod).get(REVISION) != templates.update:
            if not is_deleting(pod):
                _delete(client, stateful_set, pod)
            return
        if not _is_available(pod, spec, now):
            return


def _is_kept_old(stateful_set: Object, templates: _Templates, ordinal: int) -> bool:
    """Tell whether a pod that is made anew gets the old template."""
    spec = stateful_set["spec"]
    if templates.current == templates.update or spec["updateStrategy"]["type"] != "RollingUpdate":
        return False
    start = _ordinals(spec).start
    rolling = spec["updateStrategy"].get("rollingUpdate") or {}
    bound = rolling.get("partition") or stateful_set["status"].get("currentReplicas", 0)
    return bool(ordinal < start + bound)


def _create(client: Client, stateful_set: Object, templates: _Templates, ordinal: int) -> None:
    meta, spec = stateful_set["metadata"], stateful_set["spec"]
    name = f"{meta['name']}-{ordinal}"
    old = _is_kept_old(stateful_set, templates, ordinal)
    pod = pods.pod_from(stateful_set, templates.old if old else spec["template"])
    pod["metadata"]["name"] = name
    pod["metadata"]["labels"] = {
        **labels_of(pod),
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(ordinal),
        REVISION: templates.current if old else templates.update,
    }
    pod["spec"] |= {"hostname": name, "subdomain": spec.get("serviceName", "")}
    claimed = stateful_claims.make(client, stateful_set, name)
    names = {volume["name"] for volume in claimed}
    volumes = [one for one in pod["spec"].get("volumes") or () if one["name"] not in names]
    if volumes or claimed:
        pod["spec"]["volumes"] = [*volumes, *claimed]
    try:
        client.api.create("pods", pod)
    except ApiError as error:
        what = f"Create Pod {name} in StatefulSet {meta['name']} failed error: {error}"
        _tell(client, stateful_set, "FailedCreate", what, is_warning=True)
        raise
    what = f"Create Pod {name} in StatefulSet {meta['name']} successful"
    _tell(client, stateful_set, "SuccessfulCreate", what)


def _delete(client: Client, stateful_set: Object, pod: Object) -> None:
    pods.delete(client.api, pod)
    owner = stateful_set["metadata"]["name"]
    what = f"Delete Pod {pod['metadata']['name']} in StatefulSet {owner} successful"
    _tell(client, stateful_set, "SuccessfulDelete", what)


def _tell(
    client: Client, owner: Object, reason: str, message: str, *, is_warning: bool = False
) -> None:
    note = Note(reason=reason, message=message, component=_COMPONENT, is_warning=is_warning)
    client.events.record(owner, note)


def _report(
    client: Client,
    stateful_set: Object,
    templates: _Templates,
    everyone: Sequence[Object],
    now: datetime,
) -> datetime | None:
    spec, wanted = stateful_set["spec"], templates.update
    present = pods.active(everyone)
    new = [pod for pod in present if labels_of(pod).get(REVISION) == wanted]
    waits = [pods.available_at(pod, spec.get("minReadySeconds", 0)) for pod in present]
    instants = [instant for instant in waits if instant is not None]
    current = templates.current
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
    pods.write_status(client.api, STATEFUL_SETS, stateful_set, status)
    return earliest(*(instant for instant in instants if instant > now))
