"""What a NodePool could buy: its template over the columns of its catalogue.

Apart because this is everything that is fixed of a pool during one solve: requirements, taints,
room of each row after daemons, offerings that can be bought at all. Pools that cannot be bought
from end here, with what there is to say about them.

Source: `docs/sources.md` D1-D3.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.allocatable import corrected
from libs.domain.capacity import NodeClassRef, ObservedAllocatable
from libs.domain.nodepool import NodePool
from libs.domain.plan import PoolMessage
from libs.domain.pod import HostPort, PodShape
from libs.domain.reason import Rule
from libs.domain.requirements import Requirements
from libs.domain.resources import NODES, Resources, named_amount
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.domains import apart_from_hostname
from services.solver.core.offers.catalogue import CatalogueColumns, matrix, told_apart
from services.solver.core.offers.claimed_devices import ClaimedDevices
from services.solver.core.offers.market import Offers, Remember
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.bearing import bears
from services.solver.core.vectors import Bools, Dimensions, Ints, covering

FRESH = timedelta(minutes=15)
"""From a catalogue that was heard longer ago nothing is bought."""

SIMULATED_KEYS = frozenset({label_keys.REGISTERED, label_keys.INITIALIZED})
"""Keys that pods may select though no claim spells them out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonPorts:
    """Host ports of one daemon and the rows it runs on, (n_rows,)."""

    ports: tuple[HostPort, ...]
    rows: Bools


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """A pod that comes to new nodes by itself, and the offerings to which it comes."""

    ask: Ask
    offerings: Bools
    """(n_offerings,)."""
    permitted: Bools
    """(n_offerings,): those that nodes could be and that could have the devices it claims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A pool that can be bought from."""

    index: int
    """Position in the order in which pools are tried."""
    pool: NodePool
    offers: Offers
    requirements: Requirements
    """Of the template, its labels and what every node of the pool is labelled with."""
    dimensions: Dimensions
    observed: Bools
    """(n_rows,): live nodes have shown what is allocatable; of the others it is estimated."""
    overhead: Ints
    """(n_rows, n_resources): what daemons take."""
    room: Ints
    """(n_rows, n_resources): what is left for pods."""
    capacities: Ints
    """(n_rows, n_limits): full capacity by the pool's limited resources."""
    limited: tuple[str, ...]
    daemon_ports: tuple[DaemonPorts, ...]
    daemons: tuple[Daemon, ...]
    permitted: Bools
    """(n_offerings,): is sold and meets the template, which is all that a provider looks at."""
    offerings: Bools
    """(n_offerings,): those of them on which daemons leave room."""

    @property
    def columns(self) -> CatalogueColumns:
        """Return what is sold to the pool, rows apart by the daemons that come."""
        return self.offers.columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A pool that nothing is bought from, and why."""

    pool: NodePool
    rule: Rule
    message: str
    static: bool = False
    """Whether it is a pool of a fixed number of nodes, which is no fault to tell of."""

    def as_message(self) -> PoolMessage:
        """Return what to say about the pool."""
        return PoolMessage(nodepool=self.pool.name, rule=self.rule, message=self.message)


def in_order(pools: Iterable[NodePool]) -> list[NodePool]:
    """Return the pools in the order in which they are tried: weight, then name, both descending."""
    return sorted(pools, key=lambda pool: (pool.weight, pool.name), reverse=True)


@dataclass(frozen=True, slots=True)
class Bought:
    """What templates are made of besides pools."""

    observed: Mapping[str, ObservedAllocatable]
    """What live nodes have shown to be allocatable."""
    dimensions: Dimensions
    """The columns of resources."""
    daemons: Mapping[str, Ask]
    """What each DaemonSet's pods ask for, by key."""
    offers: Mapping[str, Offers]
    """What is sold, by name of the pool."""
    devices: ClaimedDevices
    """Where daemons find what they claim."""


def templates(
    snapshot: ClusterSnapshot, now: datetime, bought: Bought, remember: Remember
) -> tuple[tuple[Template, ...], tuple[Refused, ...]]:
    """Return the pools to buy from, in order, and those that are out, in order.

    Args:
        snapshot: the cluster.
        now: the instant of the decision.
        bought: what templates are made of.
        remember: knows the templates that were made earlier.
    """
    found: list[Template] = []
    refused: list[Refused] = []
    for pool in in_order(snapshot.nodepools.values()):
        if pool.replicas is not None:
            refused.append(_static(pool))
            continue
        problem = _problem(pool, snapshot, now)
        if problem is None:
            made = _known(len(found), pool, bought, remember)
            if made.requirements.satisfiable and made.offerings.any():
                found.append(made)
                continue
            problem = Rule.POOL_REQUIREMENTS, _nothing_left(made)
        refused.append(Refused(pool=pool, rule=problem[0], message=problem[1]))
    return tuple(found), tuple(refused)


