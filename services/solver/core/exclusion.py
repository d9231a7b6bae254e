"""What a pod takes of its node for itself: host ports, and disks that it names without a claim.

Source: kube-scheduler's NodePorts: 0.0.0.0 takes the port on every address, and it alone: `::` is
an address like others there (Karpenter takes it for unspecified, too); its VolumeRestrictions: a
disk is for one pod, or for several that only read it.
"""

from collections.abc import Iterable

from libs.domain.pod import ExclusiveDisk, HostPort, PodShape

Exclusive = HostPort | ExclusiveDisk

Taken = dict[int | str, list[Exclusive]]
"""What is taken, by port or disk."""

_EVERY_ADDRESS = "0.0.0.0"


def exclusives(shape: PodShape) -> tuple[Exclusive, ...]:
    """Return all that such a pod takes for itself."""
    return (*shape.host_ports, *shape.exclusive_disks)


def conflict(left: Iterable[Exclusive], right: Iterable[Exclusive]) -> bool:
    """Tell whether anything on one side excludes anything on the other.

    Time is that of both sides, as long as few have the same port or disk.
    """
    return is_taken(left, by_name(right))


def by_name(many: Iterable[Exclusive]) -> Taken:
    """Return what is taken by its port or disk, for those who ask of it again and again."""
    found: Taken = {}
    add(found, many)
    return found


def add(taken: Taken, many: Iterable[Exclusive]) -> None:
    """Add more to what is taken."""
    for one in many:
        taken.setdefault(_what(one), []).append(one)


def is_taken(own: Iterable[Exclusive], taken: Taken) -> bool:
    """Tell whether anything of a pod's is excluded by what is taken, in the time of the former."""
    return any(_excludes(mine, their) for mine in own for their in taken.get(_what(mine), ()))


def _what(one: Exclusive) -> int | str:
    return one.port if isinstance(one, HostPort) else one.disk


def _excludes(left: Exclusive, right: Exclusive) -> bool:
    match left, right:
        case HostPort(), HostPort():
            return (
                left.port == right.port
                and left.protocol == right.protocol
                and (left.ip == right.ip or _EVERY_ADDRESS in (left.ip, right.ip))
            )
        case ExclusiveDisk(), ExclusiveDisk():
            return left.disk == right.disk and not (left.read_only and right.read_only)
    return False
