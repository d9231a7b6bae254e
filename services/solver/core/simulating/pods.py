"""Pods that are added, and workloads that grow and shrink.

Source: Kubernetes documentation, "ReplicaSet", "Scaling down": whose pods go first; "StatefulSets",
"Deployment and scaling guarantees": the highest ordinals go first.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, islice

from libs.domain.errors import InvalidRequest
from libs.domain.pod import NodeTerm, PodPhase, PodRow, PodShape
from libs.domain.scenario import AddPods, ScaleOwner
from services.solver.core.simulating.devices import release
from services.solver.core.simulating.draft import Draft
from services.solver.core.simulating.nodes import waiting
from services.solver.core.simulating.owners import DAEMONSET, pods_of

_PHASES = {PodPhase.PENDING: 0, PodPhase.UNKNOWN: 1}
_RUNNING = 2


def add_pods(draft: Draft, edit: AddPods) -> None:
    """Add waiting pods, named `whatif-1`, … .

    Raises:
        InvalidRequest: too many.
    """
    draft.count_added("pods", edit.count, "add_pods.count")
    shape = replace(edit.shape, id=draft.new_shape_id())
    draft.put("shapes", shape)
    pattern = PodRow(uid="", namespace=shape.namespace, name="", shape=shape.id, provisionable=True)
    names = (f"whatif-{number}" for number in count(1))
    _add(draft, pattern, names, edit.count)


def scale_owner(draft: Draft, edit: ScaleOwner) -> None:
    """Let a workload have so many pods.

    Raises:
        InvalidRequest: there is no such workload, or it cannot have that number.
    """
    kind, rows = pods_of(draft, edit)
    if edit.replicas == 0:
        _remove(draft, rows)
        if kind == DAEMONSET:
            draft.remove("daemonsets", f"{edit.namespace}/{edit.name}")
        return
    if kind == DAEMONSET:
        raise InvalidRequest(
            "a DaemonSet has a pod per node; it takes no number but 0, which removes it",
            field="scale_owner.replicas",
        )
    active = [row for row in rows if row.active]
    if len(active) > edit.replicas:
        _remove(draft, _first_to_go(active)[: len(active) - edit.replicas])
    elif len(active) < edit.replicas:
        _grow(draft, rows, edit.replicas - len(active))


def _remove(draft: Draft, rows: Sequence[PodRow]) -> None:
    for row in rows:
        draft.remove_pod(row.uid)
    release(draft, rows)


def _first_to_go(rows: Sequence[PodRow]) -> list[PodRow]:
    """Return the pods in the order in which their controller would delete them."""
    owner = rows[0].owner
    if owner is not None and owner.is_statefulset:
        return sorted(rows, key=lambda row: (_ordinal(row.name), row.uid), reverse=True)
    together = Counter(row.node for row in rows if row.node)
    return sorted(
        rows,
        key=lambda row: (
            bool(row.node),
            _PHASES.get(row.phase, _RUNNING),
            row.ready,
            row.deletion_cost,
            -together[row.node],
            -row.created_ms,
            row.uid,
        ),
    )


def _ordinal(name: str) -> int:
    number = name.rpartition("-")[2]
    return int(number) if number.isascii() and number.isdecimal() else -1


def _grow(draft: Draft, rows: Sequence[PodRow], missing: int) -> None:
    """Add pods like the newest one."""
    draft.count_added("pods", missing, "scale_owner.replicas")
    newest = max(rows, key=lambda row: (row.active, row.created_ms, row.uid))
    pattern = _like(draft, newest)
    owner = newest.owner
    if owner is not None and owner.is_statefulset:
        taken = {_ordinal(row.name) for row in rows if row.active}
        names = (f"{owner.name}-{number}" for number in count() if number not in taken)
    else:
        prefix = owner.name if owner is not None else newest.name
        names = (f"{prefix}-whatif-{number}" for number in count(1))
    _add(draft, pattern, names, missing)


def _like(draft: Draft, newest: PodRow) -> PodRow:
    """Return another pod of its kind, which has volumes and devices of its own.

    A claim that is named after its pod is the pod's own: that of another one is yet to be made,
    wherever that goes. Devices are allocated anew, but for claims that all pods share.
    """
    shape: PodShape = draft.get("shapes", newest.shape)
    own = bool(newest.node and newest.volume_claims) and all(
        claim.endswith(f"-{newest.name}") or claim.startswith(f"{newest.name}-")
        for claim in newest.volume_claims
    )
    changed = replace(
        shape,
        volumes=() if own else shape.volumes,
        required_node_terms=_free(newest, shape) if own else shape.required_node_terms,
        device_claims=tuple(
            one if one.claim else replace(one, allocated_terms=(), reserved_for=())
            for one in shape.device_claims
        ),
    )
    pattern = waiting(newest)._replace(volume_claims=() if own else newest.volume_claims)
    if changed == shape:
        return pattern
    changed = replace(changed, id=draft.new_shape_id())
    draft.put("shapes", changed)
    return pattern._replace(shape=changed.id)


def _free(row: PodRow, shape: PodShape) -> tuple[NodeTerm, ...]:
    """Return where a pod may run whose volumes are in order, as those of this one may not be."""
    terms = shape.required_node_terms
    if not terms or any(one.node_names != (row.node,) for one in terms):
        return terms
    return tuple(replace(one, node_names=()) for one in terms)


def _add(draft: Draft, pattern: PodRow, names: Iterator[str], missing: int) -> None:
    created = int(draft.base.observed_at.timestamp() * 1000)
    free = (
        (uid, name) for name in names if draft.pod(uid := f"{pattern.namespace}/{name}") is None
    )
    for uid, name in islice(free, missing):
        draft.put_pod(pattern._replace(uid=uid, name=name, created_ms=created))
