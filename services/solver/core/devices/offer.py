"""What one place offers: the pools that it can see, in the order in which they are tried.

Apart because nodes, claims in flight and planned claims differ only in what they can see; the
search is the same.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from libs.domain.device import AttributeValue, Device, DevicePool, DeviceVersion
from libs.domain.requirements import Requirements
from services.solver.core.devices.usage import CounterId, DeviceId


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """A device that a place can see."""

    id: DeviceId
    device: Device
    pool: DevicePool
    template: bool = False
    """Whether it comes with the node that is planned, and is nobody else's."""
    terms: tuple[Requirements, ...] = ()
    """What the node still has to be to use it, any one suffices; empty: nothing."""
    kind: int = 0
    """Equal for devices of a pool that differ in nothing but name and attributes."""
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)

    def attribute(self, name: str) -> tuple[type, object] | None:
        """Return the value of an attribute and its type, by its fully qualified name."""
        found = self.attributes.get(name)
        if found is None:
            domain, _, rest = name.partition("/")
            found = self.attributes.get(rest) if domain == self.pool.driver else None
        if found is None:
            return None
        return type(found), found.text if isinstance(found, DeviceVersion) else found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Offer:
    """What a place can see; its order is the order of trying."""

    candidates: tuple[Candidate, ...] = ()
    unusable: tuple[str, ...] = ()
    """Pools of which nothing can be taken for now, each with the reason."""
    budgets: Mapping[CounterId, int] = field(default_factory=dict)
    """Counters of the pools in the cluster."""
    template_budgets: Mapping[CounterId, int] = field(default_factory=dict)
    """Counters of the pools that come with the node."""


NOTHING = Offer()


def gathered(parts: Iterable[Offer]) -> Offer:
    """Return what all of these offer, in their order."""
    listed = list(parts)
    return Offer(
        candidates=tuple(one for part in listed for one in part.candidates),
        unusable=tuple(problem for part in listed for problem in part.unusable),
        budgets={key: amount for part in listed for key, amount in part.budgets.items()},
        template_budgets={
            key: amount for part in listed for key, amount in part.template_budgets.items()
        },
    )


def with_own(cluster: Offer, own: Offer) -> Offer:
    """Return what a planned node can see: devices of the cluster, and those that it brings.

    They are tried as a scheduler will that sees them side by side: by driver. Within a driver those
    of the cluster are first, as the name of a pool that is yet to be published is not known.
    """
    both = gathered((cluster, own))
    order = sorted(both.candidates, key=lambda one: (_is_last(one.pool), one.pool.driver))
    return replace(both, candidates=tuple(order))


def in_order(pools: Iterable[DevicePool]) -> list[DevicePool]:
    """Return the pools in the order in which they are tried: those that need preparing last."""
    return sorted(
        pools,
        key=lambda one: (_is_last(one), one.driver, one.pool),
    )


def _is_last(pool: DevicePool) -> bool:
    return any(device.has_binding_conditions for device in pool.devices)


def unusable(pool: DevicePool) -> str:
    """Return why nothing can be taken from the pool; empty if something can."""
    if not pool.complete:
        return f"pool {pool.key!r} is being updated"
    return f"pool {pool.key!r} is invalid: {pool.problem}" if pool.problem else ""


def budgets(pool: DevicePool) -> dict[CounterId, int]:
    """Return the counters of the pool."""
    return {
        (pool.driver, pool.pool, budget.counter_set, name): amount
        for budget in pool.counters
        for name, amount in budget.amounts.items()
    }


def candidates(pool: DevicePool, *, template: bool = False) -> list[Candidate]:
    """Return the devices of a pool, whoever can reach them."""
    kinds: dict[Device, int] = {}
    return [
        Candidate(
            id=(pool.driver, pool.pool, device.name),
            device=device,
            pool=pool,
            template=template,
            kind=kinds.setdefault(replace(device, name="", attributes=()), len(kinds)),
            attributes={one.name: one.value for one in device.attributes},
        )
        for device in pool.devices
    ]


def pool_offer(pool: DevicePool, seen: Iterable[Candidate]) -> Offer:
    """Return what a place has of a pool of which it sees these devices."""
    found = tuple(seen)
    problem = unusable(pool) or _twice(pool, found)
    if problem:
        return Offer(unusable=(problem,))
    return Offer(candidates=found, budgets=budgets(pool))


def template_offer(pools: Iterable[DevicePool]) -> Offer:
    """Return what a node of an instance type brings itself."""
    parts = [pool_offer(pool, candidates(pool, template=True)) for pool in in_order(pools)]
    found = gathered(parts)
    return replace(found, budgets={}, template_budgets=found.budgets)


def _twice(pool: DevicePool, seen: tuple[Candidate, ...]) -> str:
    """Return that a place sees two devices of one name, which makes the pool invalid there."""
    counted = Counter(one.device.name for one in seen)
    name = next((name for name, count in sorted(counted.items()) if count > 1), "")
    return f"pool {pool.key!r} is invalid: device {name!r} is there twice" if name else ""
