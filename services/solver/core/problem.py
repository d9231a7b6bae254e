"""What packing works on: one problem, and what every pod of a group takes of it."""

from dataclasses import dataclass, field

import numpy as np

from libs.domain.solution import MinValuesPolicy
from services.solver.core.ask import Ask
from services.solver.core.claim_class import ClaimClasses
from services.solver.core.devices.allocating import Devices
from services.solver.core.limits import PoolLimits
from services.solver.core.reservations import Reservations
from services.solver.core.template import Template
from services.solver.core.too_small import TooSmall
from services.solver.core.topology import Topology
from services.solver.core.vectors import Dimensions, Ints
from services.solver.core.workload import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What every pod of a group takes."""

    group: int
    ask: Ask
    vector: Ints
    """(n_resources,)."""
    columns: Ints
    """Columns that are asked for."""
    needed: Ints
    """(n_columns,): `vector` there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What packing works on."""

    dimensions: Dimensions
    groups: tuple[Group, ...]
    asks: tuple[tuple[Ask, ...], ...]
    """Per group, most wishes first."""
    templates: tuple[Template, ...]
    limits: tuple[PoolLimits, ...]
    classes: ClaimClasses
    topology: Topology
    reservations: Reservations
    min_values: MinValuesPolicy
    devices: Devices | None
    """None where claims of devices are not planned for: the gate is closed, or there are none."""
    too_small: TooSmall = field(default_factory=TooSmall)


def a_request(group: int, ask: Ask, dimensions: Dimensions) -> Request:
    """Return what every pod of a group takes."""
    vector = dimensions.requests(ask.shape.requests)
    columns = np.flatnonzero(vector)
    return Request(group=group, ask=ask, vector=vector, columns=columns, needed=vector[columns])
