"""What lifecycle writes on a node class: the status that its provider resolved, hash, finalizer.

A class stays until no claim was made from it; then what resolving made in the cloud is freed.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from libs.domain.capacity import NodeClassRef
from libs.domain.provider import NodeClass as DomainNodeClass
from libs.domain.provider import NodeClassCondition, ResolvedNodeClass
from libs.kube.api import Resource
from libs.kube.objects.karpenter import NodeClass
from services.lifecycle.core.conditions import timestamp
from services.lifecycle.core.pools import condition_of
from services.lifecycle.core.step import Ask, Patch, Step

RESOLVE_AGAIN = timedelta(minutes=5)
_WAIT_FOR_CLAIMS = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassView:
    """A class and the provider's answers about it for this look."""

    node_class: NodeClass
    resource: Resource
    resolved: ResolvedNodeClass | None = None
    released: bool = False
    claims: int = 0
    """How many claims name it."""
    now: datetime


def next_step(view: ClassView) -> Step:
    """Return the next step of a class."""
    metadata = view.node_class.metadata
    finalizer = finalizer_of(view.resource)
    if metadata.deletion_timestamp is not None:
        return _release(view, finalizer)
    if finalizer not in metadata.finalizers:
        return Step(writes=(_patch(view, {"finalizers": [*metadata.finalizers, finalizer]}),))
    if view.resolved is None:
        return Step(ask=Ask.RESOLVE)
    annotations = _hash_annotations(view, view.resolved)
    if any(metadata.annotations.get(key) != value for key, value in annotations.items()):
        return Step(writes=(_patch(view, {"annotations": annotations}),))
    return Step(writes=_status_patches(view, view.resolved), check_after=RESOLVE_AGAIN)


def finalizer_of(resource: Resource) -> str:
    """Return the finalizer that lifecycle keeps on classes of a kind."""
    return f"{resource.group}/termination"


def domain_class(node_class: NodeClass) -> DomainNodeClass:
    """Return the class as providers take it."""
    metadata = node_class.metadata
    return DomainNodeClass(
        ref=NodeClassRef(group=node_class.group, kind=node_class.kind, name=metadata.name),
        uid=metadata.uid,
        generation=metadata.generation,
        spec=node_class.spec,
        status=node_class.status,
    )


def _release(view: ClassView, finalizer: str) -> Step:
    kept = [one for one in view.node_class.metadata.finalizers if one != finalizer]
    if len(kept) == len(view.node_class.metadata.finalizers):
        return Step()
    if view.claims:
        return Step(check_after=_WAIT_FOR_CLAIMS)
    if not view.released:
        return Step(ask=Ask.RELEASE)
    return Step(writes=(_patch(view, {"finalizers": kept}),))


def _hash_annotations(view: ClassView, resolved: ResolvedNodeClass) -> dict[str, str]:
    prefix = f"{view.resource.group}/{view.resource.kind.lower()}"
    found = {f"{prefix}-hash": resolved.hash, f"{prefix}-hash-version": resolved.hash_version}
    return {key: value for key, value in found.items() if value}


def _status_patches(view: ClassView, resolved: ResolvedNodeClass) -> tuple[Patch, ...]:
    stored = view.node_class.status
    conditions = [_condition(view, one) for one in resolved.conditions]
    wanted = {**dict(resolved.status), "conditions": conditions}
    if all(stored.get(key) == value for key, value in wanted.items()):
        return ()
    return (_patch(view, wanted, status=True),)


def _condition(view: ClassView, wanted: NodeClassCondition) -> dict[str, Any]:
    stored = condition_of(view.node_class, wanted.type)
    kept = stored.get("status") == wanted.status and stored.get("lastTransitionTime")
    found: dict[str, Any] = {
        "type": wanted.type,
        "status": str(wanted.status),
        "reason": wanted.reason or wanted.type,
        "message": wanted.message,
        "lastTransitionTime": stored["lastTransitionTime"] if kept else timestamp(view.now),
    }
    if "observedGeneration" in stored or not stored:
        found["observedGeneration"] = view.node_class.metadata.generation
    return found


def _patch(view: ClassView, body: dict[str, Any], *, status: bool = False) -> Patch:
    return Patch(
        resource=view.resource,
        name=view.node_class.metadata.name,
        resource_version=view.node_class.metadata.resource_version,
        body={"status" if status else "metadata": body},
        subresource="status" if status else "",
    )
