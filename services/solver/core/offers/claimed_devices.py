"""Where daemons find the devices that they claim, as offers and standing capacity ask for it.

Apart from devices, which give the answers, because daemons take room before anybody is placed.
"""

from collections.abc import Sequence
from typing import Protocol

from libs.domain.capacity import InstanceType
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.pod import PodShape
from services.solver.core.vectors import Bools


class ClaimedDevices(Protocol):
    """Tells where a daemon could get what it claims; in doubt it will."""

    @property
    def read(self) -> tuple[object, ...]:
        """Return what the answers depend on."""

    def on_types(self, shape: PodShape, types: Sequence[InstanceType]) -> Bools:
        """Return (n_types,): whether a new node of each type could have it."""

    def on_node(self, shape: PodShape, node: Node) -> bool:
        """Tell whether a node could have it."""

    def on_claim(self, shape: PodShape, claim: NodeClaim) -> bool:
        """Tell whether the node of a launched claim could have it."""
