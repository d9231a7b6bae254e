"""How long things take on simulated nodes, and what the nodes are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeletPolicy:
    """Delays and limits of the kubelets."""

    boot: timedelta = timedelta(seconds=1)
    """From the appearance of a Node to its readiness."""
    start: timedelta = timedelta(milliseconds=300)
    """From a pod's binding to its readiness."""
    stop: timedelta = timedelta(milliseconds=200)
    """From a pod's deletion to its end, unless its grace period is shorter."""
    run: timedelta = timedelta(seconds=5)
    """How long the pods of a Job run; an annotation of the pod says otherwise."""
    resize: timedelta = timedelta(seconds=1)
    """From the moment that a resize is allowed until it is in force."""
    heartbeat: timedelta = timedelta(seconds=10)
    """Between two renewals of a node's lease."""
    report: timedelta = timedelta(minutes=5)
    """Between two reports of a node's status in which nothing changes."""
    every_node: bool = False
    """Whether every Node has a simulated kubelet, as in a cluster that is re-enacted; else those
    of KWOK alone have one."""
    volume_limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """How many volumes a node attaches, by CSI driver; these drivers are on every node."""
