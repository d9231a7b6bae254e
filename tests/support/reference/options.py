"""What pools could buy, as Node objects, and which of that a pod could use were it alone there.

Apart because it is fixed during one solve: a node per pool, type, offering and choice of the labels
that the pool leaves open, each with the pods that DaemonSets put on it. They stand in a cluster of
their own, on which the filters that look at nothing but pod and node are asked.

Source: `docs/sources.md` D1.3, D2, D3, D7.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product

from libs.checker.claims import offers
from libs.checker.devices import node_slices
from libs.checker.nodes import planned_node
from libs.checker.storage import node_capacities
from libs.domain import feature_gates
from libs.domain import labels as keys
from libs.domain.allocatable import full_capacity
from libs.domain.capacity import CapacityType, InstanceType, Offering
from libs.domain.feature_gates import FeatureGate
from libs.domain.nodepool import NodePool
from libs.domain.overlay import OverlaidOffer, completed
from libs.domain.plan import LaunchOption, PlannedNodeClaim
from libs.domain.requirements import Requirements
from libs.domain.resources import NODES, NOTHING, Resources
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from libs.oracle.cluster import Cluster, Node
from libs.oracle.daemons import bring_daemons
from libs.oracle.devices.claims import is_reserved_for
from libs.oracle.filters import (
    node_affinity,
    node_name,
    node_ports,
    node_resources_fit,
    taint_toleration,
)
from libs.oracle.filters.plugin import PodRefused
from libs.oracle.filters.taint_toleration import tolerates
from libs.oracle.objects import KubeObject, labels_of, metadata_of, name_of, spec_of
from libs.oracle.pods import Pod
from tests.support.reference.wishes import Wish, node_terms

FRESH = timedelta(minutes=15)
"""From a catalogue that was heard longer ago nothing is bought."""

_OF_ONE_NODE = (
    node_affinity.narrow,
    node_affinity.prepare,
    node_name.prepare,
    taint_toleration.prepare,
    node_ports.prepare,
    node_resources_fit.prepare,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What does not change while pods are placed."""

    snapshot: ClusterSnapshot
    """With what overlays promise of nodes that are not up yet."""
    sold: Mapping[str, OverlaidOffer]
    """What is sold to each pool, after the overlays."""
    daemon_sets: Sequence[KubeObject]
    options: SolveOptions

    @classmethod
    def of(
        cls, snapshot: ClusterSnapshot, options: SolveOptions, daemon_sets: Iterable[KubeObject]
    ) -> "World":
        """Return the world of a snapshot."""
        sold = offers(snapshot, options.feature_gates)
        return cls(
            snapshot=completed(snapshot, sold),
            sold=sold,
            daemon_sets=tuple(daemon_sets),
            options=options,
        )

    @property
    def now(self) -> datetime:
        """The instant of the decision."""
        return self.options.now or self.snapshot.observed_at

    @property
    def counts_reservations(self) -> bool:
        """Whether there are only so many instances of a reservation."""
        return self._is_open(FeatureGate.RESERVED_CAPACITY)

    @property
    def gives_devices(self) -> bool:
        """Whether pods that claim devices get a place, and resources may stand for devices."""
        return self._is_open(FeatureGate.DYNAMIC_RESOURCES)

    def _is_open(self, gate: FeatureGate) -> bool:
        return feature_gates.is_open(gate, self.options.feature_gates)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Option:
    """One way to buy a node."""

    pool: NodePool
    kind: InstanceType
    node: KubeObject
    """Its name is of no other option."""
    price: int
    """Nano-dollars per hour."""
    charge: Resources
    """What it takes of the pool's limits."""
    free: Mapping[str, int]
    """What daemons leave of it, in the oracle's units."""
    reservation: str
    """The reservation that it takes an instance of, empty for none."""

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels that the node will carry."""
        return labels_of(self.node)


class Market:
    """All options, pools in order, in each the cheapest first."""

    def __init__(self, cluster: Cluster, world: World) -> None:
        self.daemon_sets = world.daemon_sets
        self.pools: dict[str, list[Option]] = {}
        self._world = world
        self._stand = Cluster()
        for one in cluster.device_classes.values() if world.gives_devices else ():
            self._stand.put("DeviceClass", one)
        mentioned = _mentioned(cluster)
        pools = world.snapshot.nodepools.values()
        for pool in sorted(pools, key=lambda one: (one.weight, one.name), reverse=True):
            options = [
                self._option(pool, kind, offering, node)
                for kind, offering in _sold(pool, world)
                for node in _nodes(pool, kind, offering, world, mentioned)
            ]
            if options:
                options.sort(key=lambda one: (one.price, one.kind.name, name_of(one.node)))
                self.pools[pool.name] = options

    def fitting(self, wish: Wish, pod: Pod, pool: str) -> list[Option]:
        """Return the options of the pool that the pod could use, were it alone there."""
        tests = []
        for prepare in _OF_ONE_NODE:
            test = prepare(self._stand, pod)
            if isinstance(test, PodRefused):
                return []
            if test is not None:
                tests.append(test)
        nodes = self._stand.nodes
        return [
            option
            for option in self.pools[pool]
            if not any(test(nodes[name_of(option.node)]) for test in tests)
            and not (wish.avoids_soft_taints and unwelcoming(nodes[name_of(option.node)], pod))
        ]

    def _option(
        self, pool: NodePool, kind: InstanceType, offering: Offering, obj: KubeObject
    ) -> Option:
        put_node(self._stand, obj, self.daemon_sets)
        node = self._stand.nodes[name_of(obj)]
        taken = {**node.requested, "pods": len(node.pods)}
        is_counted = (
            self._world.counts_reservations and offering.capacity_type == CapacityType.RESERVED
        )
        return Option(
            pool=pool,
            kind=kind,
            node=obj,
            price=offering.price_nanos_per_hour,
            charge=full_capacity(kind, offering).add(Resources({NODES: 1})),
            free={name: amount - taken.get(name, 0) for name, amount in node.allocatable.items()},
            reservation=offering.reservation_id if is_counted else "",
        )


def put_option(
    cluster: Cluster, option: Option, name: str, daemon_sets: Iterable[KubeObject]
) -> None:
    """Put a node into the cluster as the option makes it, with its devices and daemon pods."""
    for one in node_slices(name, option.kind):
        cluster.put("ResourceSlice", one)
    put_node(cluster, renamed(option.node, name), daemon_sets)
    for one in tuple(node_capacities(cluster, cluster.nodes[name].obj)):
        cluster.put("CSIStorageCapacity", one)


def put_node(cluster: Cluster, node: KubeObject, daemon_sets: Iterable[KubeObject]) -> None:
    """Put a node into the cluster with the daemon pods that come to it."""
    cluster.put("Node", node)
    bring_daemons(cluster, daemon_sets, name_of(node))


def remove(cluster: Cluster, name: str) -> None:
    """Take a node out of the cluster, with every pod, device and room for volumes on it."""
    for one in tuple(cluster.resource_slices.values()):
        if spec_of(one).get("nodeName") == name:
            cluster.delete("ResourceSlice", name_of(one))
    for key, one in tuple(cluster.storage_capacities.items()):
        if one.get("nodeTopology") == {"matchLabels": {keys.HOSTNAME: name}}:
            cluster.delete("CSIStorageCapacity", key)
    for pod in tuple(cluster.nodes[name].pods.values()):
        # Daemons, which have no uid here, got their devices of this node.
        is_daemon = not metadata_of(pod.obj).get("uid")
        for key, claim in tuple(cluster.resource_claims.items()):
            if is_daemon and is_reserved_for(claim, pod.obj):
                cluster.delete("ResourceClaim", key)
        cluster.delete("Pod", pod.key)
    cluster.delete("Node", name)


def renamed(node: KubeObject, name: str) -> KubeObject:
    """Return the node under another name."""
    labels = {**labels_of(node), keys.HOSTNAME: name}
    return {**node, "metadata": {**metadata_of(node), "name": name, "labels": labels}}


def unwelcoming(node: Node, pod: Pod) -> bool:
    """Tell whether the node has a soft taint that the pod does not tolerate."""
    return any(
        taint.effect == "PreferNoSchedule" and not tolerates(pod, taint) for taint in node.taints
    )


def template_requirements(pool: NodePool) -> Requirements:
    """Return what holds of every node of the pool."""
    node_class = pool.template.node_class
    labels = {
        **dict(pool.template.labels),
        keys.NODEPOOL: pool.name,
        f"{node_class.group}/{node_class.kind.lower()}": node_class.name,
    }
    return pool.template.requirements.intersection(Requirements.from_labels(labels))


def _sold(pool: NodePool, world: World) -> Iterator[tuple[InstanceType, Offering]]:
    offer = world.sold.get(pool.name)
    if offer is None or not pool.ready or pool.replicas is not None:
        return
    catalogue = offer.catalogue
    if world.now - catalogue.observed_at > FRESH:
        return
    wanted = template_requirements(pool)
    if not wanted.satisfiable:
        return
    known = keys.WELL_KNOWN | frozenset(catalogue.well_known_keys)
    for kind in catalogue.instance_types:
        for offering in kind.offerings:
            if (
                offering.available
                and wanted.has_intersection(kind.requirements)
                and wanted.is_compatible(offering.requirements, allow_undefined=known)
            ):
                yield kind, offering


def _nodes(
    pool: NodePool,
    kind: InstanceType,
    offering: Offering,
    world: World,
    mentioned: Mapping[str, Collection[str]],
) -> Iterator[KubeObject]:
    """Yield the nodes that an offering can become, by the labels that nothing has settled yet."""
    observed = {
        one.instance_type: one.allocatable
        for one in world.snapshot.observed_allocatable.values()
        if one.node_class == pool.template.node_class
    }
    for chosen in _choices(template_requirements(pool), kind, offering, mentioned):
        claim = _claim(pool, chosen)
        node = planned_node(claim, pool, kind, offering, observed.get(kind.name, NOTHING))
        what = (pool.name, kind.name, offering.zone, offering.capacity_type)
        name = "/".join((*what, offering.reservation_id, *sorted(chosen.single_values().values())))
        yield renamed(node, name)


def _choices(
    wanted: Requirements,
    kind: InstanceType,
    offering: Offering,
    mentioned: Mapping[str, Collection[str]],
) -> Iterator[Requirements]:
    settled = wanted.single_values()
    known = {*settled, *kind.requirements.keys(), *offering.requirements.keys(), *keys.WELL_KNOWN}
    left_open = [one for one in wanted if one.key not in known and not one.absent]
    values = []
    for one in left_open:
        listed = one.values if not one.complement else mentioned.get(one.key, ())
        possible = sorted(value for value in listed if one.has(value))
        values.append(possible or [one.any_value() or ""])
    for choice in product(*values):
        chosen = {one.key: value for one, value in zip(left_open, choice, strict=True)}
        yield Requirements.from_labels({**settled, **chosen})


def _mentioned(cluster: Cluster) -> dict[str, set[str]]:
    """Return the label values that waiting pods ask of nodes, by key."""
    found: dict[str, set[str]] = {}
    for pod in cluster.pending.values():
        for key, value in (spec_of(pod).get("nodeSelector") or {}).items():
            found.setdefault(key, set()).add(value)
        for term in node_terms(pod):
            for one in term.get("matchExpressions") or ():
                found.setdefault(one["key"], set()).update(one.get("values") or ())
    return found


def _claim(pool: NodePool, requirements: Requirements) -> PlannedNodeClaim:
    nothing = LaunchOption(instance_type="", zone="", capacity_type="", price_nanos_per_hour=0)
    return PlannedNodeClaim(
        index=0,
        nodepool=pool.name,
        nodepool_uid=pool.uid,
        nodepool_hash=pool.hash,
        requirements=requirements,
        requests=NOTHING,
        instance_types=(),
        cheapest=nothing,
        pod_uids=(),
    )
