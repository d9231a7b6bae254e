"""What is left of the life of a node; what disrupting it costs its pods is in `libs/domain`.

Source: `docs/sources.md` H2, costs.
"""

from datetime import datetime

from libs.domain.nodeclaim import NodeClaim


def lifetime_remaining(claim: NodeClaim, now: datetime) -> float:
    """Return the share of its life that a claim has left, 0 to 1; 1 if it does not expire."""
    if not claim.expire_after:
        return 1.0
    return max(0.0, min(1.0, 1.0 - (now - claim.created_at) / claim.expire_after))
