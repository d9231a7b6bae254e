"""The file with the cluster's default spread constraints, read once at the start."""

from pathlib import Path

from libs.domain.errors import InvalidRequest
from libs.domain.topology import TopologySpread
from libs.kube.convert.scheduler_config import parse_scheduler_config


def read_default_spread(path: str) -> tuple[TopologySpread, ...]:
    """Return the constraints in a file; () where none is named.

    Raises:
        InvalidRequest: the file cannot be read, or is no such document; names file and field.
    """
    if not path:
        return ()
    try:
        return parse_scheduler_config(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"cannot be read: {error}", field=path) from None
    except InvalidRequest as error:
        raise InvalidRequest(str(error), field=path) from None
