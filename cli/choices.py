"""How to decide, as it was typed: what `plan`, `explain` and in part `check` have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cli import clusters
from libs.domain import feature_gates
from libs.domain.errors import InvalidRequest
from libs.domain.solution import MinValuesPolicy, PreferencePolicy, SolveOptions
from libs.domain.topology import TopologySpread
from libs.kube.convert.scheduler_config import parse_scheduler_config


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Options of the command line."""

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


def load(
    files: Sequence[str], catalogue: str, choices: Choices
) -> tuple[clusters.OfflineCluster, SolveOptions]:
    """Return the cluster of some files and how to decide about it.

    Raises:
        InvalidRequest: bad input; names file, object and field, or the option.
        OSError: a file cannot be read.
    """
    options = choices.options()
    cluster = clusters.load(
        files,
        catalogue,
        clusters.instant(choices.now),
        gates=options.feature_gates,
        default_spread=default_spread(choices.scheduler_config),
    )
    return cluster, options


def default_spread(path: str) -> tuple[TopologySpread, ...]:
    """Return the default constraints in a file, without selectors; () where none is named.

    Raises:
        InvalidRequest: bad input; names file and field.
        OSError: the file cannot be read.
    """
    if not path:
        return ()
    try:
        return parse_scheduler_config(Path(path).read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise InvalidRequest("not text in UTF-8", field=f"--scheduler-config {path}") from None
    except InvalidRequest as error:
        raise InvalidRequest(str(error), field=f"--scheduler-config {path}") from None
