"""From how to decide, as it was typed, to a cluster and options: for `plan`, `explain`, `check`."""

from collections.abc import Sequence
from pathlib import Path

from cli import clusters
from cli.options import Choices
from libs.domain.errors import InvalidRequest
from libs.domain.solution import SolveOptions
from libs.domain.topology import TopologySpread
from libs.kube.convert.scheduler_config import parse_scheduler_config


def load(
    files: Sequence[str] | clusters.Input, catalogue: str, choices: Choices
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
