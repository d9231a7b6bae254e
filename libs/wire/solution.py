"""Mirrors options and answer of Solve in `solver/v1/solver.proto`."""

from joiner.solver.v1 import solver_pb2 as pb

from libs.domain import feature_gates
from libs.domain.solution import (
    Cost,
    MinValuesPolicy,
    PodCounts,
    PreferencePolicy,
    Solution,
    SolveOptions,
)
from libs.wire.field import at, choice, inverted, optional, require, saturated, within
from libs.wire.instant import decode_instant, decode_span, encode_instant, encode_span
from libs.wire.objective import decode_objective, encode_objective
from libs.wire.plan import decode_plan, write_plan
from libs.wire.snapshot import decode_snapshot_id, encode_snapshot_id


def decode_solve_options(message: pb.SolveOptions) -> SolveOptions:
    """Return the options; what is not set has its default."""
    iterations = None
    if message.HasField("refine_iterations"):
        iterations = within("refine_iterations", message.refine_iterations, 0)
    gates = dict(message.feature_gates)
    feature_gates.check(gates, "feature_gates")
    return SolveOptions(
        preference_policy=choice("preference_policy", _PREFERENCES, message.preference_policy),
        min_values_policy=choice("min_values_policy", _MIN_VALUES, message.min_values_policy),
        refine_budget=at("refine_budget", message.refine_budget, decode_span),
        refine_iterations=iterations,
        feature_gates=gates,
        seed=message.seed,
        now=optional(message, "now", decode_instant),
        objective=at("objective", message.objective, decode_objective),
    )


def encode_solve_options(options: SolveOptions) -> pb.SolveOptions:
    """Return the message."""
    return pb.SolveOptions(
        preference_policy=_PREFERENCE_NUMBERS[options.preference_policy],
        min_values_policy=_MIN_VALUES_NUMBERS[options.min_values_policy],
        refine_budget=encode_span(options.refine_budget or None),
        refine_iterations=options.refine_iterations,
        feature_gates=options.feature_gates,
        seed=options.seed,
        now=encode_instant(options.now),
        objective=encode_objective(options.objective),
    )


def decode_solution(message: pb.SolveResponse) -> Solution:
    """Return the answer."""
    require(message, "snapshot", "plan")
    return Solution(
        snapshot=at("snapshot", message.snapshot, decode_snapshot_id),
        options=at("options", message.options, decode_solve_options),
        iterations=within("iterations", message.iterations, 0),
        solver_version=message.solver_version,
        plan=at("plan", message.plan, decode_plan),
        cost=at("cost", message.cost, _decode_cost),
        plan_id=message.plan_id,
        pods=at("pods", message.pods, _decode_pod_counts),
    )


def encode_solution(solution: Solution) -> pb.SolveResponse:
    """Return the message."""
    message = pb.SolveResponse()
    write_solution(message, solution)
    return message


def unschedulable_pods(message: pb.SolveResponse) -> int:
    """Return how many pods have no place, those apart that only wait."""
    unplaced = message.plan.unplaced
    return sum(len(one.pod_uids) for one in unplaced if not one.reason.deferred)


def write_solution(message: pb.SolveResponse, solution: Solution) -> None:
    """Encode into an empty message where it stands: a message that is set as a field is copied."""
    message.snapshot.CopyFrom(encode_snapshot_id(solution.snapshot))
    message.options.CopyFrom(encode_solve_options(solution.options))
    message.iterations = solution.iterations
    message.solver_version = solution.solver_version
    write_plan(message.plan, solution.plan)
    message.cost.CopyFrom(_encode_cost(solution.cost))
    message.plan_id = solution.plan_id
    message.pods.CopyFrom(_encode_pod_counts(solution.pods))


def _decode_cost(message: pb.Cost) -> Cost:
    bound = None
    if message.HasField("lower_bound_nanos_per_hour"):
        bound = within("lower_bound_nanos_per_hour", message.lower_bound_nanos_per_hour, 0)
    return Cost(
        new_nanos_per_hour=within("new_nanos_per_hour", message.new_nanos_per_hour, 0),
        existing_nanos_per_hour=within(
            "existing_nanos_per_hour", message.existing_nanos_per_hour, 0
        ),
        lower_bound_nanos_per_hour=bound,
        objective_nanos_per_hour=within(
            "objective_nanos_per_hour", message.objective_nanos_per_hour, 0
        ),
    )


def _encode_cost(cost: Cost) -> pb.Cost:
    bound = cost.lower_bound_nanos_per_hour
    return pb.Cost(
        new_nanos_per_hour=saturated(cost.new_nanos_per_hour),
        existing_nanos_per_hour=saturated(cost.existing_nanos_per_hour),
        lower_bound_nanos_per_hour=None if bound is None else saturated(bound),
        bound_ratio_ppm=_ratio(cost),
        objective_nanos_per_hour=saturated(cost.objective_nanos_per_hour),
    )


def _ratio(cost: Cost) -> int | None:
    ratio = cost.bound_ratio_ppm
    return None if ratio is None else saturated(ratio)


def _decode_pod_counts(message: pb.PodCounts) -> PodCounts:
    return PodCounts(
        waiting=within("waiting", message.waiting, 0),
        on_existing=within("on_existing", message.on_existing, 0),
        on_new=within("on_new", message.on_new, 0),
        unplaced=within("unplaced", message.unplaced, 0),
    )


def _encode_pod_counts(pods: PodCounts) -> pb.PodCounts:
    return pb.PodCounts(
        waiting=pods.waiting,
        on_existing=pods.on_existing,
        on_new=pods.on_new,
        unplaced=pods.unplaced,
    )


_PREFERENCES = {
    pb.PREFERENCE_POLICY_UNSPECIFIED: PreferencePolicy.RESPECT,
    pb.PREFERENCE_POLICY_RESPECT: PreferencePolicy.RESPECT,
    pb.PREFERENCE_POLICY_IGNORE: PreferencePolicy.IGNORE,
}
_PREFERENCE_NUMBERS = inverted(_PREFERENCES)
_MIN_VALUES = {
    pb.MIN_VALUES_POLICY_UNSPECIFIED: MinValuesPolicy.STRICT,
    pb.MIN_VALUES_POLICY_STRICT: MinValuesPolicy.STRICT,
    pb.MIN_VALUES_POLICY_BEST_EFFORT: MinValuesPolicy.BEST_EFFORT,
}
_MIN_VALUES_NUMBERS = inverted(_MIN_VALUES)
