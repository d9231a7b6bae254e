"""What lifecycle says of a NodePool: valid, class ready, ready, usage, and the drift hash.

Source: `docs/sources.md` 3.2 and 9.3, F8.5 to F8.7.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from libs.domain import hashing, validation
from libs.domain.errors import InvalidRequest
from libs.domain.nodeclaim import ConditionType
from libs.domain.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    NODES,
    NOTHING,
    PODS,
    Resources,
    total,
)
from libs.kube.api import NODE_POOLS
from libs.kube.convert.nodepool import nodepool
from libs.kube.objects.karpenter import NodeClaim, NodeClass, NodePool
from services.lifecycle.core.claim_states import is_true
from services.lifecycle.core.claim_writes import metadata_patch
from services.lifecycle.core.conditions import POOL_DEPENDENTS, ConditionSet
from services.lifecycle.core.step import Patch, Step

COUNT_AGAIN = timedelta(seconds=5)

_VALID, _CLASS_READY = POOL_DEPENDENTS
_ALWAYS_COUNTED = (CPU, MEMORY, PODS, EPHEMERAL_STORAGE, NODES)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolView:
    """A pool and what it stands on."""

    pool: NodePool
    node_class: NodeClass | None
    rules: validation.KeyRules = validation.CORE_RULES
    claims: tuple[NodeClaim, ...] = ()
    """All of the pool."""
    now: datetime


def next_step(view: PoolView) -> Step:
    """Return the next step of a pool."""
    pool = view.pool
    if pool.metadata.deletion_timestamp is not None:
        return Step()
    migration = _migrations(view)
    if migration:
        return Step(writes=migration)
    stamped = _hash_patch(view)
    if stamped is not None:
        return Step(writes=(stamped,))
    return Step(writes=_status_patches(view), check_after=COUNT_AGAIN)


def usage(claims: Iterable[NodeClaim]) -> Resources:
    """Return what claims use of their pool: capacity, or requests until it is known; and nodes.

    Claims that are leaving do not count.
    """
    staying = [claim for claim in claims if claim.metadata.deletion_timestamp is None]
    return total((*map(_capacity, staying), Resources({NODES: len(staying)})))


def template_hash(pool: NodePool) -> str:
    """Return the drift hash of the pool, empty where its template has none."""
    try:
        return hashing.nodepool_hash(pool.spec.template)
    except InvalidRequest:
        return ""


def _migrations(view: PoolView) -> tuple[Patch, ...]:
    """Return what brings claims of an older hash version to ours, before the pool itself."""
    if _version(view.pool.metadata.annotations) in (None, hashing.VERSION):
        return ()
    current = template_hash(view.pool)
    found = []
    for claim in view.claims:
        if _version(claim.metadata.annotations) in (None, hashing.VERSION):
            continue
        annotations = {hashing.VERSION_ANNOTATION: hashing.VERSION}
        if not is_true(claim, ConditionType.DRIFTED):
            annotations[hashing.HASH_ANNOTATION] = current
        found.append(metadata_patch(claim, {"annotations": annotations}))
    return tuple(found)


def _hash_patch(view: PoolView) -> Patch | None:
    current = template_hash(view.pool)
    annotations = view.pool.metadata.annotations
    wanted = {
        hashing.HASH_ANNOTATION: current,
        hashing.VERSION_ANNOTATION: hashing.VERSION,
    }
    if not current or all(annotations.get(key) == value for key, value in wanted.items()):
        return None
    return Patch(
        resource=NODE_POOLS,
        name=view.pool.metadata.name,
        resource_version=view.pool.metadata.resource_version,
        body={"metadata": {"annotations": wanted}},
    )


def _status_patches(view: PoolView) -> tuple[Patch, ...]:
    pool = view.pool
    conditions = _conditions(view)
    used = usage(view.claims)
    counted = Resources({**dict.fromkeys(_ALWAYS_COUNTED, 0), **dict(used.items())})
    fields: dict[str, Any] = {}
    if _stored_resources(pool) != counted:
        fields["resources"] = {
            **{name: None for name in pool.status.resources if name not in counted},
            **counted.to_quantities(),
        }
    if pool.status.nodes != used.get(NODES):
        fields["nodes"] = used.get(NODES)
    if not fields and not conditions.differs(pool.status.conditions):
        return ()
    patch = Patch(
        resource=NODE_POOLS,
        name=pool.metadata.name,
        resource_version=pool.metadata.resource_version,
        body={"status": {**fields, "conditions": conditions.to_json()}},
        subresource="status",
    )
    return (patch,)


def _stored_resources(pool: NodePool) -> Resources:
    try:
        return Resources.from_allocatable(pool.status.resources)
    except InvalidRequest:
        return NOTHING


def _conditions(view: PoolView) -> ConditionSet:
    pool = view.pool
    conditions = ConditionSet.of(pool.metadata, pool.status.conditions, POOL_DEPENDENTS, view.now)
    problems = problems_of(pool, view.rules)
    if problems:
        conditions = conditions.set_false(_VALID, "NodePoolValidationFailed", "; ".join(problems))
    else:
        conditions = conditions.set_true(_VALID)
    refusal = class_refusal(view.node_class)
    if refusal is None:
        return conditions.set_true(_CLASS_READY)
    return conditions.set_false(_CLASS_READY, *refusal)


def problems_of(pool: NodePool, rules: validation.KeyRules) -> tuple[str, ...]:
    """Return everything that is wrong with the pool's own fields."""
    found = tuple(map(str, validation.template_problems(pool.spec.template, rules)))
    if found:
        return found
    try:
        nodepool(pool, rules)
    except InvalidRequest as error:
        return (str(error),)
    return ()


def class_refusal(node_class: NodeClass | None) -> tuple[str, str] | None:
    """Return reason and message why nothing can be made from a class, None if it is ready."""
    if node_class is None:
        return "NodeClassNotFound", "the node class does not exist"
    name = node_class.metadata.name
    if node_class.metadata.deletion_timestamp is not None:
        return "NodeClassTerminating", f'node class "{name}" is being deleted'
    ready = condition_of(node_class, "Ready")
    status = str(ready.get("status", "Unknown"))
    if status == "True":
        return None
    if status == "False":
        return str(ready.get("reason") or "NodeClassNotReady"), str(ready.get("message") or "")
    return "NodeClassReadinessUnknown", f'node class "{name}" has not said that it is ready'


def condition_of(node_class: NodeClass, kind: str) -> dict[str, Any]:
    """Return a condition of a class as stored, empty if it has none of the type."""
    stored = node_class.status.get("conditions")
    for one in stored if isinstance(stored, list) else ():
        if isinstance(one, dict) and one.get("type") == kind:
            return one
    return {}


def _capacity(claim: NodeClaim) -> Resources:
    try:
        if claim.status.capacity:
            return Resources.from_allocatable(claim.status.capacity)
        return Resources.from_requests(claim.spec.resources.requests)
    except InvalidRequest:
        return NOTHING


def _version(annotations: dict[str, str]) -> str | None:
    return annotations.get(hashing.VERSION_ANNOTATION)