def _known(index: int, pool: NodePool, bought: Bought, remember: Remember) -> Template:
    offers, daemons = bought.offers[pool.name], bought.daemons
    name = "template", index, bought.dimensions, tuple(daemons)
    read = pool, bought.observed, *daemons.values()
    sold = offers.columns, offers.listed_price, offers.paid_price, offers.overlay
    claiming = any(one.shape.device_claims for one in daemons.values())
    devices = bought.devices.read if claiming else ()
    return remember(name, partial(_template, index, pool, bought), *read, *sold, *devices)


def _static(pool: NodePool) -> Refused:
    nodes = named_amount(NODES, pool.replicas or 0)
    message = f"it is static: it has {nodes} whatever waits, and gets none for pods"
    return Refused(pool=pool, rule=Rule.POOL_STATIC, message=message, static=True)


def template_requirements(pool: NodePool) -> Requirements:
    """Return what every node of the pool has or can have."""
    template = pool.template
    own = {
        label_keys.NODEPOOL: pool.name,
        class_label(template.node_class): template.node_class.name,
        label_keys.REGISTERED: "true",
        label_keys.INITIALIZED: "true",
    }
    labels = Requirements.from_labels(dict(template.labels))
    return template.requirements.intersection(labels).intersection(Requirements.from_labels(own))


def class_label(node_class: NodeClassRef) -> str:
    """Return the label key under which nodes carry the name of their class."""
    return f"{node_class.group}/{node_class.kind.lower()}"


def _problem(pool: NodePool, snapshot: ClusterSnapshot, now: datetime) -> tuple[Rule, str] | None:
    if not pool.ready:
        why = "; ".join(pool.problems) or "it is not ready"
        return Rule.POOL_NOT_READY, f"cannot be used: {why}"
    node_class = pool.template.node_class
    catalogue = snapshot.catalogues.get(node_class.key)
    if catalogue is None or not catalogue.instance_types:
        return Rule.CATALOGUE, f'no instance types are known for node class "{node_class.name}"'
    if now - catalogue.observed_at > FRESH:
        return Rule.CATALOGUE, (
            f'the instance types of node class "{node_class.name}" were last heard of at '
            f"{catalogue.observed_at.isoformat()}, longer ago than {FRESH}"
        )
    return None


def _template(index: int, pool: NodePool, bought: Bought) -> Template:
    offers, dimensions, daemons = bought.offers[pool.name], bought.dimensions, bought.daemons
    requirements = template_requirements(pool)
    offerings = _offerings(offers.columns, requirements)
    coming = []
    for ask in daemons.values():
        permitted = _with_devices(ask.shape, offers.columns, offerings, bought.devices)
        comes = daemon_offerings(ask, pool, offers.columns, requirements, permitted)
        coming.append(Daemon(ask=ask, offerings=comes, permitted=permitted))
    columns = told_apart(offers.columns, _marks(offers.columns, offerings, coming))
    overhead = np.zeros((len(columns.rows), len(dimensions.names)), np.int64)
    ports: list[DaemonPorts] = []
    for one in coming:
        rows = np.zeros(len(columns.rows), np.bool_)
        rows[columns.row[one.offerings]] = True
        overhead[rows] += dimensions.requests(one.ask.shape.requests)
        if one.ask.shape.host_ports and rows.any():
            ports.append(DaemonPorts(ports=one.ask.shape.host_ports, rows=rows))
    observed = _observed(columns, pool.template.node_class, bought.observed)
    room = _allocatable(columns, observed, dimensions) - overhead
    limited = tuple(name for name in pool.limits if name != NODES)
    return Template(
        index=index,
        pool=pool,
        offers=replace(offers, columns=columns),
        requirements=requirements,
        dimensions=dimensions,
        observed=np.array([row in observed for row in range(len(columns.rows))], np.bool_),
        overhead=overhead,
        room=room,
        capacities=matrix(columns.capacities, limited),
        limited=limited,
        daemon_ports=tuple(ports),
        daemons=tuple(coming),
        permitted=offerings,
        offerings=offerings & covering(room, 0)[columns.row],
    )


def _offerings(columns: CatalogueColumns, requirements: Requirements) -> Bools:
    known = requirements.keys()
    unknown = columns.offering_keys - columns.well_known - frozenset(known)
    mask = columns.available.copy()
    for one in requirements:
        mask &= columns.mask(one, lenient=True)
    for key in sorted(unknown):
        mask &= columns.key(key).where(lambda _, own: own is None or own.absent)
    return mask


def _with_devices(
    shape: PodShape, columns: CatalogueColumns, offerings: Bools, devices: ClaimedDevices
) -> Bools:
    """Return those of the offerings that could have the devices which a daemon claims."""
    if not shape.device_claims:
        return offerings
    able = devices.on_types(shape, columns.types)
    return offerings & able[columns.row_type[columns.row]]


