"""Workloads by name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from benchmarks.workloads import deployments, mixed, openb, peer
from benchmarks.workloads.workload import Size, Workload
from libs.domain.errors import InvalidRequest

WORKLOADS: Mapping[str, Callable[[Size], Workload]] = MappingProxyType(
    {
        "peer-mix": peer.mix,
        "distinct": peer.distinct,
        "preferences": peer.preferences,
        "deployments": deployments.deployments,
        "mixed": mixed.mixed,
        "openb": openb.openb,
        "standing": deployments.standing,
    }
)


def named(name: str, size: Size) -> Workload:
    """Return a workload.

    Raises:
        InvalidRequest: there is no such workload, or not so much of it.
    """
    make = WORKLOADS.get(name)
    if make is None:
        raise InvalidRequest(f"{name!r} is none of {', '.join(WORKLOADS)}", field="--workload")
    return make(size)
