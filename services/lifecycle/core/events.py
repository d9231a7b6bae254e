"""Events about nodes, claims, pools and pods: one function each, reasons in one list.

Apart because reasons, types and windows are an interface of their own: tools match on them.

Source: `docs/sources.md` 6.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from libs.kube.api import NODE_CLAIMS, NODE_POOLS, NODES, PODS, Resource
from libs.kube.objects.metadata import ObjectMeta


class Reason(StrEnum):
    """Reasons of events."""

    FAILED_SCHEDULING = "FailedScheduling"
    NOMINATED = "Nominated"
    NO_COMPATIBLE_INSTANCE_TYPES = "NoCompatibleInstanceTypes"
    DISRUPTION_BLOCKED = "DisruptionBlocked"
    DISRUPTION_LAUNCHING = "DisruptionLaunching"
    DISRUPTION_WAITING_READINESS = "DisruptionWaitingReadiness"
    DISRUPTION_TERMINATING = "DisruptionTerminating"
    UNCONSOLIDATABLE = "Unconsolidatable"
    EVICTED = "Evicted"
    DISRUPTED = "Disrupted"
    FAILED_DRAINING = "FailedDraining"
    AWAITING_VOLUME_DETACHMENT = "AwaitingVolumeDetachment"
    TERMINATION_GRACE_PERIOD_EXPIRING = "TerminationGracePeriodExpiring"
    INSUFFICIENT_CAPACITY = "InsufficientCapacityError"
    UNREGISTERED_TAINT_MISSING = "UnregisteredTaintMissing"


_WARNINGS = frozenset(
    {
        Reason.FAILED_SCHEDULING,
        Reason.NO_COMPATIBLE_INSTANCE_TYPES,
        Reason.FAILED_DRAINING,
        Reason.TERMINATION_GRACE_PERIOD_EXPIRING,
        Reason.INSUFFICIENT_CAPACITY,
        Reason.UNREGISTERED_TAINT_MISSING,
    }
)
_WINDOWS = {
    Reason.FAILED_SCHEDULING: timedelta(minutes=5),
    Reason.NO_COMPATIBLE_INSTANCE_TYPES: timedelta(minutes=1),
    Reason.UNCONSOLIDATABLE: timedelta(minutes=15),
}
_OTHER_WINDOW = timedelta(minutes=2)
_LONGEST_CAUSE = 300
_ATTACHMENTS_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The object that an event is about."""

    resource: Resource
    namespace: str = ""
    name: str
    uid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something to be told once per window."""

    subject: Subject
    reason: Reason
    message: str
    dedupe: tuple[str, ...]
    """With the reason, what makes it a repetition."""

    @property
    def warns(self) -> bool:
        """Whether people need to look."""
        return self.reason in _WARNINGS

    @property
    def window(self) -> timedelta:
        """How long a repetition is dropped."""
        return _WINDOWS.get(self.reason, _OTHER_WINDOW)


def about(resource: Resource, metadata: ObjectMeta) -> Subject:
    """Return the subject that an object is."""
    return Subject(
        resource=resource, namespace=metadata.namespace, name=metadata.name, uid=metadata.uid
    )


def node(metadata: ObjectMeta) -> Subject:
    """Return a node as subject."""
    return about(NODES, metadata)


def claim(metadata: ObjectMeta) -> Subject:
    """Return a NodeClaim as subject."""
    return about(NODE_CLAIMS, metadata)


def pool(metadata: ObjectMeta) -> Subject:
    """Return a NodePool as subject."""
    return about(NODE_POOLS, metadata)


def pod(metadata: ObjectMeta) -> Subject:
    """Return a pod as subject."""
    return about(PODS, metadata)


def failed_scheduling(subject: Subject, why: str) -> Event:
    """Say why a pod has no place."""
    return Event(
        subject=subject,
        reason=Reason.FAILED_SCHEDULING,
        message=f"Failed to schedule pod, {why}",
        dedupe=(subject.uid,),
    )


def nominated(subject: Subject, target: str) -> Event:
    """Say where a pod is expected; `target` is `nodeclaim/<name>` or `node/<name>`."""
    return Event(
        subject=subject,
        reason=Reason.NOMINATED,
        message=f"Pod should schedule on: {target}",
        dedupe=(subject.uid,),
    )


def no_compatible_instance_types(subject: Subject, why: str) -> Event:
    """Say that a pool's requirements leave no instance type."""
    return Event(
        subject=subject,
        reason=Reason.NO_COMPATIBLE_INSTANCE_TYPES,
        message=why,
        dedupe=(subject.uid,),
    )


