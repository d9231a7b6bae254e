"""Where daemons find the devices that they claim.

Apart from the allocation because daemons are not placed but come, and take room before anybody is
placed: devices count as if nobody had any yet, so that room is kept in doubt.

Source: kube-scheduler's DynamicResources, which keeps daemons off nodes without the devices.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.capacity import InstanceType
from libs.domain.device import DeviceClaim, DevicePool
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.pod import PodShape
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.devices.inventory import Inventory
from services.solver.core.devices.offer import Offer, template_offer, with_own
from services.solver.core.devices.places import instance_type, node_facts
from services.solver.core.devices.search import search
from services.solver.core.devices.selecting import Selectors
from services.solver.core.devices.sharing import ways
from services.solver.core.devices.usage import View
from services.solver.core.devices.ways import NotFound, Seen
from services.solver.core.vectors import Bools

_MOST_STEPS = 1_000
"""Devices that are tried for one daemon and one kind of node; it comes if they are not enough."""


class DaemonDevices:
    """The devices of a cluster and its catalogues as daemons find them."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._snapshot = snapshot
        self._selectors = Selectors(snapshot.device_classes)
        self._of_types: dict[tuple[tuple[DeviceClaim, ...], tuple[DevicePool, ...]], bool] = {}

    @cached_property
    def _inventory(self) -> Inventory:
        return Inventory(self._snapshot.device_pools.values(), frozenset())

    @property
    def read(self) -> tuple[object, ...]:
        """Return what the answers about types depend on."""
        return self._snapshot.device_pools, self._snapshot.device_classes

    def on_types(self, shape: PodShape, types: Sequence[InstanceType]) -> Bools:
        """Return (n_types,): whether a new node of each type could have them."""
        return np.array([self._on_type(shape, one) for one in types], np.bool_)

    def on_node(self, shape: PodShape, node: Node) -> bool:
        """Tell whether a node could have them, those included that it is still to publish."""
        claim = self._snapshot.nodeclaims.get(node.nodeclaim)
        facts = node_facts(node)
        pools: tuple[DevicePool, ...] = ()
        if claim is not None:
            name = facts.get(label_keys.INSTANCE_TYPE, "")
            kind = instance_type(self._snapshot, claim.node_class, name)
            pools = () if kind is None else kind.device_pools
        if not node.initialized and not pools:
            return True
        published = self._inventory.drivers_on(node.name)
        own = template_offer(one for one in pools if one.driver not in published)
        return self._could_have(shape, with_own(self._inventory.of_node(node.name, facts), own))

    def on_claim(self, shape: PodShape, claim: NodeClaim) -> bool:
        """Tell whether the node of a launched claim could have them."""
        name = dict(claim.labels).get(label_keys.INSTANCE_TYPE, "")
        kind = instance_type(self._snapshot, claim.node_class, name)
        return kind is None or self._on_type(shape, kind)

    def _on_type(self, shape: PodShape, kind: InstanceType) -> bool:
        memo = shape.device_claims, kind.device_pools
        found = self._of_types.get(memo)
        if found is None:
            offer = with_own(self._inventory.of_new_nodes(), template_offer(kind.device_pools))
            found = self._of_types[memo] = self._could_have(shape, offer)
        return found

    def _could_have(self, shape: PodShape, offer: Offer) -> bool:
        # An allocated claim asks for nothing more.
        claims = [one for one in shape.device_claims if not one.allocated_terms]
        if not all(self._selectors.has_class(sub.device_class) for sub in ways(claims)):
            return False
        seen = Seen(offer=offer, cluster=View(()), template=View(()))
        found = search(claims, seen, self._selectors, _MOST_STEPS)
        return not isinstance(found, NotFound) or bool(found.problem)
