"""What follows when no node passes: devices given back, pods preempted, and how it is worded.

Apart from `preemption`, which is one of the two plugins that are asked then: the other is
DynamicResources, which frees a claim whose devices are out of reach.

Source: kube-scheduler's PostFilter plugins in their order, and how it puts their words behind those
of the filters (1.36).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from libs.oracle.cluster import Cluster
from libs.oracle.devices.claims import allocation_of, is_reserved_for
from libs.oracle.devices.extended import classes_of_resources
from libs.oracle.filters.dynamic_resources import claims_of
from libs.oracle.node_selectors import read_node_selector
from libs.oracle.objects import name_of, status_of
from libs.oracle.pods import read_pod
from libs.oracle.verdict import Verdict
from services.simulator.core.objects import Object
from services.simulator.core.scheduler import preemption
from services.simulator.core.scheduler.preemption import Candidate

_DEVICES = "DynamicResources"
_NOT_LOOKED_AT = "not found"
_NO_CLAIMS = "no new claims to deallocate"
_DEALLOCATED = "deallocation of ResourceClaim completed"
_STILL = "still not schedulable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """What is to be done for a pod without a place, and said of it."""

    message: str
    """Of the pod's condition."""
    preempts: Candidate | None = None
    frees: Object | None = None
    """The ResourceClaim that gives its devices back."""
    keeps_nomination: bool = False
    """Whether the pod's nominated node stays what it was."""


def follow_up(
    cluster: Cluster, pod: Object, verdict: Verdict, budgets: Iterable[Object], now: datetime
) -> Aftermath:
    """Return what follows the refusal of a pod that is not gated."""
    if not cluster.nodes:
        return Aftermath(message=verdict.message)
    refused = verdict.pod_refused
    if refused is not None and refused.plugin != _DEVICES:
        # The plugin of devices finds nothing that it had noted, as it was not asked any more.
        return Aftermath(message=f"{verdict.message} {_NOT_LOOKED_AT}", keeps_nomination=True)
    freed = _out_of_reach(cluster, pod, verdict)
    found = preemption.search(cluster, pod, verdict, budgets, now)
    if found.candidate is not None:
        return Aftermath(message=verdict.message, preempts=found.candidate, frees=freed)
    devices = _DEALLOCATED if freed is not None else _of_devices(cluster, pod, verdict)
    return Aftermath(
        message=f"{verdict.message} {devices}, preemption: {found.message}",
        frees=freed,
        keeps_nomination=found.keeps_nomination,
    )


def _of_devices(cluster: Cluster, pod: Object, verdict: Verdict) -> str:
    has_claims = bool(claims_of(cluster, pod)) or bool(
        classes_of_resources(cluster, read_pod(pod).requests)
    )
    return _STILL if has_claims and verdict.pod_refused is None else _NO_CLAIMS


def _out_of_reach(cluster: Cluster, pod: Object, verdict: Verdict) -> Object | None:
    """Return a claim of the pod's alone whose devices no node that wants it reaches."""
    claims = claims_of(cluster, pod)
    missed = [
        cluster.nodes[name]
        for name, rejection in verdict.rejected.items()
        if rejection.plugin == _DEVICES
    ]
    if isinstance(claims, str) or verdict.pod_refused is not None:
        return None
    for claim in sorted(claims, key=name_of):
        selector = (allocation_of(claim) or {}).get("nodeSelector")
        consumers = status_of(claim).get("reservedFor") or ()
        if selector is None or len(consumers) > is_reserved_for(claim, pod):
            continue
        reaches = read_node_selector(selector)
        if not all(reaches(node.labels, node.name) for node in missed):
            return dict(claim)
    return None
