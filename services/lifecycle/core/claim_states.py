"""States of a NodeClaim: one table of what may follow what, and by which event.

Apart because it is the answer to "what can happen to a node from launch to termination". The state
is never stored: it is read off the claim's deletion timestamp, conditions and provider id, which is
what makes every step repeatable after a crash.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from libs.domain.nodeclaim import ConditionType
from libs.kube.objects.karpenter import NodeClaim

FINALIZER = "karpenter.sh/termination"


class ClaimState(StrEnum):
    """How far a NodeClaim is."""

    CREATED = "Created"
    """No instance yet."""
    LAUNCHED = "Launched"
    """There is an instance, no node yet."""
    REGISTERED = "Registered"
    """Its node has joined and carries the claim's labels and taints."""
    INITIALIZED = "Initialized"
    """Its node is ready for pods."""
    DRAINING = "Draining"
    """Deleted; pods are leaving the node."""
    DETACHING = "Detaching"
    """No pods left; volumes are leaving the node."""
    ENDING = "Ending"
    """The instance is to end, or ending."""
    GONE = "Gone"
    """The finalizer is off."""


TRANSITIONS: Mapping[ClaimState, frozenset[ClaimState]] = MappingProxyType(
    {
        ClaimState.CREATED: frozenset(
            {
                ClaimState.LAUNCHED,  # the provider created an instance
                ClaimState.ENDING,  # deleted by a user, a launch failure or the launch timeout
            }
        ),
        ClaimState.LAUNCHED: frozenset(
            {
                ClaimState.REGISTERED,  # a node with the provider id was synced
                ClaimState.ENDING,  # deleted, or the registration timeout passed
            }
        ),
        ClaimState.REGISTERED: frozenset(
            {
                ClaimState.INITIALIZED,  # node ready, start-up taints gone, resources there
                ClaimState.DRAINING,  # deleted with a node
                ClaimState.ENDING,  # deleted, its node gone already
            }
        ),
        ClaimState.INITIALIZED: frozenset(
            {
                ClaimState.DRAINING,  # deleted: command, expiration, user, garbage collection
                ClaimState.ENDING,  # deleted, its node gone already
            }
        ),
        ClaimState.DRAINING: frozenset(
            {
                ClaimState.DETACHING,  # nothing left to evict
                ClaimState.ENDING,  # the node or the instance vanished
            }
        ),
        ClaimState.DETACHING: frozenset(
            {
                ClaimState.ENDING,  # volumes detached, or the deadline passed
            }
        ),
        ClaimState.ENDING: frozenset(
            {
                ClaimState.GONE,  # the provider says that the instance is gone
            }
        ),
        ClaimState.GONE: frozenset(),
    }
)


def state_of(claim: NodeClaim, *, has_node: bool) -> ClaimState:
    """Return the state of a claim; `has_node`: a node with its provider id exists."""
    if claim.metadata.deletion_timestamp is not None:
        return _leaving_state(claim, has_node)
    if is_true(claim, ConditionType.INITIALIZED):
        return ClaimState.INITIALIZED
    if is_true(claim, ConditionType.REGISTERED):
        return ClaimState.REGISTERED
    return ClaimState.LAUNCHED if claim.status.provider_id else ClaimState.CREATED


def is_true(claim: NodeClaim, kind: ConditionType) -> bool:
    """Tell whether the claim has the condition, and True."""
    return any(one.type == kind and one.status == "True" for one in claim.status.conditions)


def _leaving_state(claim: NodeClaim, has_node: bool) -> ClaimState:
    if FINALIZER not in claim.metadata.finalizers:
        return ClaimState.GONE
    if not is_true(claim, ConditionType.REGISTERED) or not has_node:
        return ClaimState.ENDING
    if not is_true(claim, ConditionType.DRAINED):
        return ClaimState.DRAINING
    detached = next(
        (one for one in claim.status.conditions if one.type == ConditionType.VOLUMES_DETACHED), None
    )
    # False: the deadline passed with volumes left, and the instance ends all the same.
    return (
        ClaimState.ENDING
        if detached is not None and detached.status != "Unknown"
        else ClaimState.DETACHING
    )
