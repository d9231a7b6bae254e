"""From a snapshot to columns: everything that stays the same however the pods are packed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from itertools import chain, compress

from libs.domain import feature_gates
from libs.domain import labels as label_keys
from libs.domain.feature_gates import FeatureGate
from libs.domain.overlay import completed
from libs.domain.pod import PodRow, PodShape
from libs.domain.snapshot import ClusterSnapshot, in_order
from libs.domain.solution import MinValuesPolicy, SolveOptions
from libs.domain.taint import Effect
from services.solver.core.devices.allocating import Devices
from services.solver.core.devices.daemons import DaemonDevices
from services.solver.core.devices.extended import delegated
from services.solver.core.devices.inventory import Inventory
from services.solver.core.devices.places import Places
from services.solver.core.devices.selecting import Selectors
from services.solver.core.domains import Domains
from services.solver.core.offers.claim_class import ClaimClasses
from services.solver.core.offers.limits import PoolLimits, allowance
from services.solver.core.offers.market import Market, Memory, market
from services.solver.core.offers.reservations import instances_left
from services.solver.core.offers.template import Bought, Refused, Template, templates
from services.solver.core.offers.weighing import weighed
from services.solver.core.packing.held_room import keeping_apart
from services.solver.core.packing.nominations import hopeless
from services.solver.core.packing.problem import Problem
from services.solver.core.packing.supply import Supply
from services.solver.core.pods import ask as asking
from services.solver.core.pods.ask import NOTHING_KNOWN, Ask, KnownNodes, without_nodes
from services.solver.core.pods.companions import Reach, together
from services.solver.core.pods.grouping import Group
from services.solver.core.pods.kinds import kinds
from services.solver.core.pods.workload import AS_IT_IS, Supposed, Workload, workload
from services.solver.core.reading.residents import compared
from services.solver.core.standing.free_volumes import FreeVolumes
from services.solver.core.standing.standing import Standing, standing
from services.solver.core.standing.standing_input import StandingInput
from services.solver.core.topology.algebra import Algebra
from services.solver.core.topology.foreseen import Foreseen
from services.solver.core.topology.grants import Grants
from services.solver.core.topology.ground import Ground
from services.solver.core.topology.topology import Topology
from services.solver.core.vectors import Dimensions, covering


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """A snapshot as the solver reads it; nothing in it changes, whoever packs."""

    given: ClusterSnapshot
    """As it was asked about."""
    snapshot: ClusterSnapshot
    """In order, and with what overlays add."""
    options: SolveOptions
    work: Workload
    dimensions: Dimensions
    asks: Mapping[int, tuple[Ask, ...]]
    """By id of the shape."""
    templates: tuple[Template, ...]
    refused: tuple[Refused, ...]
    standing: Standing
    market: Market


def encode(
    snapshot: ClusterSnapshot, options: SolveOptions, now: datetime, memory: Memory
) -> Encoded:
    """Return the snapshot in columns."""
    found = _encoded(snapshot, options, now, memory)

    def suppose(groups: tuple[Group, ...], left: tuple[PodRow, ...]) -> Problem:
        supposed = Supposed(left=left)
        there = _encoded(snapshot, options, now, memory, supposed) if left else found
        return problem(there, groups)

    given_up = hopeless(found.snapshot, found.work, suppose)
    if not given_up:
        return found
    return _encoded(snapshot, options, now, memory, Supposed(given_up=given_up))


def _encoded(
    snapshot: ClusterSnapshot,
    options: SolveOptions,
    now: datetime,
    memory: Memory,
    supposed: Supposed = AS_IT_IS,
) -> Encoded:
    as_given = snapshot
    # From here on order decides: which nodes are tried first, say.
    snapshot = in_order(snapshot)
    sold = weighed(market(snapshot, options, memory), snapshot, options.objective)
    snapshot = completed(snapshot, {pool: one.overlay for pool, one in sold.by_pool.items()})
    if _counts_devices(options):
        snapshot = delegated(snapshot)
    reader = memory.reader()
    nodes, claims = reader.nodes.of(snapshot.nodes), reader.claims.of(snapshot.nodeclaims)
    pods = reader.pods.of(snapshot.pods, snapshot.shapes)
    work = workload(snapshot, now, pods, nodes, supposed)
    preferring = bool(nodes.prefer_no_schedule().any() or claims.prefer_no_schedule().any())
    preferring = preferring or _pools_prefer_no_schedule(snapshot)
    waiting = {group.shape.id: group.shape for group in work.groups}
    first = kinds(waiting.values())
    unlike = {shape.id: shape for shape in first.values()}
    made = _asks(snapshot, options, unlike.values(), preferring=preferring, memory=memory)
    asks = {
        number: asking.alike(made[first[number].id], first[number], shape)
        for number, shape in waiting.items()
    }
    daemons = _daemons(snapshot, options, memory)
    coming = [one.shape for one in daemons.values()]
    dimensions = Dimensions.of(shape.requests for shape in (*waiting.values(), *coming))
    devices = DaemonDevices(snapshot)
    bought = Bought(snapshot.observed_allocatable, dimensions, daemons, sold.by_pool, devices)
    found, refused = templates(snapshot, now, bought, memory.few)
    looking = map(compared, (*unlike.values(), *_daemon_shapes(snapshot)))
    there = work.bound.residents.compared(work.bound.by_shape)
    keys = _asked(one for number in unlike for one in asks[number]).union(there, *looking)
    keys |= _told_of_volumes(snapshot, waiting.values())
    given = StandingInput(
        snapshot=snapshot,
        workload=work,
        dimensions=dimensions,
        daemons=daemons,
        devices=devices,
        keys=keys,
        known=keys | _asked(daemons.values()),
        templates={template.pool.name: template for template in found},
        market=sold,
        nodes=nodes,
        claims=claims,
    )
    encoded = Encoded(
        given=as_given,
        snapshot=snapshot,
        options=options,
        work=work,
        dimensions=dimensions,
        asks=asks,
        templates=found,
        refused=refused,
        standing=standing(given),
        market=sold,
    )
    counts = Counter[int]()
    for group in work.groups:
        counts[group.shape.id] += len(group.uids)
    apart = together(asks, work.bound, snapshot.namespaces, _reach(encoded), counts)
    return replace(encoded, asks=apart)


def _asks(
    snapshot: ClusterSnapshot,
    options: SolveOptions,
    shapes: Iterable[PodShape],
    *,
    preferring: bool,
    memory: Memory,
) -> dict[int, tuple[Ask, ...]]:
    """Return what pods of these shapes ask for, by id of the shape."""
    policy = options.preference_policy
    nodes = cache(lambda: _known_nodes(snapshot))

    def asks(shape: PodShape) -> tuple[Ask, ...]:
        if shape.storage_rooms or shape.required_features:
            return asking.asks(shape, policy, prefer_no_schedule=preferring, nodes=nodes())
        make = partial(asking.asks, shape, policy, prefer_no_schedule=preferring)
        return memory.many(("asks", policy, preferring), make, shape)

    return {shape.id: asks(shape) for shape in shapes}


def _known_nodes(snapshot: ClusterSnapshot) -> KnownNodes:
    pools = [pool.template for pool in snapshot.nodepools.values()]
    started = [node for node in snapshot.nodes.values() if node.initialized]
    return KnownNodes(
        started=frozenset(node.name for node in started),
        features={node.name: frozenset(node.declared_features) for node in started},
        label_keys=label_keys.WELL_KNOWN.union(
            (label_keys.HOSTNAME,),
            *(one.well_known_keys for one in snapshot.catalogues.values()),
            *(pool.requirements.keys() for pool in pools),
            *((key for key, _ in pool.labels) for pool in pools),
        ),
    )


def _daemons(snapshot: ClusterSnapshot, options: SolveOptions, memory: Memory) -> dict[str, Ask]:
    """Return what the pods of each DaemonSet ask for, but for those whose claims are ignored."""
    shapes = {key: snapshot.shapes[one.shape] for key, one in snapshot.daemonsets.items()}
    return {
        key: memory.many("daemon", partial(asking.daemon, shape), shape)
        for key, shape in shapes.items()
        if _counts_devices(options) or not shape.device_claims
    }


def _reach(encoded: Encoded) -> Reach:
    """Return who tells where there is room; it is made ready when first asked."""

    @cache
    def supply() -> Supply:
        domains = _domains(encoded)
        classes = ClaimClasses(domains)
        ground = Ground(encoded.standing, encoded.templates, classes, domains, encoded.dimensions)
        return Supply(ground, _grants(encoded, encoded.work.groups, classes))

    return lambda ask, key, count: supply().values(ask, key, count)


def problem(
    encoded: Encoded, groups: tuple[Group, ...], foreseen: Iterable[Foreseen] = ()
) -> Problem:
    """Return the packing problem for these of the waiting pods, with nothing packed yet.

    Args:
        encoded: the cluster.
        groups: the pods.
        foreseen: what its claims are known to make.
    """
    domains = _domains(encoded)
    classes = ClaimClasses(domains)
    reservations = instances_left(encoded.templates if _reserves(encoded.options) else ())
    apart = keeping_apart(groups, encoded.snapshot.namespaces)
    algebra = Algebra(
        Ground(encoded.standing, encoded.templates, classes, domains, encoded.dimensions),
        [allowance(one, encoded.snapshot) for one in encoded.templates],
        _grants(encoded, groups, classes),
        reservations=reservations,
        strict_min_values=encoded.options.min_values_policy is MinValuesPolicy.STRICT,
        wary=frozenset().union(*apart.values()),
    )
    topology = Topology(algebra)
    asks = tuple(_asks_of(encoded, group) for group in groups)
    topology.register(
        (one for many in asks for one in many),
        groups,
        encoded.work.bound,
        dict(encoded.snapshot.namespaces),
        _daemon_shapes(encoded.snapshot),
    )
    topology.foresee(foreseen)
    return Problem(
        dimensions=encoded.dimensions,
        pods=encoded.snapshot.pods,
        groups=groups,
        asks=asks,
        templates=encoded.templates,
        limits=tuple(PoolLimits(one, algebra.packing) for one in encoded.templates),
        algebra=algebra,
        topology=topology,
        reservations=reservations,
        min_values=encoded.options.min_values_policy,
        apart=apart,
    )


def _asks_of(encoded: Encoded, group: Group) -> tuple[Ask, ...]:
    """Return what the pods of a group ask for, one of them that leads another one at first."""
    asks, follower = encoded.asks[group.shape.id], group.leads
    if follower is None or any(one.leads == follower for one in asks):
        return asks
    small = _too_small_for_both(encoded, group, follower)
    leading = (replace(one, leads=follower) for one in asks if one.leads is None)
    return (*(without_nodes(one, small) for one in leading), *asks)


def _too_small_for_both(encoded: Encoded, group: Group, follower: int) -> frozenset[str]:
    """Return the names of nodes that would take one pod of a group, but not its follower besides.

    That matters to who has to be on one host with it.
    """
    asks = encoded.asks.get(follower)
    terms = asks[-1].shape.affinity if asks else ()
    if asks is None or not any(term.topology_key == label_keys.HOSTNAME for term in terms):
        return frozenset()
    requests, standing = encoded.dimensions.requests, encoded.standing
    one = requests(group.shape.requests)
    both = one + requests(asks[-1].shape.requests)
    small = covering(standing.free, one) & ~covering(standing.free, both)
    return frozenset(compress(standing.names, small.tolist()))


def _domains(encoded: Encoded) -> Domains:
    """Return the domains; values that pods ask of labels which pools leave open are met already.

    A new node may be given one of them, whoever goes there.
    """
    found = Domains()
    keys = {
        one.key
        for template in encoded.templates
        for one in template.requirements
        if one.complement and not template.columns.states(one.key, template.offerings)
    }
    for ask in chain.from_iterable(encoded.asks.values()) if keys else ():
        for place in ask.places:
            for one in place.requirements:
                if one.key in keys and not one.complement:
                    found.bits(one.key, sorted(one.values))
    return found


def _grants(encoded: Encoded, groups: tuple[Group, ...], classes: ClaimClasses) -> Grants:
    choosing = any(group.shape.unbound_claims for group in groups)
    volumes = FreeVolumes(
        encoded.snapshot.volume_kinds if choosing else {},
        encoded.standing,
        classes,
        _known_nodes(encoded.snapshot) if choosing else NOTHING_KNOWN,
    )
    return Grants(_devices(encoded, groups, classes), volumes)


def _devices(encoded: Encoded, groups: tuple[Group, ...], classes: ClaimClasses) -> Devices | None:
    claiming = any(group.shape.device_claims for group in groups)
    if not claiming or not _counts_devices(encoded.options):
        return None
    snapshot = encoded.snapshot
    waiting = {uid for group in encoded.work.groups for uid in group.uids}
    found = map(snapshot.pods.find, waiting)
    moving = frozenset(row.uid for row in found if row is not None and row.node)
    inventory = Inventory(snapshot.device_pools.values(), moving)
    places = Places(snapshot, encoded.standing, inventory)
    refused = {
        one.name: f"{one.field}: {one.message}" if one.field else one.message
        for one in snapshot.set_aside.values()
        if one.kind == "DeviceClass"
    }
    return Devices(inventory, places, Selectors(snapshot.device_classes, refused), classes)


def _counts_devices(options: SolveOptions) -> bool:
    """Tell whether claims of devices are planned for; else pods that have some wait."""
    return feature_gates.is_open(FeatureGate.DYNAMIC_RESOURCES, options.feature_gates)


def _daemon_shapes(snapshot: ClusterSnapshot) -> list[PodShape]:
    return [snapshot.shapes[one.shape] for one in snapshot.daemonsets.values()]


def _reserves(options: SolveOptions) -> bool:
    """Tell whether reserved instances are counted."""
    return feature_gates.is_open(FeatureGate.RESERVED_CAPACITY, options.feature_gates)


def _pools_prefer_no_schedule(snapshot: ClusterSnapshot) -> bool:
    pools = (pool.template.taints for pool in snapshot.nodepools.values())
    return any(taint.effect is Effect.PREFER_NO_SCHEDULE for taint in chain.from_iterable(pools))


def _told_of_volumes(snapshot: ClusterSnapshot, shapes: Iterable[PodShape]) -> frozenset[str]:
    """Return the label keys by which nodes reach volumes that pods of these shapes may get."""
    claims = {one for shape in shapes for one in shape.unbound_claims}
    kinds = (snapshot.volume_kinds.get(key) for key in {key for one in claims for key in one.kinds})
    terms = [
        *(term for one in claims for term in (*one.made, *one.made_at_start)),
        *(term for kind in kinds if kind is not None for at in kind.places for term in at.terms),
    ]
    return frozenset().union(*(term.keys() for term in terms))


def _asked(asks: Iterable[Ask]) -> frozenset[str]:
    """Return the label keys by which pods choose nodes."""
    places = (place for ask in asks for place in (*ask.places, *ask.node_places))
    return frozenset().union(*(place.requirements.keys() for place in places))
