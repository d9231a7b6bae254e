"""The end of a claim: node deleted, drained, volumes off, instance ended, finalizers removed.

Each step writes what the next one reads, so an end that a crash cut short goes on where it was.

Source: `docs/sources.md` G.
"""

from collections.abc import Iterable
from datetime import datetime

from libs.domain import labels as keys
from libs.domain.nodeclaim import ConditionType
from libs.domain.taint import DISRUPTED
from libs.kube.api import NODES, PODS
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod
from services.lifecycle.core import events
from services.lifecycle.core.claim_states import FINALIZER
from services.lifecycle.core.claim_writes import metadata_patch, status_patches
from services.lifecycle.core.conditions import ConditionSet, timestamp
from services.lifecycle.core.disruption_marks import taints_patch
from services.lifecycle.core.evictable import (
    Drain,
    grace_left,
    is_drainable,
    is_terminal,
    plan_drain,
)
from services.lifecycle.core.initialization import is_ready
from services.lifecycle.core.launch import BATCH_ANNOTATION
from services.lifecycle.core.step import Ask, Count, Delete, Evict, Patch, Series, Step
from services.lifecycle.core.termination_period import ANNOTATION, deadline, grace_period
from services.lifecycle.core.view import ClaimView, Policy, Presence

EXCLUDE_FROM_BALANCERS = "node.kubernetes.io/exclude-from-external-load-balancers"
_DRAINED = str(ConditionType.DRAINED)
_DETACHED = str(ConditionType.VOLUMES_DETACHED)
_ENDING = str(ConditionType.INSTANCE_TERMINATING)
FORCEFUL = "Forceful Termination"


def next_step(view: ClaimView, policy: Policy) -> Step:
    """Return the next step of a claim that is being deleted."""
    claim = view.claim
    if FINALIZER not in claim.metadata.finalizers:
        return Step()
    period = grace_period(claim)
    if period is not None and ANNOTATION not in claim.metadata.annotations:
        leaving = claim.metadata.deletion_timestamp or view.now
        ends = leaving + period
        return Step(
            writes=(metadata_patch(claim, {"annotations": {ANNOTATION: timestamp(ends)}}),),
            events=(events.termination_grace_period_expiring(events.claim(claim.metadata), ends),),
        )
    conditions = view.conditions()
    if conditions.is_true(str(ConditionType.REGISTERED)) and view.nodes:
        return _end_node(view, conditions, policy)
    return _end_instance(view, conditions, policy)


def _end_node(view: ClaimView, conditions: ConditionSet, policy: Policy) -> Step:
    staying = [node for node in view.nodes if node.metadata.deletion_timestamp is None]
    if staying:
        return Step(writes=tuple(_deletion(node) for node in staying))
    held = [node for node in view.nodes if FINALIZER in node.metadata.finalizers]
    if not held:
        return Step(check_after=policy.drain_poll)
    if not all(map(is_ready, held)):
        if view.presence is Presence.NOT_ASKED and view.claim.status.provider_id:
            return Step(ask=Ask.PRESENCE)
        if view.presence is Presence.GONE:
            return _release(view, held)
    marks = tuple(patch for node in held if (patch := mark_patch(node)) is not None)
    if marks:
        return Step(writes=marks)
    return _empty(view, conditions, policy, held)


def _empty(view: ClaimView, conditions: ConditionSet, policy: Policy, held: list[Node]) -> Step:
    if not conditions.is_true(_DRAINED):
        return _drain(view, conditions, policy)
    if conditions.status(_DETACHED) == "Unknown":
        return _detach(view, conditions, policy)
    if view.presence is Presence.GONE:
        return _release(view, held)
    if view.presence is not Presence.ENDING:
        return Step(ask=Ask.END)
    return _await_end(view, conditions, policy)


def _drain(view: ClaimView, conditions: ConditionSet, policy: Policy) -> Step:
    ends = deadline(view.claim)
    drain = plan_drain(view.pods, ends, view.now)
    begun = conditions.get(_DRAINED) is not None
    draining = conditions.set_unknown(_DRAINED, "Draining", _waiting_message(drain.waiting))
    if not begun:
        return Step(writes=status_patches(view.claim, draining), check_after=policy.drain_poll)
    if drain.waiting:
        return Step(
            writes=_evictions(view, conditions, drain, ends),
            events=_drain_events(view, drain, ends),
            check_after=policy.drain_poll,
        )
    since = conditions.since(_DRAINED) or view.now
    if view.now - since < policy.least_drain:
        return Step(check_after=policy.drain_poll)
    drained = conditions.set_true(_DRAINED)
    if not _attached(view):
        drained = drained.set_true(_DETACHED)
    return Step(
        writes=status_patches(view.claim, drained),
        counts=(Count(series=Series.NODES_DRAINED, labels=(_pool_of(view),)),),
    )


def _evictions(
    view: ClaimView, conditions: ConditionSet, drain: Drain, ends: datetime | None
) -> tuple[Delete | Evict, ...]:
    node = view.nodes[0].metadata.name
    forced = tuple(
        Delete(
            resource=PODS,
            namespace=pod.metadata.namespace,
            name=pod.metadata.name,
            uid=pod.metadata.uid,
            grace_seconds=grace_left(ends, view.now),
        )
        for pod in drain.force
        if ends is not None
    )
    why = eviction_reason(conditions)
    evicted = tuple(
        Evict(
            namespace=pod.metadata.namespace,
            name=pod.metadata.name,
            uid=pod.metadata.uid,
            node=node,
            reason=why,
        )
        for pod in drain.evict
    )
    return (*forced, *evicted)


