"""Whose a pod is: which pods a workload has that is named as people name it.

Apart because a pod knows only its controller: a Deployment's pods belong to ReplicaSets, which it
names after itself.

Source: Kubernetes documentation, "Deployments" (pod-template-hash label); the alphabet of the hash
is that of names that Kubernetes makes up.
"""

import re
from collections import defaultdict

from libs.domain.errors import InvalidRequest
from libs.domain.pod import Owner, PodRow
from libs.domain.scenario import ScaleOwner
from services.solver.core.simulating.draft import Draft, unknown

DAEMONSET = "DaemonSet"
_DEPLOYMENT, _REPLICASET = "Deployment", "ReplicaSet"
_HASH = re.compile(r"(?P<name>.+)-[bcdfghjklmnpqrstvwxz2456789]{1,10}")


def pods_of(draft: Draft, edit: ScaleOwner) -> tuple[str, list[PodRow]]:
    """Return the kind of a workload and its pods, in order of uid.

    Raises:
        InvalidRequest: there are several workloads of that name, or none.
    """
    by_kind: dict[str, list[PodRow]] = defaultdict(list)
    rows = draft.pods_of(
        edit.namespace, edit.name, lambda owner: _known_as(owner, edit) is not None
    )
    for row in rows:
        if row.owner is not None and (kind := _known_as(row.owner, edit)) is not None:
            by_kind[kind].append(row)
    key = f"{edit.namespace}/{edit.name}"
    if edit.kind in ("", DAEMONSET) and draft.get("daemonsets", key) is not None:
        by_kind.setdefault(DAEMONSET, [])
    if not by_kind:
        raise _nobody(draft, edit)
    if len(by_kind) > 1:
        kinds = ", ".join(sorted(by_kind))
        raise InvalidRequest(
            f'"{key}" is the name of several: {kinds}; name one of the kinds',
            field="scale_owner.kind",
        )
    return next(iter(by_kind.items()))


def is_same_owner(one: ScaleOwner, other: ScaleOwner) -> bool:
    """Tell whether two edits are about one workload; a kind that is not said is any."""
    if (one.namespace, one.name) != (other.namespace, other.name):
        return False
    return one.kind == other.kind or "" in (one.kind, other.kind)


def _known_as(owner: Owner, edit: ScaleOwner) -> str | None:
    """Return the kind as which a pod's owner has that name; None if it has another."""
    if owner.is_node:
        return None
    if owner.name == edit.name and edit.kind in ("", owner.kind):
        return owner.kind
    if edit.kind in ("", _DEPLOYMENT) and _deployment(owner) == edit.name:
        return _DEPLOYMENT
    return None


def _deployment(owner: Owner) -> str:
    """Return the name of the Deployment that a ReplicaSet's name tells; empty if it tells none."""
    found = _HASH.fullmatch(owner.name) if owner.kind == _REPLICASET else None
    return found["name"] if found else ""


def _nobody(draft: Draft, edit: ScaleOwner) -> InvalidRequest:
    kind = edit.kind or "workload"
    rows = draft.pods_of(edit.namespace, "", lambda owner: not owner.is_node)
    names = {_deployment(row.owner) or row.owner.name for row in rows if row.owner is not None}
    found = unknown(f"{kind} with pods", edit.name, names, "scale_owner.name")
    return InvalidRequest(
        f'{found.detail} in namespace "{edit.namespace}"; what has no pod is added by its shape',
        field=found.field,
    )