def daemon_offerings(
    ask: Ask,
    pool: NodePool,
    columns: CatalogueColumns,
    requirements: Requirements,
    offerings: Bools,
) -> Bools:
    """Return (n_offerings,): where the daemon's pod will run.

    Args:
        ask: what it asks for.
        pool: whose nodes they are.
        columns: what is sold to the pool.
        requirements: what the nodes are required to be.
        offerings: (n_offerings,): those of which there may be nodes.
    """
    found = np.zeros(len(columns.offerings), np.bool_)
    if not bears(ask.shape, pool.template.taints):
        return found
    for place in ask.places:
        asked = apart_from_hostname(place.requirements)
        if (
            asked is None
            or place.node_names is not None
            or not requirements.is_compatible(asked, allow_undefined=columns.well_known)
        ):
            continue
        mask = offerings.copy()
        for one in requirements.intersection(asked):
            if one.key in asked:
                mask &= columns.mask(one, lenient=one.key in requirements)
        found |= mask
    return found


def _marks(columns: CatalogueColumns, offerings: Bools, daemons: Sequence[Daemon]) -> Ints:
    """Return (n_offerings,): equal for those offerings of a row to which the same daemons come.

    Args:
        columns: what is sold.
        offerings: (n_offerings,): those that nodes of the pool could be; others tell nothing apart.
        daemons: who comes where.
    """
    rows = len(columns.rows)
    possible = np.bincount(columns.row[offerings], minlength=rows)
    partly = []
    for one in daemons:
        there = np.bincount(columns.row[one.offerings], minlength=rows)
        if ((there > 0) & (there < possible)).any():
            partly.append(one.offerings)
    if not partly:
        return np.zeros(len(columns.offerings), np.int64)
    marks: Ints = np.unique(np.stack(partly), axis=1, return_inverse=True)[1].reshape(-1)
    first = np.full(rows, -1, np.int64)
    backwards = np.flatnonzero(offerings)[::-1]
    first[columns.row[backwards]] = marks[backwards]
    return np.where(offerings, marks, first[columns.row])


def _observed(
    columns: CatalogueColumns,
    node_class: NodeClassRef,
    observed_allocatable: Mapping[str, ObservedAllocatable],
) -> dict[int, Resources]:
    """Return the allocatable that live nodes reported, by the rows of their types."""
    found: dict[int, Resources] = {}
    kinds = {kind.name: index for index, kind in enumerate(columns.types)}
    for observed in observed_allocatable.values():
        index = kinds.get(observed.instance_type)
        if observed.node_class == node_class and index is not None:
            rows = np.flatnonzero(columns.row_type == index).tolist()
            found |= dict.fromkeys(rows, observed.allocatable)
    return found


def _allocatable(
    columns: CatalogueColumns, observed: Mapping[int, Resources], dimensions: Dimensions
) -> Ints:
    """Return (n_rows, n_resources), put right by what was observed."""
    amounts = columns.matrix(dimensions.names)
    for row, there in observed.items():
        first = columns.offerings[int(np.flatnonzero(columns.row == row)[0])]
        overridden = bool(len(first.capacity_override) or len(first.overhead_override))
        right = corrected(columns.rows[row], there, overridden=overridden)
        amounts[row] = dimensions.room(right)
    return amounts


def _nothing_left(template: Template) -> str:
    """Return which requirement of the pool, or what else, leaves nothing to buy."""
    columns = template.columns
    for one in template.requirements:
        if not one.satisfiable:
            return f"its requirements and labels leave no value for {one.key}"
    if not columns.available.any():
        return "no offering of any instance type is available"
    mask = columns.available.copy()
    for one in template.requirements:
        mask &= columns.mask(one, lenient=True)
        if not mask.any():
            return f"requirement {one} leaves no instance type that is available"
    return "daemons leave no room on any instance type"


def exported(requirements: Requirements) -> Requirements:
    """Return the requirements that a NodeClaim states: without what only the simulation needs."""
    return requirements.without(SIMULATED_KEYS | label_keys.RESTRICTED_LABELS)


def concrete_labels(template: Template, requirements: Requirements) -> tuple[tuple[str, str], ...]:
    """Return the labels of a claim besides the template's: its pool, and keys only the pool knows.

    Source: `docs/sources.md` E1.5.
    """
    known = template.columns.well_known | SIMULATED_KEYS | label_keys.RESTRICTED_LABELS
    known |= {key for key, _ in template.pool.template.labels}
    found = {label_keys.NODEPOOL: template.pool.name}
    for one in requirements:
        # What may be absent, as all that NotIn accepts, is: nobody has asked for a value.
        value = None if one.key in known or one.absent else one.any_value()
        if value is not None:
            found[one.key] = value
    return tuple(sorted(found.items()))
