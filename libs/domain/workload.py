"""What else planning reads: daemon sets, budgets of pods, namespaces, buffers, gangs, overlays."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.selector import LabelSelector

_DIGITS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSet:
    """A DaemonSet; `shape` is the id of its pods' shape without the pin to one node."""

    namespace: str
    name: str
    uid: str
    shape: int

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodDisruptionBudget:
    """A PodDisruptionBudget as its controller sees it now."""

    namespace: str
    name: str
    uid: str
    selector: LabelSelector | None = None
    disruptions_allowed: int = 0
    evicts_unhealthy_always: bool = False
    never_satisfiable: bool = False

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """A namespace with the labels that at least one selector reads, sorted by key."""

    name: str
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityBuffer:
    """Room that is kept free; its virtual pods are rows of the pod table."""

    namespace: str
    name: str
    uid: str
    shape: int
    replicas: int
    problem: str = ""

    def has(self, pod_uid: str) -> bool:
        """Tell whether a pod of this uid is one of the virtual ones."""
        owner, _, number = pod_uid.rpartition("-")
        if owner != self.uid or not (number.isascii() and number.isdecimal()):
            return False
        # Longer than any count: not worth reading, and Python refuses thousands of digits.
        return len(number) < _DIGITS and number[0] != "0" and int(number) <= self.replicas

    @property
    def pod_uids(self) -> tuple[str, ...]:
        """Return the uids of the virtual pods."""
        return tuple(f"{self.uid}-{number}" for number in range(1, self.replicas + 1))

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"


def virtual_pods(
    buffers: Iterable[CapacityBuffer], pod_uids: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Return which of these pods are virtual, by the key of their buffer, in the given order.

    Time is that of the pods, whatever number of replicas a buffer states.
    """
    by_uid: dict[str, list[CapacityBuffer]] = defaultdict(list)
    for buffer in buffers:
        by_uid[buffer.uid].append(buffer)
    found: dict[str, list[str]] = defaultdict(list)
    for uid in pod_uids if by_uid else ():
        for buffer in by_uid.get(uid.rpartition("-")[0], ()):
            if buffer.has(uid):
                found[buffer.key].append(uid)
    return {key: tuple(uids) for key, uids in found.items()}


REQUEST_SUFFIX = " (ProvisioningRequest)"
"""Ends the name of a gang that is the pods of a ProvisioningRequest; no PodGroup has such a one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """Pods that are placed together or not at all."""

    namespace: str
    name: str
    min_members: int
    existing_only: bool = False
    """Whether its pods only ask if there is room: no node is bought for them."""

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def request(self) -> str:
        """Return the name of the ProvisioningRequest whose pods they are; empty if it is none's."""
        name = self.name.removesuffix(REQUEST_SUFFIX)
        return name if name != self.name else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOverlay:
    """A change of price or capacity of matching types; at most one price field is set."""

    name: str
    uid: str
    weight: int = 0
    requirements: Requirements
    price_nanos_per_hour: int | None = None
    price_delta_nanos_per_hour: int | None = None
    price_delta_ppm: int | None = None
    capacity: Resources

    @property
    def changes_price(self) -> bool:
        """Return whether it says anything about prices."""
        return (
            self.price_nanos_per_hour is not None
            or self.price_delta_nanos_per_hour is not None
            or self.price_delta_ppm is not None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """An object that was left out of a snapshot, with the field that is wrong and what to do."""

    kind: str
    namespace: str = ""
    name: str
    field: str = ""
    message: str
    since: datetime
    gang: str = ""
    """Key of the gang of a pod that waits and is in no snapshot."""

    @property
    def key(self) -> str:
        """Return `kind/namespace/name`."""
        return f"{self.kind}/{self.namespace}/{self.name}"
