"""EC2's instance types of us-east-1 with their on-demand prices, shipped as a table.

`aws_us_east_1.csv` holds facts of EC2's own describe calls and published on-demand prices (July
2026). What a node keeps back follows the defaults that Karpenter's AWS provider documents: 7.5 %
of memory is lost to the hypervisor, kubelet reservations grow with CPUs and pods, 100 MiB are the
eviction threshold, the root volume has 20 GiB. The table has no spot prices; where a type is sold
as spot, KWOK's ratio of 0.7 stands in for them.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from importlib import resources as package_files

from libs.catalogues import kwok
from libs.domain import labels as keys
from libs.domain.capacity import CapacityType, InstanceType, Offering
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources

REGION = "us-east-1"
_PREFIX = "karpenter.k8s.aws/instance-"
WELL_KNOWN_KEYS = tuple(
    sorted(
        f"{_PREFIX}{name}"
        for name in (
            "category",
            "cpu",
            "family",
            "generation",
            "gpu-count",
            "gpu-manufacturer",
            "gpu-memory",
            "gpu-name",
            "hypervisor",
            "local-nvme",
            "memory",
            "size",
        )
    )
)

_MIB = 2**20
_GIB = 2**30
_ROOT_VOLUME = 20 * _GIB
_ACCELERATORS = {
    "Gaudi HL-205": ("habana", "habana.ai/gaudi"),
    "Radeon Pro V520": ("amd", "amd.com/gpu"),
}
_NVIDIA = ("nvidia", "nvidia.com/gpu")
_ARCHITECTURES = {"x86_64": "amd64", "i386|x86_64": "amd64", "arm64": "arm64"}
_NAME = re.compile(r"([a-z]+)(?:-?)(\d*)", re.ASCII)


def instance_types() -> tuple[InstanceType, ...]:
    """Return the catalogue, sorted by name."""
    return tuple(sorted(map(_instance_type, _rows()), key=lambda kind: kind.name))


def _rows() -> Iterator[Mapping[str, str]]:
    table = package_files.files("libs.catalogues").joinpath("aws_us_east_1.csv")
    with table.open("r", encoding="utf-8") as lines:
        yield from csv.DictReader(lines)


def _instance_type(row: Mapping[str, str]) -> InstanceType:
    offerings = tuple(sorted(_offerings(row), key=lambda one: (one.zone, one.capacity_type)))
    capacity = _capacity(row)
    return InstanceType(
        name=row["instance_type"],
        requirements=_requirements(row, offerings),
        capacity=capacity,
        overhead=_overhead(capacity),
        offerings=offerings,
    )


def _offerings(row: Mapping[str, str]) -> Iterator[Offering]:
    picos = int(Decimal(row["on_demand_usd_per_hour"]) * 10**12)
    usage_classes = row["usage_classes"].split("|")
    for zone in row["zones"].split("|"):
        if "on-demand" in usage_classes:
            yield kwok.offering(zone, CapacityType.ON_DEMAND, (picos + 500) // 1_000)
        if "spot" in usage_classes:
            yield kwok.offering(zone, CapacityType.SPOT, kwok.spot_price(picos))


def _capacity(row: Mapping[str, str]) -> Resources:
    amounts = {
        CPU: int(row["vcpus"]) * 1_000,
        MEMORY: int(row["memory_mib"]) * _MIB * 925 // 1_000,
        PODS: int(row["max_enis"]) * (int(row["ipv4_per_eni"]) - 1) + 2,
        EPHEMERAL_STORAGE: _ROOT_VOLUME,
    }
    gpus = int(row["gpu_count"])
    if gpus:
        _, resource = _ACCELERATORS.get(row["gpu_name"], _NVIDIA)
        amounts[resource] = gpus
    return Resources(amounts)


def _overhead(capacity: Resources) -> Resources:
    cpus = capacity.get(CPU) // 1_000
    # Share of each core in millicores: 60 of the first, 10 of the second, 5 of the next two, 2.5
    # of the rest.
    shares = (60, 10, 5, 5)
    reserved_cpu = sum(shares[:cpus]) + -(-max(0, cpus - len(shares)) * 5 // 2)
    return Resources(
        {
            CPU: reserved_cpu,
            MEMORY: (255 + 11 * capacity.get(PODS) + 100) * _MIB,
            EPHEMERAL_STORAGE: _GIB + _ROOT_VOLUME // 10,
        }
    )


def _requirements(row: Mapping[str, str], offerings: tuple[Offering, ...]) -> Requirements:
    name = row["instance_type"]
    series, size = name.split(".", 1)
    category = _NAME.match(series)
    values = {
        keys.INSTANCE_TYPE: [name],
        keys.ARCH: [_ARCHITECTURES[row["architectures"]]],
        keys.OS: ["linux"],
        keys.REGION: [REGION],
        keys.ZONE: [one.zone for one in offerings],
        keys.CAPACITY_TYPE: [one.capacity_type for one in offerings],
        f"{_PREFIX}category": [category.group(1)[:1] if category else ""],
        f"{_PREFIX}family": [series],
        f"{_PREFIX}generation": [category.group(2) if category else ""],
        f"{_PREFIX}size": [size],
        f"{_PREFIX}cpu": [row["vcpus"]],
        f"{_PREFIX}memory": [row["memory_mib"]],
        f"{_PREFIX}hypervisor": [row["hypervisor"]],
        f"{_PREFIX}local-nvme": [row["nvme_gb"]],
        **_gpu_labels(row),
    }
    found = {key: [one for one in many if one not in ("", "0")] for key, many in values.items()}
    known = {key: many for key, many in found.items() if many}
    missing = [key for key in WELL_KNOWN_KEYS if key not in known]
    return Requirements(
        [
            *(Requirement.of(key, Operator.IN, many) for key, many in known.items()),
            *(Requirement.of(key, Operator.DOES_NOT_EXIST) for key in missing),
        ]
    )


def _gpu_labels(row: Mapping[str, str]) -> dict[str, list[str]]:
    if row["gpu_count"] == "0":
        return {}
    manufacturer, _ = _ACCELERATORS.get(row["gpu_name"], _NVIDIA)
    return {
        f"{_PREFIX}gpu-name": [row["gpu_name"].lower().replace(" ", "-")],
        f"{_PREFIX}gpu-manufacturer": [manufacturer],
        f"{_PREFIX}gpu-count": [row["gpu_count"]],
        f"{_PREFIX}gpu-memory": [str(int(row["gpu_memory_mib"]) // int(row["gpu_count"]))],
    }
