"""Host ports: which ones exclude each other on one node.

Source: Kubernetes API reference, `hostIP`: the unspecified address takes the port on every address.
"""

from collections.abc import Iterable

from libs.domain.pod import HostPort

_EVERY_ADDRESS = frozenset({"", "0.0.0.0", "::"})


def conflict(left: Iterable[HostPort], right: Iterable[HostPort]) -> bool:
    """Tell whether any port of one side excludes any of the other."""
    theirs = tuple(right)
    return any(_excludes(mine, their) for mine in left for their in theirs)


def _excludes(left: HostPort, right: HostPort) -> bool:
    if left.port != right.port or left.protocol != right.protocol:
        return False
    return left.ip == right.ip or left.ip in _EVERY_ADDRESS or right.ip in _EVERY_ADDRESS
