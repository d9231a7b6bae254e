"""A question to the solver and its answer: options, plan, cost, what it was made from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from libs.domain.objective import PPM, PRICE_ALONE, Objective
from libs.domain.plan import Plan, UnplacedPods
from libs.domain.snapshot import SnapshotId


class PreferencePolicy(StrEnum):
    """Whether pods' preferences hold until nothing else fits, or are left out."""

    RESPECT = "Respect"
    IGNORE = "Ignore"


class MinValuesPolicy(StrEnum):
    """Whether minValues that cannot be met refuse the pod, or are lowered."""

    STRICT = "Strict"
    BEST_EFFORT = "BestEffort"


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveOptions:
    """How a decision is made; together with the snapshot it determines the plan."""

    preference_policy: PreferencePolicy = PreferencePolicy.RESPECT
    min_values_policy: MinValuesPolicy = MinValuesPolicy.STRICT
    refine_budget: timedelta = timedelta(0)
    """Time for the refine stage; it only chooses how many iterations run."""
    refine_iterations: int | None = None
    """Exact number of iterations, for a replay; wins over `refine_budget`."""
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    seed: int = 0
    now: datetime | None = None
    """The instant of the decision; None: the snapshot's."""
    objective: Objective = PRICE_ALONE
    """What a plan is chosen by besides its price."""

    @property
    def refines(self) -> bool:
        """Return whether the refine stage is asked for."""
        if self.refine_iterations is not None:
            return self.refine_iterations > 0
        return self.refine_budget > timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Nano-dollars per hour of new claims at their cheapest offering, and of what exists."""

    new_nanos_per_hour: int = 0
    existing_nanos_per_hour: int = 0
    lower_bound_nanos_per_hour: int | None = None
    """No valid plan for the same pods can cost less; None in answers of older solvers."""
    objective_nanos_per_hour: int = 0
    """What the plan was chosen by: the price of new claims and the terms of the objective."""

    @property
    def bound_ratio_ppm(self) -> int | None:
        """Return the price of new claims in millionths of the bound, rounded up.

        None where there is no bound, or where it is zero and the price is not.
        """
        bound, price = self.lower_bound_nanos_per_hour, self.new_nanos_per_hour
        if bound is None:
            return None
        if bound > 0:
            return -(-price * PPM // bound)
        return None if price else PPM


@dataclass(frozen=True, slots=True, kw_only=True)
class PodCounts:
    """Where the waiting pods went."""

    waiting: int = 0
    on_existing: int = 0
    on_new: int = 0
    unplaced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A plan, and what it was made from; equal decisions have equal `plan_id`s."""

    snapshot: SnapshotId
    options: SolveOptions
    iterations: int = 0
    solver_version: str
    plan: Plan
    cost: Cost
    plan_id: str
    pods: PodCounts


def among(groups: Iterable[UnplacedPods], nodes: int) -> tuple[UnplacedPods, ...]:
    """Return groups that are refused by every node with the reasons of so many of them."""
    return tuple(
        replace(
            group,
            reason=replace(
                group.reason, existing=tuple((rule, nodes) for rule, _ in group.reason.existing)
            ),
        )
        for group in groups
    )


def with_unplaced(solution: Solution, groups: Iterable[UnplacedPods]) -> Solution:
    """Return the solution with pods that it could not see, because their objects are broken."""
    added = tuple(groups)
    if not added:
        return solution
    count = sum(len(group.pod_uids) for group in added)
    unplaced = sorted((*solution.plan.unplaced, *added), key=lambda group: group.pod_uids)
    return replace(
        solution,
        plan=replace(solution.plan, unplaced=tuple(unplaced)),
        pods=replace(
            solution.pods,
            waiting=solution.pods.waiting + count,
            unplaced=solution.pods.unplaced + count,
        ),
    )
