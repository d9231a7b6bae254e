"""What answers are compared by: rules that the user set for plans as a whole, then what they cost.

Apart because each answer is scored the same, whoever found it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from libs.domain.capacity import CapacityType
from libs.domain.objective import BlastRadius, SpotDiversity
from libs.domain.plan import Plan, PlannedNodeClaim
from services.solver.core.packed import Packed
from services.solver.core.packing.encode import Encoded
from services.solver.core.refining.radius import owners_of


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Score:
    """Less is better, from the top down."""

    crowded: int
    """Spot nodes beyond the share that one offering may have."""
    narrow: int
    """Instance types that launch lists of spot nodes are short of."""
    objective: int
    """Nano-dollars per hour."""
    nodes: int


def score(encoded: Encoded, one: Packed) -> Score:
    """Return the score of an answer."""
    objective = encoded.options.objective
    plan = one.answer.plan
    diversity = objective.spot_diversity or SpotDiversity()
    spot = [claim for claim in plan.nodeclaims if claim.cheapest.capacity_type == CapacityType.SPOT]
    return Score(
        crowded=crowded(spot, diversity),
        narrow=sum(max(0, diversity.instance_types - len(claim.instance_types)) for claim in spot),
        objective=one.answer.weight + beyond_radius(encoded, plan),
        nodes=len(plan.nodeclaims),
    )


def crowded(spot: list[PlannedNodeClaim], diversity: SpotDiversity) -> int:
    """Return how many spot nodes are beyond the share that one offering may have."""
    if not diversity.share_ppm:
        return 0
    allowed = diversity.allowed(len(spot))
    by_offering = Counter((claim.cheapest.instance_type, claim.cheapest.zone) for claim in spot)
    return sum(max(0, count - allowed) for count in by_offering.values())


def beyond_radius(encoded: Encoded, plan: Plan) -> int:
    """Return what pods count for that are too many of one workload on one node."""
    radius = encoded.options.objective.blast_radius
    if radius is None:
        return 0
    owners = owners_of(encoded)
    total = Counter(owners[uid] for uid in owners)
    return radius.pod_nanos_per_hour * sum(
        _beyond(claim, owners, total, radius) for claim in plan.nodeclaims
    )


def _beyond(
    claim: PlannedNodeClaim,
    owners: Mapping[str, str],
    total: Counter[str],
    radius: BlastRadius,
) -> int:
    here = Counter(owners[uid] for uid in claim.pod_uids if uid in owners)
    return sum(max(0, count - radius.allowed(total[owner])) for owner, count in here.items())
