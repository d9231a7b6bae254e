"""How long the end of a claim may take: its terminationGracePeriod, as a deadline once it began.

Source: `docs/sources.md` G1, G4, G7.
"""

from datetime import datetime, timedelta

from libs.domain.duration import parse_plain
from libs.domain.errors import InvalidRequest
from libs.kube.objects.karpenter import NodeClaim

ANNOTATION = "karpenter.sh/nodeclaim-termination-timestamp"


def grace_period(claim: NodeClaim) -> timedelta | None:
    """Return the claim's terminationGracePeriod; None: it may take as long as it takes."""
    text = claim.spec.termination_grace_period
    if text is None:
        return None
    try:
        return parse_plain(text)
    except InvalidRequest:
        return None


def deadline(claim: NodeClaim) -> datetime | None:
    """Return the instant after which nothing holds the node; an illegible one holds nothing back.

    An illegible annotation counts as no deadline: force is used only on what is certain.
    """
    text = claim.metadata.annotations.get(ANNOTATION)
    if text is None:
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.tzinfo is not None else None


def termination_mode(claim: NodeClaim) -> str:
    """Return the word that metrics have for the claim's terminationGracePeriod."""
    period = grace_period(claim)
    if period is None:
        return "graceful"
    return "eventual" if period > timedelta(0) else "forceful"
