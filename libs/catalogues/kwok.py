"""Karpenter's KWOK catalogue: 144 types of 8 offerings each, made by rule.

Source: `docs/sources.md` 8.2 and 8.3. Prices are 0.025 $/h per CPU and 0.001 $/h per 10^9 bytes of
memory; spot costs 0.7 of that. Both are rounded to the nearest nano-dollar.
"""

import re
from collections.abc import Iterable
from itertools import product

from libs.domain import labels as keys
from libs.domain.capacity import CapacityType, InstanceType, Offering
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources

INSTANCE_SIZE = "karpenter.kwok.sh/instance-size"
INSTANCE_FAMILY = "karpenter.kwok.sh/instance-family"
INSTANCE_CPU = "karpenter.kwok.sh/instance-cpu"
INSTANCE_MEMORY = "karpenter.kwok.sh/instance-memory"
WELL_KNOWN_KEYS = (INSTANCE_CPU, INSTANCE_FAMILY, INSTANCE_MEMORY, INSTANCE_SIZE)

OVERHEAD = Resources({CPU: 100, MEMORY: 10 * 2**20})
"""What the kubelet keeps back on every type."""

_CPUS = (1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256)
_GIB_PER_CPU = {2: "c", 4: "s", 8: "m"}
_ZONES = ("test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d")
_MOST_PODS = 1024
_NAMED_SIZE = re.compile(r"\w+\.(nano|micro|small|medium|large|\d*xlarge|metal)", re.ASCII)


def instance_types() -> tuple[InstanceType, ...]:
    """Return the catalogue, sorted by name."""
    shapes = product(_CPUS, _GIB_PER_CPU, ("linux", "windows"), ("amd64", "arm64"))
    types = (_instance_type(cpus, gib, system, arch) for cpus, gib, system, arch in shapes)
    return tuple(sorted(types, key=lambda kind: kind.name))


def type_requirements(
    *,
    name: str,
    arch: str,
    systems: Iterable[str],
    capacity: Resources,
    offerings: tuple[Offering, ...],
) -> Requirements:
    """Return the labels that KWOK gives to nodes of a type, zone and capacity type as unions."""
    quantities = capacity.to_quantities()
    size = _NAMED_SIZE.fullmatch(name)
    values = {
        keys.INSTANCE_TYPE: (name,),
        keys.ARCH: (arch,),
        keys.OS: tuple(systems),
        keys.ZONE: tuple(offering.zone for offering in offerings),
        keys.CAPACITY_TYPE: tuple(offering.capacity_type for offering in offerings),
        INSTANCE_SIZE: (size.group(1) if size else quantities.get(CPU, "0"),),
        INSTANCE_FAMILY: (family(name),),
        INSTANCE_CPU: (quantities.get(CPU, "0"),),
        INSTANCE_MEMORY: (quantities.get(MEMORY, "0"),),
    }
    return Requirements(Requirement.of(key, Operator.IN, found) for key, found in values.items())


def family(name: str) -> str:
    """Return the text before the first dot or dash; without one, the first character."""
    head = re.split(r"[.-]", name, maxsplit=1)[0]
    return head if head != name else name[:1]


def offering(zone: str, capacity_type: str, price_nanos_per_hour: int) -> Offering:
    """Return an offering that has nothing but zone, capacity type and price."""
    requirements = Requirements.from_labels({keys.ZONE: zone, keys.CAPACITY_TYPE: capacity_type})
    return Offering(
        zone=zone,
        capacity_type=capacity_type,
        price_nanos_per_hour=price_nanos_per_hour,
        requirements=requirements,
        capacity_override=Resources(),
        overhead_override=Resources(),
    )


def spot_price(on_demand_picos: int) -> int:
    """Return KWOK's spot price in nano-dollars of an on-demand price in pico-dollars."""
    return (on_demand_picos * 7 + 5_000) // 10_000


def _instance_type(cpus: int, gib_per_cpu: int, system: str, arch: str) -> InstanceType:
    memory = cpus * gib_per_cpu * 2**30
    picos = cpus * 25_000_000_000 + memory
    prices = {
        CapacityType.SPOT: spot_price(picos),
        CapacityType.ON_DEMAND: (picos + 500) // 1_000,
    }
    offerings = tuple(
        offering(zone, kind, prices[kind])
        for zone in _ZONES
        for kind in (CapacityType.ON_DEMAND, CapacityType.SPOT)
    )
    name = f"{_GIB_PER_CPU[gib_per_cpu]}-{cpus}x-{arch}-{system}"
    capacity = Resources(
        {
            CPU: cpus * 1_000,
            MEMORY: memory,
            PODS: min(16 * cpus, _MOST_PODS),
            EPHEMERAL_STORAGE: 20 * 2**30,
        }
    )
    requirements = type_requirements(
        name=name, arch=arch, systems=(system,), capacity=capacity, offerings=offerings
    )
    return InstanceType(
        name=name,
        requirements=requirements,
        capacity=capacity,
        overhead=OVERHEAD,
        offerings=offerings,
    )
