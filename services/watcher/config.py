"""Settings of the watcher."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from libs.collections.batcher import Window
from libs.domain import feature_gates
from libs.domain.errors import InvalidRequest
from libs.domain.feature_gates import FeatureGate
from libs.domain.solution import MinValuesPolicy, PreferencePolicy, SolveOptions
from libs.runtime.leader import LeaderSettings

_IN_EFFECT = (
    FeatureGate.CAPACITY_BUFFER,
    FeatureGate.DYNAMIC_RESOURCES,
    FeatureGate.NODE_OVERLAY,
    FeatureGate.RESERVED_CAPACITY,
)
"""The gates that change anything here; the others may only be said to be what they are anyway."""

_REFINED = 20
"""A plan is refined in this part of the longest batch at most."""

_SHORTEST_NOMINATION = timedelta(seconds=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each attribute is read from `JOINER_CFG_` and its name in capitals."""

    kubeconfig: str = ""
    """Path of a kubeconfig; empty: the pod's service account, or the usual files outside of one."""
    solver_address: str = "127.0.0.1:9001"
    """`host:port` of the solvers; the host may stand for several, each gets the snapshots."""
    lifecycle_address: str = "127.0.0.1:9003"
    """`host:port` of lifecycle; where the host stands for several, the leader is found."""
    sinks: tuple[str, ...] = ()
    """`host:port` of whoever else gets the snapshots, such as disruption; as `solver_address`."""
    providers: Mapping[str, str] = field(
        default_factory=lambda: {"karpenter.kwok.sh": "127.0.0.1:9005"}
    )
    """Group of node classes → `host:port` of their provider; pools of other groups stay empty."""
    batch_idle_duration: timedelta = timedelta(seconds=1)
    """Quiet time after the last new waiting pod that closes a batch."""
    batch_max_duration: timedelta = timedelta(seconds=10)
    """Time after its first pod that closes a batch, however busy."""
    batch_max_pods: int = 10_000
    """Number of new waiting pods that closes a batch at once."""
    preference_policy: PreferencePolicy = PreferencePolicy.RESPECT
    """Whether pods' preferences hold until nothing else fits, or are left out."""
    min_values_policy: MinValuesPolicy = MinValuesPolicy.STRICT
    """Whether minValues that cannot be met refuse a pod, or are lowered."""
    refine_budget: timedelta = timedelta(milliseconds=500)
    """Longest time in which each plan is made cheaper, at most a twentieth of the longest batch;
    zero: the first plan that is found is carried out."""
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    """Karpenter's feature gates; one that is not named keeps its default, one without effect here
    is refused where it is given another value."""
    scheduler_config: str = ""
    """Path of a file with the cluster's default spread constraints, as Karpenter's document of that
    name has them; pods without constraints of their own are spread by them. Empty: none."""
    lease_namespace: str = "kube-system"
    """Namespace of the lease that replicas compete for."""
    lease_name: str = "joiner-watcher"
    """Name of that lease."""
    leader: LeaderSettings = field(default_factory=LeaderSettings)
    """Election of the one watcher that pushes and provisions; the others are warm."""

    def __post_init__(self) -> None:
        if not timedelta() < self.batch_idle_duration <= self.batch_max_duration:
            raise InvalidRequest(
                "must be longer than zero and not longer than the batch's maximum",
                field="batch_idle_duration",
            )
        if self.refine_budget < timedelta():
            raise InvalidRequest("must not be negative", field="refine_budget")
        if self.batch_max_pods < 1:
            raise InvalidRequest("must be at least 1", field="batch_max_pods")
        feature_gates.check(self.feature_gates, "feature_gates")
        for name, is_open in sorted(self.feature_gates.items()):
            _check_in_effect(name, is_open)

    @property
    def window(self) -> Window:
        """When a batch closes."""
        return Window(
            idle=self.batch_idle_duration,
            longest=self.batch_max_duration,
            most=self.batch_max_pods,
        )

    @property
    def nomination(self) -> timedelta:
        """How long a node that pods are expected on is not disrupted."""
        return max(2 * self.batch_max_duration, _SHORTEST_NOMINATION)

    @property
    def solve_options(self) -> SolveOptions:
        """How the solver is to decide."""
        return SolveOptions(
            preference_policy=self.preference_policy,
            min_values_policy=self.min_values_policy,
            refine_budget=min(self.refine_budget, self.batch_max_duration / _REFINED),
            feature_gates=dict(self.feature_gates),
        )

    def is_open(self, gate: FeatureGate) -> bool:
        """Return whether a feature gate is open."""
        return feature_gates.is_open(gate, self.feature_gates)


def _check_in_effect(name: str, is_open: bool) -> None:
    if name not in _IN_EFFECT and is_open is not feature_gates.DEFAULTS[name]:
        raise InvalidRequest(
            f"gate {name!r} has no effect yet, so it cannot be {str(is_open).lower()}; "
            f"leave it out: only {', '.join(_IN_EFFECT)} can be set",
            field="feature_gates",
        )