def eviction_reason(conditions: ConditionSet) -> str:
    """Return why pods are evicted: the command's reason, else force."""
    found = conditions.get(str(ConditionType.DISRUPTION_REASON))
    return found.reason if found is not None and found.status == "True" else FORCEFUL


def _drain_events(view: ClaimView, drain: Drain, ends: datetime | None) -> tuple[events.Event, ...]:
    node = view.nodes[0].metadata
    waiting = events.failed_draining(events.node(node), _waiting_message(drain.waiting))
    forced = tuple(
        events.disrupted(
            events.pod(pod.metadata),
            ends,
            grace_left(ends, view.now),
            pod.spec.termination_grace_period_seconds,
        )
        for pod in drain.force
        if ends is not None
    )
    return (waiting, *forced)


def _detach(view: ClaimView, conditions: ConditionSet, policy: Policy) -> Step:
    left = _attached(view)
    if not left:
        return Step(writes=status_patches(view.claim, conditions.set_true(_DETACHED)))
    ends = deadline(view.claim)
    if ends is not None and view.now >= ends:
        passed = conditions.set_false(
            _DETACHED, "TerminationGracePeriodElapsed", f"{len(left)} volumes are still attached"
        )
        return Step(writes=status_patches(view.claim, passed))
    waiting = conditions.set_unknown(
        _DETACHED, "AwaitingVolumeDetachment", f"{len(left)} volumes are still attached"
    )
    told = events.awaiting_volume_detachment(events.node(view.nodes[0].metadata), left)
    return Step(
        writes=status_patches(view.claim, waiting), events=(told,), check_after=policy.drain_poll
    )


def _attached(view: ClaimView) -> tuple[str, ...]:
    """Return the attachments that the node waits for: not those of pods that a drain leaves."""
    kept = {
        view.volume_names.get((pod.metadata.namespace, volume.persistent_volume_claim.claim_name))
        for pod in view.pods
        if not is_terminal(pod) and not is_drainable(pod, view.now)
        for volume in pod.spec.volumes
        if volume.persistent_volume_claim is not None
    }
    return tuple(
        one.metadata.name
        for one in view.attachments
        if one.spec.source.persistent_volume_name
        and one.spec.source.persistent_volume_name not in kept
    )


def _end_instance(view: ClaimView, conditions: ConditionSet, policy: Policy) -> Step:
    """End the instance of a claim that has no node any more, or never had one."""
    claim = view.claim
    launching = claim_may_have_instance(view)
    if launching and view.presence in (Presence.NOT_ASKED, Presence.THERE):
        return Step(ask=Ask.END)
    if launching and view.presence is Presence.ENDING:
        return _await_end(view, conditions, policy)
    kept = [one for one in claim.metadata.finalizers if one != FINALIZER]
    labels = claim.metadata.labels
    return Step(
        writes=(metadata_patch(claim, {"finalizers": kept}),),
        counts=(
            Count(
                series=Series.CLAIMS_TERMINATED,
                labels=(
                    labels.get(keys.NODEPOOL, ""),
                    labels.get(keys.CAPACITY_TYPE, ""),
                    labels.get(keys.ZONE, ""),
                ),
            ),
        ),
    )


def claim_may_have_instance(view: ClaimView) -> bool:
    """Tell whether an instance may exist: a launch was begun, whatever became of its answer."""
    claim = view.claim
    return bool(claim.status.provider_id) or BATCH_ANNOTATION in claim.metadata.annotations


def _await_end(view: ClaimView, conditions: ConditionSet, policy: Policy) -> Step:
    return Step(
        writes=status_patches(view.claim, conditions.set_true(_ENDING)),
        check_after=policy.instance_poll,
    )


def _release(view: ClaimView, held: Iterable[Node]) -> Step:
    """Let the nodes go: their instance is no more."""
    nodes = tuple(held)
    return Step(
        writes=tuple(release_patch(node) for node in nodes),
        counts=tuple(
            Count(
                series=Series.NODES_TERMINATED,
                labels=(_pool_of(view), node.metadata.labels.get(keys.ZONE, "")),
            )
            for node in nodes
        ),
    )


def release_patch(node: Node) -> Patch:
    """Return the patch that takes the finalizer off a node."""
    kept = [one for one in node.metadata.finalizers if one != FINALIZER]
    return Patch(
        resource=NODES,
        name=node.metadata.name,
        resource_version=node.metadata.resource_version,
        body={"metadata": {"finalizers": kept}},
    )


def _deletion(node: Node) -> Delete:
    return Delete(resource=NODES, name=node.metadata.name, uid=node.metadata.uid)


def mark_patch(node: Node) -> Patch | None:
    """Return what keeps new pods and new traffic off the node, None where it is there."""
    tainted = any(
        (taint.key, taint.effect) == (DISRUPTED.key, DISRUPTED.effect) for taint in node.spec.taints
    )
    if tainted and EXCLUDE_FROM_BALANCERS in node.metadata.labels:
        return None
    patch = taints_patch(node, disrupted=True)
    body = {**patch.body, "metadata": {"labels": {EXCLUDE_FROM_BALANCERS: "karpenter"}}}
    return Patch(
        resource=NODES,
        name=patch.name,
        resource_version=patch.resource_version,
        body=body,
    )


def _waiting_message(waiting: tuple[Pod, ...]) -> str:
    return f"{len(waiting)} pods are waiting to be evicted" if waiting else "no pods are left"


def _pool_of(view: ClaimView) -> str:
    return view.claim.metadata.labels.get(keys.NODEPOOL, "")
