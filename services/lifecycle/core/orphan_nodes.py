"""Nodes that carry our finalizer and whose claim is no more: drained, then let go.

Apart because there is no claim to write progress on, and no instance to end by it.

Source: `docs/sources.md` G2 and G6.
"""

from datetime import datetime, timedelta

from libs.kube.objects.karpenter import NodeClaim
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod
from services.lifecycle.core.claim_states import FINALIZER
from services.lifecycle.core.evictable import plan_drain
from services.lifecycle.core.step import Evict, Step
from services.lifecycle.core.termination import FORCEFUL, mark_patch, release_patch

_POLL = timedelta(seconds=1)


def is_orphan(node: Node, claim: NodeClaim | None) -> bool:
    """Tell whether only our finalizer holds a node whose claim is no more."""
    return (
        claim is None
        and node.metadata.deletion_timestamp is not None
        and FINALIZER in node.metadata.finalizers
    )


def owning_claim(node: Node) -> str:
    """Return the name of the claim that the node says it belongs to, empty if it says none."""
    owners = node.metadata.owner_references
    return next((owner.name for owner in owners if owner.kind == "NodeClaim"), "")


def next_step(node: Node, pods: tuple[Pod, ...], now: datetime) -> Step:
    """Return the next step of an orphan."""
    mark = mark_patch(node)
    if mark is not None:
        return Step(writes=(mark,), check_after=_POLL)
    drain = plan_drain(pods, None, now)
    if not drain.waiting:
        return Step(writes=(release_patch(node),))
    evictions = tuple(
        Evict(
            namespace=pod.metadata.namespace,
            name=pod.metadata.name,
            uid=pod.metadata.uid,
            node=node.metadata.name,
            reason=FORCEFUL,
        )
        for pod in drain.evict
    )
    return Step(writes=evictions, check_after=_POLL)
