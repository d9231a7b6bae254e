"""What a decision about one NodeClaim reads: the claim and everything live around it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from libs.domain.nodeclaim import ClaimCommand
from libs.domain.nodepool import NodePool
from libs.domain.provider import Instance, LaunchFailure
from libs.kube.objects.karpenter import NodeClaim
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod
from libs.kube.objects.storage import VolumeAttachment
from services.lifecycle.core.conditions import CLAIM_DEPENDENTS, ConditionSet


class Presence(StrEnum):
    """What the provider said of the instance for this look."""

    NOT_ASKED = "not asked"
    THERE = "there"
    ENDING = "ending"
    """Its end was accepted."""
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The spans that the state machine waits."""

    launch_timeout: timedelta = timedelta(minutes=5)
    registration_timeout: timedelta = timedelta(minutes=15)
    instance_poll: timedelta = timedelta(seconds=5)
    drain_poll: timedelta = timedelta(seconds=1)
    least_drain: timedelta = timedelta(seconds=5)
    """A drain lasts at least this long, so that a pod bound meanwhile is seen."""
    pod_event_dedupe: timedelta = timedelta(seconds=10)


DEFAULT_POLICY = Policy()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimView:
    """A claim and its surroundings at one instant."""

    claim: NodeClaim
    nodes: tuple[Node, ...] = ()
    """All with the claim's provider id; more than one is a fault."""
    pods: tuple[Pod, ...] = ()
    """All that are bound to the node."""
    attachments: tuple[VolumeAttachment, ...] = ()
    """All of the node."""
    volume_names: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Volume by (namespace, claim) for the claims of `pods`."""
    pool: NodePool | None = None
    command: ClaimCommand | None = None
    """The command that the claim is under."""
    presence: Presence = Presence.NOT_ASKED
    launched: Instance | LaunchFailure | None = None
    """What the provider answered to the launch for this look; None: not asked."""
    pod_event_at: datetime | None = None
    """Last time that a pod of the node was bound, ended or began to leave."""
    now: datetime

    @property
    def node(self) -> Node | None:
        """Return the claim's node, None unless there is exactly one."""
        return self.nodes[0] if len(self.nodes) == 1 else None

    def conditions(self) -> ConditionSet:
        """Return the claim's conditions, with what is missing added."""
        return ConditionSet.of(
            self.claim.metadata, self.claim.status.conditions, CLAIM_DEPENDENTS, self.now
        )
