"""Do the pools' limits hold: what exists, what comes, and what a plan buys.

Apart from `claims`, which looks at one claim at a time.
"""

from collections.abc import Iterable, Iterator

from libs.checker.claims import Purchase
from libs.domain import labels as keys
from libs.domain.allocatable import full_capacity
from libs.domain.resources import NODES, Resources, format_amount, total
from libs.domain.snapshot import ClusterSnapshot
from libs.oracle.check import Violation

_ONE_NODE = Resources({NODES: 1})


def over_limits(snapshot: ClusterSnapshot, bought: Iterable[Purchase]) -> Iterator[Violation]:
    """Yield the pools whose new nodes go beyond the limits together with what exists."""
    capacities: dict[str, list[Resources]] = {}
    for one in bought:
        full = full_capacity(one.kind, one.offering)
        capacities.setdefault(one.pool.name, []).append(full.add(_ONE_NODE))
    for name, new in capacities.items():
        limits = snapshot.nodepools[name].limits
        used = total([*new, existing_usage(snapshot, name)])
        for resource, limit in limits.items():
            if used.get(resource) > limit:
                would = format_amount(resource, used.get(resource))
                allowed = format_amount(resource, limit)
                yield Violation(
                    pod="",
                    node="",
                    rule="NodePoolLimits",
                    message=f'nodepool "{name}" would use {would} of {allowed} {resource}',
                )


def existing_usage(snapshot: ClusterSnapshot, pool: str) -> Resources:
    """Return the capacity of the pool's nodes and claims in flight, and their number as `nodes`.

    What is leaving is not counted.
    """
    return total(_existing(snapshot, pool))


def _existing(snapshot: ClusterSnapshot, pool: str) -> Iterator[Resources]:
    for node in snapshot.nodes.values():
        if dict(node.labels).get(keys.NODEPOOL) == pool and not node.leaving:
            yield node.capacity.add(_ONE_NODE)
    for claim in snapshot.nodeclaims.values():
        if claim.nodepool == pool and not claim.node_name and claim.deleting_at is None:
            yield claim.capacity.add(_ONE_NODE)
