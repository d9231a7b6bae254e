"""What packing works on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from libs.domain.pod_table import PodTable
from libs.domain.solution import MinValuesPolicy
from services.solver.core.devices.allocating import Devices
from services.solver.core.offers.claim_class import ClaimClasses
from services.solver.core.offers.limits import PoolLimits
from services.solver.core.offers.template import Template
from services.solver.core.offers.too_small import TooSmall
from services.solver.core.packing.held_room import Apart
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.grouping import Group
from services.solver.core.standing.free_volumes import FreeVolumes
from services.solver.core.topology.algebra import Algebra
from services.solver.core.topology.topology import Topology
from services.solver.core.vectors import Dimensions


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What packing works on."""

    dimensions: Dimensions
    pods: PodTable
    """Of which those of the groups are."""
    groups: tuple[Group, ...]
    asks: tuple[tuple[Ask, ...], ...]
    """Per group, most wishes first."""
    templates: tuple[Template, ...]
    limits: tuple[PoolLimits, ...]
    algebra: Algebra
    topology: Topology
    reservations: Mapping[str, int]
    """Instances that the plan may count on, by id; none where they are not counted."""
    min_values: MinValuesPolicy
    apart: Apart
    """Who keeps off the nodes of nominated pods."""
    too_small: TooSmall = field(default_factory=TooSmall)

    @property
    def devices(self) -> Devices | None:
        """Return the devices; None where the gate is closed, or none are claimed."""
        return self.algebra.grants.devices

    @property
    def volumes(self) -> FreeVolumes:
        """Return the volumes that claims may still take."""
        return self.algebra.grants.volumes

    @property
    def classes(self) -> ClaimClasses:
        """Return what claims may become."""
        return self.algebra.ground.classes
