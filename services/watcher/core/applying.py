"""From a solver's answer to a request that lifecycle can check, and what its reply lets us expect.

Source: `docs/architecture.md`, laws 3 and 4; `docs/sources.md` J8 and B1.7.
"""

from collections.abc import Iterator
from datetime import datetime

from libs.domain.execution import ApplyRequest, ApplyResult, CreatedClaim
from libs.domain.plan import Plan, PlannedNodeClaim
from libs.domain.pod import Target
from libs.domain.reason import TargetKind
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution


def apply_request(solution: Solution, snapshot: ClusterSnapshot, now: datetime) -> ApplyRequest:
    """Return the plan with the premise that it was made on.

    Args:
        solution: the answer.
        snapshot: the one that the answer names, which need not be the newest.
        now: the instant of the decision.
    """
    return ApplyRequest(
        plan_id=solution.plan_id,
        snapshot=solution.snapshot,
        known_nodeclaim_uids=tuple(sorted(claim.uid for claim in snapshot.nodeclaims.values())),
        plan=solution.plan,
        decided_at=now,
    )


def expected_targets(
    plan: Plan, result: ApplyResult, snapshot: ClusterSnapshot
) -> Iterator[tuple[TargetKind, str]]:
    """Yield the nodes and claims on which real pods are expected; virtual pods nominate nothing."""
    prefixes = tuple(f"{buffer.uid}-" for buffer in snapshot.buffers.values())
    for nomination in plan.nominations:
        if _has_real_pod(nomination.pod_uids, prefixes):
            yield nomination.target_kind, nomination.target
    for created, planned in created_claims(plan, result):
        if _has_real_pod(planned.pod_uids, prefixes):
            yield TargetKind.NODECLAIM, created.name


def pod_targets(plan: Plan, result: ApplyResult) -> dict[str, Target]:
    """Return where each pod is expected, virtual ones included, by uid."""
    found = {
        uid: Target(nomination.target_kind, nomination.target)
        for nomination in plan.nominations
        for uid in nomination.pod_uids
    }
    for created, planned in created_claims(plan, result):
        target = Target(TargetKind.NODECLAIM, created.name)
        found.update((uid, target) for uid in planned.pod_uids)
    return found


def created_claims(
    plan: Plan, result: ApplyResult
) -> Iterator[tuple[CreatedClaim, PlannedNodeClaim]]:
    """Yield each claim that was created with its plan; what was never planned is passed over."""
    planned = {claim.index: claim for claim in plan.nodeclaims}
    for created in result.created:
        if created.index in planned:
            yield created, planned[created.index]


def _has_real_pod(uids: tuple[str, ...], virtual_prefixes: tuple[str, ...]) -> bool:
    return any(not uid.startswith(virtual_prefixes) for uid in uids) if virtual_prefixes else True
