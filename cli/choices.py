"""How to decide, as it was typed: what `plan` and `explain` have in common."""

from collections.abc import Sequence
from dataclasses import dataclass

from cli import clusters
from libs.domain import feature_gates
from libs.domain.solution import MinValuesPolicy, PreferencePolicy, SolveOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Options of the command line."""

    preference_policy: PreferencePolicy
    min_values_policy: MinValuesPolicy
    feature_gates: str
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


def load(
    files: Sequence[str], catalogue: str, choices: Choices
) -> tuple[clusters.OfflineCluster, SolveOptions]:
    """Return the cluster of some files and how to decide about it.

    Raises:
        InvalidRequest: bad input; names file, object and field, or the option.
        OSError: a file cannot be read.
    """
    options = choices.options()
    now = clusters.instant(choices.now)
    return clusters.load(files, catalogue, now, gates=options.feature_gates), options
