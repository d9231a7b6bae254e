"""Liveness and age: a claim that does not become a node in time goes, and so does one that expires.

Source: `docs/sources.md` F5 and F8.1.
"""

from datetime import timedelta

from libs.domain.duration import parse_nillable
from libs.domain.errors import InvalidRequest
from libs.domain.nodeclaim import ConditionType
from libs.kube.objects.karpenter import NodeClaim
from services.lifecycle.core.claim_writes import deletion, disrupted
from services.lifecycle.core.conditions import ConditionSet
from services.lifecycle.core.step import AT_REST, Step
from services.lifecycle.core.view import ClaimView, Policy


def check(view: ClaimView, conditions: ConditionSet, policy: Policy) -> Step:
    """Return the claim's deletion if a time is up, else when the next one will be."""
    for kind, limit, reason in (
        (ConditionType.LAUNCHED, policy.launch_timeout, "launch_timeout"),
        (ConditionType.REGISTERED, policy.registration_timeout, "registration_timeout"),
    ):
        if conditions.is_true(str(kind)):
            continue
        since = conditions.since(str(kind)) or view.now
        left = since + limit - view.now
        if left <= timedelta(0):
            return _end(view.claim, reason)
        return Step(check_after=left)
    return AT_REST


def expiration(view: ClaimView) -> Step:
    """Return the claim's deletion if it is too old, else when it will be."""
    lifetime = _expire_after(view.claim)
    created = view.claim.metadata.creation_timestamp
    if lifetime is None or created is None:
        return AT_REST
    left = created + lifetime - view.now
    return _end(view.claim, "expired") if left <= timedelta(0) else Step(check_after=left)


def _end(claim: NodeClaim, reason: str) -> Step:
    return Step(writes=(deletion(claim),), counts=(disrupted(claim, reason),))


def _expire_after(claim: NodeClaim) -> timedelta | None:
    try:
        return parse_nillable(claim.spec.expire_after)
    except InvalidRequest:
        return None
