"""How far the run is: pods by state, nodes by pool, dollars per hour, and what is still open."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from cli.run.workload import NAME, Workload
from libs.domain import labels as keys
from libs.domain import quantity
from libs.domain.capacity import InstanceType
from libs.domain.nodeclaim import ConditionType
from libs.kube.objects.karpenter import NodeClaim
from libs.kube.objects.metadata import Condition
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod

Prices = Mapping[tuple[str, str, str], int]
"""Nano-dollars per hour by instance type, zone and capacity type."""

_ENDED = ("Succeeded", "Failed")


class PodState(StrEnum):
    """Where a pod is on its way."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    LEAVING = "leaving"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What is there at one instant."""

    pods: tuple[Pod, ...]
    nodes: tuple[Node, ...]
    claims: tuple[NodeClaim, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRow:
    """One NodePool."""

    name: str
    nodes: int
    coming: int
    """Bought, not in use yet."""
    leaving: int
    pods: int
    """Bound to its nodes, DaemonSets' apart."""
    cpu_percent: int
    """Requested of what its nodes can give."""
    price_nanos_per_hour: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What the view shows."""

    pods: Mapping[PodState, int]
    """DaemonSets' pods and those that nothing can place left out."""
    daemon_pods: int
    unplaceable: int
    pools: tuple[PoolRow, ...]
    types: Mapping[str, int]
    """Nodes by instance type, most first."""

    @property
    def nodes(self) -> int:
        """Nodes in use."""
        return sum(pool.nodes for pool in self.pools)

    @property
    def coming(self) -> int:
        """Nodes on their way."""
        return sum(pool.coming for pool in self.pools)

    @property
    def price_nanos_per_hour(self) -> int:
        """What all nodes cost, those on their way and leaving included."""
        return sum(pool.price_nanos_per_hour for pool in self.pools)


def prices_of(types: Iterable[InstanceType]) -> Prices:
    """Return the prices of a catalogue."""
    return {
        (kind.name, one.zone, one.capacity_type): one.price_nanos_per_hour
        for kind in types
        for one in kind.offerings
    }


def measure(
    world: World, pools: Iterable[str], prices: Prices, unplaceable: frozenset[str]
) -> Progress:
    """Return the state of the run.

    Args:
        world: what is there.
        pools: names of the pools to list, nodes or not.
        prices: of the catalogue that is sold.
        unplaceable: workloads that nothing can place.
    """
    own = [pod for pod in world.pods if not is_daemon(pod) and workload_of(pod) not in unplaceable]
    lost = [pod for pod in world.pods if workload_of(pod) in unplaceable]
    names = sorted({*pools, *(_pool(claim) for claim in world.claims)})
    types = Counter(_label(claim, keys.INSTANCE_TYPE) for claim in world.claims if _used(claim))
    return Progress(
        pods=Counter(map(state_of, own)),
        daemon_pods=sum(is_daemon(pod) for pod in world.pods),
        unplaceable=len(lost),
        pools=tuple(_pool_row(name, world, prices) for name in names),
        types=dict(sorted(types.items(), key=lambda one: (-one[1], one[0]))),
    )


def unsettled(
    world: World, workloads: Iterable[Workload], replicas: Mapping[str, int]
) -> Iterator[str]:
    """Yield what has to happen still until everything that can run does, in words.

    Args:
        world: what is there.
        workloads: what is to run.
        replicas: how many pods of each workload; DaemonSets are not in it.
    """
    states = Counter((workload_of(pod), state_of(pod)) for pod in world.pods)
    for one in workloads:
        if one.placeable and one.name in replicas:
            wanted, runs = replicas[one.name], states[one.name, PodState.RUNNING]
            others = sum(states[one.name, state] for state in PodState) - runs
            if runs != wanted or others:
                yield f"{one.namespace}/{one.name}: {runs} of {wanted} run, {others} do not yet"
    starting = sum(is_daemon(pod) and state_of(pod) is not PodState.RUNNING for pod in world.pods)
    if starting:
        yield f"{starting} pods of DaemonSets do not run"
    for claim in world.claims:
        if claim.metadata.deletion_timestamp is not None:
            yield f"{claim.metadata.name} is leaving"
        elif not _used(claim):
            yield f"{claim.metadata.name} is not initialized"


def empty_nodes(world: World) -> Iterator[str]:
    """Yield the nodes that only DaemonSets use."""
    used = {pod.spec.node_name for pod in world.pods if not is_daemon(pod)}
    for node in world.nodes:
        if keys.NODEPOOL in node.metadata.labels and node.metadata.name not in used:
            yield node.metadata.name


def state_of(pod: Pod) -> PodState:
    """Return where a pod is on its way."""
    if pod.status.phase in _ENDED:
        return PodState.ENDED
    if pod.metadata.deletion_timestamp is not None:
        return PodState.LEAVING
    if not pod.spec.node_name:
        return PodState.WAITING
    return PodState.RUNNING if _is_true(pod.status.conditions, "Ready") else PodState.STARTING


def is_daemon(pod: Pod) -> bool:
    """Tell whether a DaemonSet made the pod."""
    controller = pod.metadata.controller
    return controller is not None and controller.kind == "DaemonSet"


def workload_of(pod: Pod) -> str:
    """Return the name of the pod's workload, empty for a stranger."""
    return pod.metadata.labels.get(NAME, "")


def price_of(claim: NodeClaim, prices: Prices) -> int:
    """Return nano-dollars per hour, 0 as long as it is not launched."""
    labels = claim.metadata.labels
    offering = tuple(
        labels.get(key, "") for key in (keys.INSTANCE_TYPE, keys.ZONE, keys.CAPACITY_TYPE)
    )
    return prices.get((offering[0], offering[1], offering[2]), 0)


def _pool_row(name: str, world: World, prices: Prices) -> PoolRow:
    claims = [claim for claim in world.claims if _pool(claim) == name]
    leaving = [claim for claim in claims if claim.metadata.deletion_timestamp is not None]
    used = [claim for claim in claims if _used(claim)]
    names = {claim.status.node_name for claim in claims if claim.status.node_name}
    bound = [pod for pod in world.pods if pod.spec.node_name in names]
    return PoolRow(
        name=name,
        nodes=len(used),
        coming=len(claims) - len(used) - len(leaving),
        leaving=len(leaving),
        pods=sum(not is_daemon(pod) for pod in bound),
        cpu_percent=_cpu_percent(bound, [one for one in world.nodes if one.metadata.name in names]),
        price_nanos_per_hour=sum(price_of(claim, prices) for claim in claims),
    )


def _cpu_percent(pods: Iterable[Pod], nodes: Iterable[Node]) -> int:
    wanted = sum(
        quantity.millicores(container.resources.requests.get("cpu", 0))
        for pod in pods
        for container in pod.spec.containers
    )
    there = sum(quantity.floor_millicores(node.status.allocatable.get("cpu", 0)) for node in nodes)
    return 100 * wanted // there if there else 0


def _used(claim: NodeClaim) -> bool:
    return claim.metadata.deletion_timestamp is None and _is_true(
        claim.status.conditions, str(ConditionType.INITIALIZED)
    )


def _is_true(conditions: Iterable[Condition], kind: str) -> bool:
    return any(one.type == kind and one.status == "True" for one in conditions)


def _pool(claim: NodeClaim) -> str:
    return _label(claim, keys.NODEPOOL)


def _label(claim: NodeClaim, key: str) -> str:
    return claim.metadata.labels.get(key, "")
