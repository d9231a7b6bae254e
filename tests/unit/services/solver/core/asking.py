"""Short ways to ask the solver in tests and to read its plan."""

from typing import Any

from libs.domain.plan import Plan, PlannedNodeClaim
from libs.domain.reason import Rejection
from libs.domain.solution import SolveOptions
from services.solver.core.solve import solve
from tests.support.builders import a_snapshot


def plan_of(options: SolveOptions | None = None, **snapshot: Any) -> Plan:
    """Return the plan for a snapshot made of these collections."""
    return solve(a_snapshot(**snapshot), options or SolveOptions()).plan


def on_nodes(plan: Plan) -> dict[str, int]:
    """Return how many pods go to each node or claim in flight."""
    return {one.target: len(one.pod_uids) for one in plan.nominations}


def on_new(plan: Plan) -> list[int]:
    """Return how many pods go to each new claim."""
    return [len(claim.pod_uids) for claim in plan.nodeclaims]


def left_over(plan: Plan) -> int:
    """Return how many pods have no place."""
    return sum(len(one.pod_uids) for one in plan.unplaced)


def the_claim(plan: Plan) -> PlannedNodeClaim:
    """Return the only new claim."""
    (claim,) = plan.nodeclaims
    return claim


def zones(plan: Plan) -> list[str]:
    """Return the zones of the new claims, sorted."""
    return sorted(claim.cheapest.zone for claim in plan.nodeclaims)


def the_rejection(plan: Plan) -> Rejection:
    """Return the only rejection of the only unplaced pods."""
    (unplaced,) = plan.unplaced
    (rejection,) = unplaced.reason.rejections
    return rejection
