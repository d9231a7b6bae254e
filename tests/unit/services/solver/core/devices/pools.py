"""Claims, classes and pools, small and valid."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from libs.domain.device import (
    AttributeValue,
    CounterUse,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClaim,
    DeviceClass,
    DeviceConstraint,
    DevicePool,
    DeviceRequest,
    DeviceSubRequest,
)
from libs.domain.resources import Resources
from services.solver.core.devices.offer import (
    Offer,
    budgets,
    candidates,
    template_offer,
    unusable,
    with_own,
)
from services.solver.core.devices.search import Found, search
from services.solver.core.devices.selecting import Selectors
from services.solver.core.devices.usage import Ledger, View
from services.solver.core.devices.ways import NotFound, Seen

DRIVER = "gpu.example.com"
CLASSES = {
    "gpu": DeviceClass(name="gpu", selectors=(f'device.driver == "{DRIVER}"',)),
    "any": DeviceClass(name="any"),
}


def a_device(name: str, *, capacity: Mapping[str, Any] | None = None, **fields: Any) -> Device:
    """Return a device; attributes are given by name, capacity in base units."""
    attributes: dict[str, AttributeValue] = fields.pop("attributes", {})
    counters: dict[str, dict[str, int]] = fields.pop("counters", {})
    return Device(
        name=name,
        attributes=tuple(
            DeviceAttribute(name=key, value=attributes[key]) for key in sorted(attributes)
        ),
        capacity=tuple(
            one if isinstance(one, DeviceCapacity) else DeviceCapacity(name=key, amount=one * 1000)
            for key, one in sorted((capacity or {}).items())
        ),
        counters=uses(counters),
        **fields,
    )


def uses(counters: dict[str, dict[str, int]]) -> tuple[CounterUse, ...]:
    """Return counters by set."""
    return tuple(
        CounterUse(counter_set=name, amounts=Resources(amounts))
        for name, amounts in sorted(counters.items())
    )


def a_pool(*devices: Device, pool: str = "p", driver: str = DRIVER, **fields: Any) -> DevicePool:
    """Return a pool; counters are given by set."""
    counters = fields.pop("counters", {})
    return DevicePool(driver=driver, pool=pool, devices=devices, counters=uses(counters), **fields)


def a_way(device_class: str = "gpu", **fields: Any) -> DeviceSubRequest:
    """Return one way; shares of capacity are given by name in base units."""
    shares: dict[str, int] = fields.pop("share", {})
    asked = tuple(
        DeviceCapacity(name=name, amount=amount * 1000) for name, amount in sorted(shares.items())
    )
    return DeviceSubRequest(device_class=device_class, capacity=asked, **fields)


def a_request(*ways: DeviceSubRequest, name: str = "r", **fields: Any) -> DeviceRequest:
    """Return a request; without ways, one of one GPU as the fields say."""
    return DeviceRequest(name=name, alternatives=ways or (a_way(**fields),))


def a_claim(
    *requests: DeviceRequest,
    claim: str = "",
    constraints: Iterable[DeviceConstraint] = (),
    **more: Any,
) -> DeviceClaim:
    """Return a claim; without requests, for one GPU."""
    return DeviceClaim(
        claim=claim,
        requests=requests or (a_request(),),
        constraints=tuple(constraints),
        **more,
    )


def a_place(
    *pools: DevicePool, template: Sequence[DevicePool] = (), taken: Ledger | None = None
) -> Seen:
    """Return a place that sees these pools, and others that come with the node."""
    offer = Offer(
        candidates=tuple(one for pool in pools if not unusable(pool) for one in candidates(pool)),
        unusable=tuple(filter(None, map(unusable, pools))),
        budgets={key: value for pool in pools for key, value in budgets(pool).items()},
    )
    return Seen(
        offer=with_own(offer, template_offer(template)),
        cluster=View((taken or Ledger(),)),
        template=View((Ledger(),)),
    )


def find(seen: Seen, *claims: DeviceClaim, **limits: int) -> Found | NotFound:
    """Return what a search gives."""
    return search(claims, seen, Selectors(CLASSES), **limits)


def names(found: Found | NotFound) -> list[list[str]] | None:
    """Return the devices of each claim; None where there are none."""
    if isinstance(found, NotFound):
        return None
    return [[one.candidate.device.name for one in given] for given in found.given]
