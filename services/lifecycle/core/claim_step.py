"""The next step of a NodeClaim, whatever state it is in.

One look goes through the phases in their order and returns at the first write: what it wrote is
read by the next look.
"""

from libs.domain import labels as keys
from services.lifecycle.core import (
    disruption_marks,
    initialization,
    launch,
    liveness,
    registration,
    termination,
)
from services.lifecycle.core.claim_states import FINALIZER
from services.lifecycle.core.claim_writes import deletion, metadata_patch, status_patches
from services.lifecycle.core.conditions import ConditionSet
from services.lifecycle.core.step import Ask, Count, Series, Step, soonest
from services.lifecycle.core.view import DEFAULT_POLICY, ClaimView, Policy


def next_step(view: ClaimView, policy: Policy = DEFAULT_POLICY) -> Step:
    """Return the next step; one without writes, question and failure means rest."""
    claim = view.claim
    if claim.metadata.deletion_timestamp is not None:
        return termination.next_step(view, policy)
    if FINALIZER not in claim.metadata.finalizers:
        wanted = [*claim.metadata.finalizers, FINALIZER]
        return Step(writes=(metadata_patch(claim, {"finalizers": wanted}),))
    conditions = view.conditions().restamp()
    if not conditions.is_true("Launched"):
        return _launch(view, conditions, policy)
    return _live(view, conditions, policy)


def _launch(view: ClaimView, conditions: ConditionSet, policy: Policy) -> Step:
    overdue = liveness.check(view, conditions, policy)
    if view.launched is not None:
        return launch.outcome(view, conditions)
    return overdue if overdue.writes else Step(ask=Ask.LAUNCH)


def _live(view: ClaimView, conditions: ConditionSet, policy: Policy) -> Step:
    node_step = _node_step(view, conditions)
    if node_step is not None:
        return node_step
    conditions = registration.conditions_of(view, conditions)
    overdue = liveness.check(view, conditions, policy)
    expired = liveness.expiration(view)
    for ending in (overdue, expired):
        if ending.writes:
            return ending
    conditions = initialization.conditions_of(view, conditions)
    event_at = disruption_marks.last_pod_event(view, policy)
    conditions, quiet_left = disruption_marks.conditions_of(view, conditions, event_at)
    fields = {**registration.status_fields(view), **disruption_marks.status_fields(event_at)}
    return Step(
        writes=status_patches(view.claim, conditions, fields),
        check_after=soonest(overdue.check_after, expired.check_after, quiet_left),
    )


def _node_step(view: ClaimView, conditions: ConditionSet) -> Step | None:
    """Return what the claim's node needs first: its own end, registration, marks."""
    node = view.node
    if node is not None and registration.is_registered(node) and node.metadata.deletion_timestamp:
        return Step(writes=(deletion(view.claim),))
    joined = registration.node_patch(view)
    if joined is not None and not conditions.is_true("Registered"):
        created = Count(
            series=Series.NODES_CREATED,
            labels=(
                view.claim.metadata.labels.get(keys.NODEPOOL, ""),
                view.claim.metadata.labels.get(keys.ZONE, ""),
            ),
        )
        told = registration.registration_events(view)
        return Step(writes=(joined,), events=told, counts=(created,))
    for patch in (
        initialization.node_patch(view, conditions),
        disruption_marks.untaint_patch(view),
    ):
        if patch is not None:
            return Step(writes=(patch,))
    return None
