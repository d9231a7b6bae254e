"""What each standing bin can see: nodes their pools, claims in flight what is certain to come.

Nodes that are not initialized yet count with what their instance type brings, as their drivers may
have published only a part of it.

Source: `docs/sources.md` D11.3.
"""

from collections.abc import Mapping

from libs.domain import labels as label_keys
from libs.domain.capacity import InstanceType, NodeClassRef
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.reason import TargetKind
from libs.domain.selector import NODE_NAME_FIELD
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.devices.inventory import Inventory
from services.solver.core.devices.offer import NOTHING, Offer, template_offer, with_own
from services.solver.core.standing import Standing


class Places:
    """Standing bins as devices see them, each looked at when it is first asked for."""

    def __init__(self, snapshot: ClusterSnapshot, standing: Standing, inventory: Inventory) -> None:
        self._snapshot = snapshot
        self._standing = standing
        self._inventory = inventory
        self._facts: dict[int, Mapping[str, str]] = {}
        self._offers: dict[int, Offer] = {}

    def facts(self, position: int) -> Mapping[str, str]:
        """Return what is certain of a bin: its labels and, under `metadata.name`, its name."""
        found = self._facts.get(position)
        if found is None:
            name = self._standing.names[position]
            if self._is_node(position):
                labels = dict(self._snapshot.nodes[name].labels)
                found = {**label_keys.canonical_labels(labels), NODE_NAME_FIELD: name}
            else:
                found = _certain(self._snapshot.nodeclaims[name])
            self._facts[position] = found
        return found

    def offer(self, position: int) -> Offer:
        """Return what a bin can see."""
        found = self._offers.get(position)
        if found is None:
            found = self._offers[position] = self._offer(position)
        return found

    def name(self, position: int) -> str:
        """Return the name of the node or claim."""
        return self._standing.names[position]

    def _is_node(self, position: int) -> bool:
        return self._standing.kinds[position] is TargetKind.NODE

    def _offer(self, position: int) -> Offer:
        name, facts = self._standing.names[position], self.facts(position)
        if not self._is_node(position):
            claim = self._snapshot.nodeclaims[name]
            return with_own(self._inventory.of_node("", facts), self._of_type(claim, facts))
        node = self._snapshot.nodes[name]
        offer = self._inventory.of_node(name, facts)
        return offer if node.initialized else with_own(offer, self._yet_to_come(node, facts))

    def _yet_to_come(self, node: Node, facts: Mapping[str, str]) -> Offer:
        claim = self._snapshot.nodeclaims.get(node.nodeclaim)
        if claim is None:
            return NOTHING
        return self._of_type(claim, facts, self._inventory.drivers_on(node.name))

    def _of_type(
        self,
        claim: NodeClaim,
        facts: Mapping[str, str],
        published: frozenset[str] = frozenset(),
    ) -> Offer:
        """Return what the instance type brings, if it is known, of drivers yet to publish it."""
        kind = self._type(claim.node_class, facts.get(label_keys.INSTANCE_TYPE, ""))
        if kind is None:
            return NOTHING
        return template_offer(pool for pool in kind.device_pools if pool.driver not in published)

    def _type(self, node_class: NodeClassRef, name: str) -> InstanceType | None:
        catalogue = self._snapshot.catalogues.get(node_class.key)
        types = () if catalogue is None else catalogue.instance_types
        return next((one for one in types if one.name == name), None)


def _certain(claim: NodeClaim) -> Mapping[str, str]:
    labels = label_keys.canonical_labels(dict(claim.labels))
    return {**claim.requirements.single_values(), **labels}
