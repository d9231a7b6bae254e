"""What options offer and what was chosen, apart from the work: the help needs nothing else."""

from dataclasses import dataclass
from enum import StrEnum

from libs.domain import feature_gates
from libs.domain.question import SubjectKind
from libs.domain.solution import MinValuesPolicy, PreferencePolicy, SolveOptions


class Judge(StrEnum):
    """Who answers a recording again."""

    ORACLE = "oracle"
    SIMULATOR = "simulator"
    SOLVER = "solver"


class Machines(StrEnum):
    """What becomes of a trace's own machines."""

    CORDONED = "cordoned"
    READY = "ready"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """How to decide, as it was typed."""

    preference_policy: PreferencePolicy
    min_values_policy: MinValuesPolicy
    feature_gates: str
    scheduler_config: str
    now: str | None

    def options(self) -> SolveOptions:
        """Return what they mean to the solver.

        Raises:
            InvalidRequest: a feature gate that there is not.
        """
        return SolveOptions(
            preference_policy=self.preference_policy,
            min_values_policy=self.min_values_policy,
            feature_gates=feature_gates.parse(self.feature_gates, "--feature-gates"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is asked about, as it was typed."""

    kind: SubjectKind
    name: str
