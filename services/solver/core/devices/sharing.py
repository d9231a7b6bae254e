"""Claims that pods share: where one that is allocated can be used, and by how many.

Apart from giving out devices because a pod that joins such a claim takes none.

Source: `docs/sources.md` D11.7; API `resource.k8s.io/v1`, `status.reservedFor`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from libs.domain.device import MOST_CONSUMERS_OF_CLAIM, DeviceClaim, DeviceSubRequest
from services.solver.core.devices.inventory import Inventory, Terms, reach
from services.solver.core.devices.search import Found, Given


class Spot(NamedTuple):
    """A standing bin, or a claim of this plan."""

    planned: bool
    number: int


@dataclass(slots=True)
class _Use:
    """What this plan did with a claim."""

    spot: Spot | None = None
    """The only place where it can be used; None: where `terms` say."""
    terms: tuple[Terms, ...] = ()
    users: int = 0


class Sharing:
    """The claims of one plan that have a name."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._used: dict[str, _Use] = {}

    def obstacle(self, claims: Sequence[DeviceClaim], spot: Spot) -> str:
        """Return why a pod with these claims cannot use one of them here; empty if it can."""
        for claim in claims:
            use = self._use(claim)
            fixed = None if use is None or self._stays(claim) else use.spot
            if fixed is not None and fixed != spot:
                return f"{described(claim)} is used by a pod that goes elsewhere"
            users = 0 if use is None else use.users
            users += self._inventory.staying(claim.reserved_for) if self._stays(claim) else 0
            if users >= MOST_CONSUMERS_OF_CLAIM:
                return f"{described(claim)} has {users} pods, the most that a claim may have"
        return ""

    def needed(self, claims: Sequence[DeviceClaim]) -> Iterator[tuple[DeviceClaim, Terms]]:
        """Yield where a pod has to be for the claims that are allocated, all of which must hold."""
        for claim in claims:
            if self._stays(claim):
                yield claim, claim.allocated_terms
            elif (use := self._use(claim)) is not None:
                yield from ((claim, terms) for terms in use.terms)

    def to_allocate(self, claims: Sequence[DeviceClaim]) -> tuple[DeviceClaim, ...]:
        """Return the claims that are not allocated, those included that only moving pods have.

        A pod may use one claim twice; claims that are made from templates are each its own.
        """
        open_ = {
            claim.claim or index: claim
            for index, claim in enumerate(claims)
            if not self._stays(claim) and self._use(claim) is None
        }
        return tuple(open_.values())

    def note(
        self,
        claims: Sequence[DeviceClaim],
        fresh: Sequence[DeviceClaim],
        spot: Spot,
        found: Sequence[Found],
    ) -> None:
        """Write down that a pod uses these claims.

        Args:
            claims: all that it has.
            fresh: those that were allocated for it.
            spot: where it goes.
            found: what was given to the fresh ones, for each thing that the place may become.
        """
        for index, claim in enumerate(fresh):
            if claim.claim:
                self._used[claim.claim] = _where(spot, [one.given[index] for one in found])
        for name in {claim.claim for claim in claims if claim.claim}:
            self._used.setdefault(name, _Use()).users += 1

    def _use(self, claim: DeviceClaim) -> _Use | None:
        return self._used.get(claim.claim) if claim.claim else None

    def _stays(self, claim: DeviceClaim) -> bool:
        """Tell whether the claim is allocated and remains so."""
        return bool(claim.allocated_terms) and not self._inventory.is_released(claim.reserved_for)


def ways(claims: Sequence[DeviceClaim]) -> Iterator[DeviceSubRequest]:
    """Yield all ways of all requests."""
    return (sub for claim in claims for request in claim.requests for sub in request.alternatives)


def described(claim: DeviceClaim) -> str:
    """Return the claim in words."""
    return f"resourceclaim {claim.claim!r}" if claim.claim else "its resourceclaim"


def _where(spot: Spot, given: Sequence[Sequence[Given]]) -> _Use:
    """Return where a claim can be used that got these devices, a list for each outcome."""
    devices = [one.candidate for one in given[0]]
    fixed = len(given) > 1 or any(
        one.template or one.pool.node_name or one.device.binds_to_node for one in devices
    )
    if fixed:
        return _Use(spot=spot)
    return _Use(terms=tuple(terms for one in devices if (terms := reach(one))))
