"""What each standing bin can see: nodes their pools, claims in flight what is certain to come.

Of drivers that have published nothing yet, a node that is not initialized counts with what its
instance type brings, and so does one that was bought for devices of such a driver: they will come.

Source: `docs/sources.md` D11.3.
"""

from collections.abc import Mapping

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.capacity import InstanceType, NodeClassRef
from libs.domain.device import REQUESTED_DRIVERS
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.pod import PodShape
from libs.domain.reason import TargetKind
from libs.domain.selector import NODE_NAME_FIELD
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.devices.inventory import Inventory
from services.solver.core.devices.offer import Offer, template_offer, with_own
from services.solver.core.standing.standing import Standing


class Places:
    """Standing bins as devices see them, each looked at when it is first asked for."""

    def __init__(self, snapshot: ClusterSnapshot, standing: Standing, inventory: Inventory) -> None:
        self._snapshot = snapshot
        self._standing = standing
        self._inventory = inventory
        self._facts: dict[int, Mapping[str, str]] = {}
        self._offers: dict[int, tuple[Offer, ...]] = {}

    def facts(self, position: int) -> Mapping[str, str]:
        """Return what is certain of a bin: its labels and, under `metadata.name`, its name."""
        found = self._facts.get(position)
        if found is None:
            name = self._standing.names[position]
            if self._is_node(position):
                found = node_facts(self._snapshot.nodes[name])
            else:
                found = _certain(self._snapshot.nodeclaims[name])
            self._facts[position] = found
        return found

    def offers(self, position: int) -> tuple[Offer, ...]:
        """Return what a bin can see: a claim that is not launched, for each kind of its types."""
        found = self._offers.get(position)
        if found is None:
            made = self._of_node if self._is_node(position) else self._of_claim
            found = self._offers[position] = made(position)
        return found

    def daemons(self, position: int) -> tuple[PodShape, ...]:
        """Return the shapes of the daemons with claims that are still to come to a bin."""
        coming = (self._snapshot.shapes[one] for one in self._standing.daemons[position])
        return tuple(shape for shape in coming if shape.device_claims)

    def _is_node(self, position: int) -> bool:
        return self._standing.kinds[position] is TargetKind.NODE

    def _of_node(self, position: int) -> tuple[Offer, ...]:
        name, facts = self._standing.names[position], self.facts(position)
        node = self._snapshot.nodes[name]
        offer = self._inventory.of_node(name, facts)
        claim = self._snapshot.nodeclaims.get(node.nodeclaim)
        if claim is None:
            return (offer,)
        published = self._inventory.drivers_on(name)
        name_of_type = facts.get(label_keys.INSTANCE_TYPE, "")
        kind = instance_type(self._snapshot, claim.node_class, name_of_type)
        coming = [
            pool
            for pool in (() if kind is None else kind.device_pools)
            if pool.driver not in published
            and (not node.initialized or pool.driver in _awaited(claim))
        ]
        return (with_own(offer, template_offer(coming)),)

    def _of_claim(self, position: int) -> tuple[Offer, ...]:
        """Return what the claim's node will see, for all that it may become."""
        facts = self.facts(position)
        offer = self._inventory.of_node("", facts)
        possible = self._standing.classes[int(self._standing.class_of[position])].possible
        if possible is not None and possible.columns is not None and possible.offerings is not None:
            columns = possible.columns
            rows = columns.row_type[columns.row[possible.offerings]]
            types = [columns.types[one] for one in np.unique(rows).tolist()]
        else:
            claim = self._snapshot.nodeclaims[self._standing.names[position]]
            name = facts.get(label_keys.INSTANCE_TYPE, "")
            kind = instance_type(self._snapshot, claim.node_class, name)
            types = [] if kind is None else [kind]
        kinds = dict.fromkeys(one.device_pools for one in types) or {(): None}
        return tuple(with_own(offer, template_offer(pools)) for pools in kinds)


def node_facts(node: Node) -> Mapping[str, str]:
    """Return the labels of a node and, under `metadata.name`, its name."""
    labels = label_keys.canonical_labels(dict(node.labels))
    return {**labels, NODE_NAME_FIELD: node.name}


def instance_type(
    snapshot: ClusterSnapshot, node_class: NodeClassRef, name: str
) -> InstanceType | None:
    """Return the type of a name; None if the class's catalogue has none."""
    catalogue = snapshot.catalogues.get(node_class.key)
    types = () if catalogue is None else catalogue.instance_types
    return next((one for one in types if one.name == name), None)


def _awaited(claim: NodeClaim) -> list[str]:
    """Return the drivers whose devices the claim was bought for."""
    return dict(claim.annotations).get(REQUESTED_DRIVERS, "").split(",")


def _certain(claim: NodeClaim) -> Mapping[str, str]:
    labels = label_keys.canonical_labels(dict(claim.labels))
    return {**claim.requirements.single_values(), **labels}
