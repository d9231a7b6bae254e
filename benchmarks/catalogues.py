"""What workloads may buy: the peer's synthetic types, or EC2's.

Source of the synthetic ones: Karpenter's own scheduling benchmark. Type i has i CPUs, 2i GiB and
room for 10i pods; each is sold as spot in two zones and on demand in three, everywhere at 0.1 $/h
per CPU and 0.1 $/h per 10^9 bytes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from libs import catalogues
from libs.catalogues import aws, kwok
from libs.domain import labels as keys
from libs.domain.capacity import CapacityType, InstanceType, NodeClassRef
from libs.domain.errors import InvalidRequest
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import CPU, MEMORY, PODS, Resources

PEER_TYPES = 400
PEER_ZONES = ("test-zone-1", "test-zone-2", "test-zone-3")
EC2_ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
"""Those that pools of EC2 workloads use."""
CATEGORY = "karpenter.k8s.aws/instance-category"
FAMILY = "karpenter.k8s.aws/instance-family"

_SIZE, _SPECIAL, _INTEGER = "size", "special", "integer"
_LARGE_CPUS, _LARGE_GIB = 4, 8
_OFFERED = (
    (PEER_ZONES[0], CapacityType.ON_DEMAND),
    (PEER_ZONES[0], CapacityType.SPOT),
    (PEER_ZONES[1], CapacityType.ON_DEMAND),
    (PEER_ZONES[1], CapacityType.SPOT),
    (PEER_ZONES[2], CapacityType.ON_DEMAND),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sold:
    """A catalogue for the one node class of a workload."""

    node_class: NodeClassRef
    instance_types: tuple[InstanceType, ...]
    well_known_keys: tuple[str, ...]


def peer(count: int = PEER_TYPES) -> Sold:
    """Return the first `count` of the peer's types."""
    types = tuple(sorted(map(_peer_type, range(count)), key=lambda kind: kind.name))
    return Sold(
        node_class=NodeClassRef(group="karpenter.kwok.sh", kind="KWOKNodeClass", name="bench"),
        instance_types=types,
        well_known_keys=(_INTEGER, _SIZE, _SPECIAL),
    )


def ec2(count: int | None = None, categories: Iterable[str] = ()) -> Sold:
    """Return EC2's types.

    Args:
        count: how many, evenly out of all in the order of their names; None: all.
        categories: first letters of the families to choose from, such as c; none: all.

    Raises:
        InvalidRequest: there are not so many, or no such categories.
    """
    wanted = frozenset(categories)
    if unknown := sorted(wanted - _categories()):
        known = ", ".join(sorted(_categories()))
        raise InvalidRequest(f"{unknown[0]!r} is none of {known}", field="--families")
    found = tuple(one for one in _all_ec2() if not wanted or category(one) in wanted)
    if count is not None:
        if not 0 < count <= len(found):
            raise InvalidRequest(f"there are {len(found)} such types, not {count}", field="--types")
        found = tuple(found[index * len(found) // count] for index in range(count))
    return Sold(
        node_class=NodeClassRef(group="karpenter.k8s.aws", kind="EC2NodeClass", name="bench"),
        instance_types=found,
        well_known_keys=catalogues.well_known_keys("aws", found),
    )


def category(kind: InstanceType) -> str:
    """Return the category of an EC2 type: the first letter of its family."""
    return kind.requirements.single_values().get(CATEGORY, "")


@cache
def _categories() -> frozenset[str]:
    return frozenset(map(category, _all_ec2()))


@cache
def _all_ec2() -> tuple[InstanceType, ...]:
    return aws.instance_types()


def _peer_type(index: int) -> InstanceType:
    cpus = index + 1
    memory = 2 * cpus * 2**30
    nanos = cpus * 10**8 + (memory + 5) // 10
    large = cpus > _LARGE_CPUS and 2 * cpus > _LARGE_GIB
    labels = {
        keys.INSTANCE_TYPE: (f"fake-it-{index}",),
        keys.ARCH: ("amd64",),
        keys.OS: ("darwin", "linux", "windows"),
        keys.ZONE: PEER_ZONES,
        keys.CAPACITY_TYPE: (CapacityType.ON_DEMAND, CapacityType.SPOT),
        _SIZE: ("large" if large else "small",),
        _INTEGER: (str(cpus),),
        **({_SPECIAL: ("optional",)} if large else {}),
    }
    requirements = [Requirement.of(key, Operator.IN, values) for key, values in labels.items()]
    if not large:
        requirements.append(Requirement.of(_SPECIAL, Operator.DOES_NOT_EXIST))
    return InstanceType(
        name=f"fake-it-{index}",
        requirements=Requirements(requirements),
        capacity=Resources({CPU: cpus * 1_000, MEMORY: memory, PODS: 10 * cpus}),
        overhead=kwok.OVERHEAD,
        offerings=tuple(kwok.offering(zone, kind, nanos) for zone, kind in _OFFERED),
    )
