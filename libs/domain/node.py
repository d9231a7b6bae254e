"""Nodes as planning sees them: the effective view of a Node and its claim."""

from dataclasses import dataclass
from datetime import datetime

from libs.domain.pod import VolumeAttachCount
from libs.domain.resources import Resources
from libs.domain.taint import Taint


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Node:
    """A Node, seen through its claim: labels until registered, capacity until initialized."""

    name: str
    uid: str
    provider_id: str = ""
    nodeclaim: str = ""
    """Name of its claim; empty for a node that nobody manages."""
    labels: tuple[tuple[str, str], ...] = ()
    taints: tuple[Taint, ...] = ()
    """Those that count: start-up and known ephemeral ones do not until initialized."""
    unschedulable: bool = False
    capacity: Resources
    allocatable: Resources
    ready: bool = True
    registered: bool = True
    initialized: bool = True
    do_not_disrupt: bool = False
    leaving: bool = False
    """Claim or node deleting, or under a command whose replacements are in the same snapshot."""
    volume_limits: tuple[VolumeAttachCount, ...] = ()
    migrated_labels: tuple[str, ...] = ()
    """What its kubelet leaves to CSI drivers, as labels that requirements name, sorted."""
    declared_features: tuple[str, ...] = ()
    """What its kubelet says that it can do, sorted."""
    created_at: datetime
    nominated_until: datetime | None = None
