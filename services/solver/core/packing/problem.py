"""What packing works on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from libs.domain.solution import MinValuesPolicy
from services.solver.core.devices.allocating import Devices
from services.solver.core.offers.claim_class import ClaimClasses
from services.solver.core.offers.limits import PoolLimits
from services.solver.core.offers.template import Template
from services.solver.core.offers.too_small import TooSmall
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.workload import Group
from services.solver.core.topology.algebra import Algebra
from services.solver.core.topology.topology import Topology
from services.solver.core.vectors import Dimensions


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What packing works on."""

    dimensions: Dimensions
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
    devices: Devices | None
    """None where claims of devices are not planned for: the gate is closed, or there are none."""
    too_small: TooSmall = field(default_factory=TooSmall)

    @property
    def classes(self) -> ClaimClasses:
        """Return what claims may become."""
        return self.algebra.ground.classes