def disruption_blocked(subject: Subject, why: str) -> Event:
    """Say what keeps a node from being disrupted."""
    return Event(
        subject=subject,
        reason=Reason.DISRUPTION_BLOCKED,
        message=why,
        dedupe=(subject.uid, why),
    )


def unconsolidatable(subject: Subject, why: str) -> Event:
    """Say why a node cannot be consolidated."""
    return Event(
        subject=subject,
        reason=Reason.UNCONSOLIDATABLE,
        message=why,
        dedupe=(subject.uid, why),
    )


def disruption_launching(subject: Subject, why: str) -> Event:
    """Say that a claim replaces a disrupted node."""
    return Event(
        subject=subject,
        reason=Reason.DISRUPTION_LAUNCHING,
        message=f"Launching NodeClaim: {why}",
        dedupe=(subject.uid, why),
    )


def disruption_waiting_readiness(subject: Subject) -> Event:
    """Say that a disruption waits for a claim to become a node."""
    return Event(
        subject=subject,
        reason=Reason.DISRUPTION_WAITING_READINESS,
        message="Waiting on readiness to continue disruption",
        dedupe=(subject.uid,),
    )


def disruption_terminating(subject: Subject, why: str) -> Event:
    """Say that a disrupted node goes."""
    return Event(
        subject=subject,
        reason=Reason.DISRUPTION_TERMINATING,
        message=f"Disrupting Node: {why}",
        dedupe=(subject.uid, why),
    )


def evicted(subject: Subject, why: str) -> Event:
    """Say that a pod was evicted."""
    return Event(
        subject=subject,
        reason=Reason.EVICTED,
        message=f"Evicted pod: {why}",
        dedupe=(subject.name,),
    )


def disrupted(subject: Subject, deadline: datetime, seconds: int, asked: int | None) -> Event:
    """Say that a pod was deleted by force to meet its node's deadline."""
    own = "none" if asked is None else f"{asked}"
    return Event(
        subject=subject,
        reason=Reason.DISRUPTED,
        message=(
            f"Deleted the pod to meet the node's deadline {deadline.isoformat()}; "
            f"grace seconds granted: {seconds}, asked for: {own}"
        ),
        dedupe=(subject.name,),
    )


def failed_draining(subject: Subject, why: str) -> Event:
    """Say why a node is not drained yet."""
    return Event(
        subject=subject,
        reason=Reason.FAILED_DRAINING,
        message=f"Failed to drain node, {why}",
        dedupe=(subject.name,),
    )


def awaiting_volume_detachment(subject: Subject, attachments: Iterable[str]) -> Event:
    """Say which volumes a node waits for, the first few."""
    names = sorted(attachments)
    shown = ", ".join(names[:_ATTACHMENTS_SHOWN])
    return Event(
        subject=subject,
        reason=Reason.AWAITING_VOLUME_DETACHMENT,
        message=f"Awaiting detachment of {len(names)} volumes: {shown}",
        dedupe=(subject.name,),
    )


def termination_grace_period_expiring(subject: Subject, deadline: datetime) -> Event:
    """Say when all pods will be deleted whatever protects them."""
    return Event(
        subject=subject,
        reason=Reason.TERMINATION_GRACE_PERIOD_EXPIRING,
        message=f"All pods will be deleted by {deadline.isoformat()}",
        dedupe=(subject.name,),
    )


def insufficient_capacity(subject: Subject, why: str) -> Event:
    """Say that a claim is given up for want of capacity."""
    return Event(
        subject=subject,
        reason=Reason.INSUFFICIENT_CAPACITY,
        message=f"NodeClaim {subject.name} event: {why[:_LONGEST_CAUSE]}",
        dedupe=(subject.uid,),
    )


def unregistered_taint_missing(subject: Subject) -> Event:
    """Say that a node came up without the taint that keeps pods off until it is registered."""
    return Event(
        subject=subject,
        reason=Reason.UNREGISTERED_TAINT_MISSING,
        message="Missing karpenter.sh/unregistered taint which prevents registration races",
        dedupe=(subject.uid,),
    )
