"""The pools of the cluster: who can see which devices, and what is held as things are.

Apart from the allocation because nothing here changes during a plan.

Source: `docs/sources.md` D11.3-6; kube-scheduler's allocator for which pools a node sees.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from libs.domain.device import Device, DeviceHold, DevicePool
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.selector import NODE_NAME_FIELD
from services.solver.core.devices.offer import (
    Candidate,
    Offer,
    candidates,
    gathered,
    in_order,
    pool_offer,
)
from services.solver.core.devices.usage import Ledger

Terms = tuple[Requirements, ...]
"""Nodes of which any one term suffices; empty: all."""


class Inventory:
    """All pools; devices held only by pods that are moving are free."""

    def __init__(self, pools: Iterable[DevicePool], moving: frozenset[str]) -> None:
        self._moving = moving
        self._local: dict[str, list[DevicePool]] = defaultdict(list)
        self._shared: list[DevicePool] = []
        self._candidates: dict[str, list[Candidate]] = {}
        self._new: Offer | None = None
        self.held = Ledger()
        for pool in in_order(pools):
            (self._local[pool.node_name] if pool.node_name else self._shared).append(pool)
            self._hold(pool)

    def is_released(self, reserved_for: tuple[str, ...]) -> bool:
        """Tell whether all for whom something is reserved are moving, so that it is free."""
        return bool(reserved_for) and self._moving.issuperset(reserved_for)

    def staying(self, reserved_for: tuple[str, ...]) -> int:
        """Return how many of those for whom something is reserved keep it."""
        return sum(uid not in self._moving for uid in reserved_for)

    def drivers_on(self, node: str) -> frozenset[str]:
        """Return the drivers that have published devices of a node."""
        return frozenset(pool.driver for pool in self._local.get(node, ()))

    def of_node(self, name: str, facts: Mapping[str, str]) -> Offer:
        """Return what a node can see.

        Args:
            name: of the node; empty for one that has no name yet.
            facts: its labels and, under `metadata.name`, its name.
        """
        pools = [
            pool
            for pool in in_order([*self._local.get(name, ()), *self._shared])
            if not pool.node_terms or allows(pool.node_terms, facts)
        ]
        return gathered(
            pool_offer(
                pool,
                [
                    one
                    for one in self._devices(pool)
                    if not one.device.node_terms or allows(one.device.node_terms, facts)
                ],
            )
            for pool in pools
        )

    def of_new_nodes(self) -> Offer:
        """Return what new nodes can see, each device with what the node has to be for it."""
        if self._new is None:
            self._new = gathered(
                pool_offer(
                    pool,
                    [
                        replace(one, terms=terms)
                        for one in self._devices(pool)
                        if (terms := for_new_nodes(reach(one))) is not None
                    ],
                )
                for pool in self._shared
                if for_new_nodes(pool.node_terms) is not None
            )
        return self._new

    def keys_of_new_nodes(self) -> list[str]:
        """Return the label keys by which what new nodes can see differs, sorted."""
        offer = self.of_new_nodes()
        terms = {term for one in offer.candidates for term in one.terms}
        return sorted({one.key for term in terms for one in term})

    def _devices(self, pool: DevicePool) -> list[Candidate]:
        found = self._candidates.get(pool.key)
        if found is None:
            found = self._candidates[pool.key] = candidates(pool)
        return found

    def _hold(self, pool: DevicePool) -> None:
        whole = [DeviceHold(device=name, claim="") for name in pool.allocated]
        known: dict[str, list[Device]] = defaultdict(list)
        for device in pool.devices:
            known[device.name].append(device)
        for hold in (*whole, *pool.holds):
            if self.is_released(hold.reserved_for):
                continue
            name = pool.driver, pool.pool, hold.device
            if not self.held.has(name):
                for device in known[hold.device]:
                    self.held.count(name, device)
            part = {one.name: one.amount for one in hold.consumed} if hold.shared else None
            self.held.take(name, part)


def reach(candidate: Candidate) -> Terms:
    """Return the nodes that can use a device; empty: all."""
    return candidate.device.node_terms or candidate.pool.node_terms


def allows(terms: Terms, facts: Mapping[str, str]) -> bool:
    """Tell whether a node with these facts meets one of the terms."""
    return any(term.allows(facts) for term in terms)


def for_new_nodes(terms: Terms) -> Terms | None:
    """Return the terms as far as they can hold of a node that has no name yet.

    None if no such node can meet any; empty if each does.
    """
    if not terms:
        return ()
    found = []
    for term in terms:
        named = term.get(NODE_NAME_FIELD)
        if named is None or named.complement:
            found.append(term if named is None else term.without((NODE_NAME_FIELD,)))
    if ANYTHING in found:
        return ()
    return tuple(found) or None
