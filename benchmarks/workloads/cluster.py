"""Clusters that run already: nodes of a pool with their claims, and pods on them.

Pods are dealt out like cards, a workload's pods one after another: no node has two of a workload
that has fewer replicas than there are nodes, and zones take turns. A node is of the cheapest type
that holds its pods at the wanted utilisation, or of a random one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, repeat

from benchmarks import documents
from benchmarks.catalogues import EC2_ZONES, Sold, category
from benchmarks.documents import CREATED, Document
from benchmarks.workloads.drawing import Deployment, draw, draw_requests
from libs.domain import labels as keys
from libs.domain.capacity import CapacityType, InstanceType, Offering
from libs.domain.errors import InvalidRequest
from libs.domain.resources import CPU, MEMORY, PODS, Resources
from libs.runtime.randomness import Random

PODS_PER_NODE = 30
DAEMONS = Resources({CPU: 150, MEMORY: 228 * 2**20, PODS: 2})
"""What the two DaemonSets of `platform` take."""

_RUNNING = 1_000_000
"""Kind of the uids of pods that run."""
_UTILISATION = (0.6, 0.95)
_CATEGORIES = frozenset("cmr")
_LEAST_CPU, _MOST_CPU = 4_000, 32_000  # millicores
_MISSES = 8
_CONDITIONS = [
    {"type": kind, "status": "True", "reason": kind, "lastTransitionTime": CREATED}
    for kind in ("Launched", "Registered", "Initialized", "Consolidatable")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A type of nodes in one zone."""

    kind: InstanceType
    offering: Offering
    room: Resources


def platform(sold: Sold) -> Iterator[Document]:
    """Yield what every EC2 workload has: a namespace, two DaemonSets, a pool of all types."""
    yield documents.namespace()
    yield documents.daemon_set("network", {"cpu": "100m", "memory": "128Mi"})
    yield documents.daemon_set("logs", {"cpu": "50m", "memory": "100Mi"})
    yield documents.node_pool(
        "default", sold.node_class, [(keys.OS, ["linux"]), (keys.ZONE, EC2_ZONES)]
    )


def running(sold: Sold, nodes: int, pods: int, seed: int) -> Iterator[Document]:
    """Yield nodes, their claims and `pods` pods on them."""
    random = Random(seed + 1)
    places = _places(sold)
    drawn = draw(pods, seed + 1, pinned=False)
    every = [(one, number) for number, one in enumerate(_each_pod(drawn))]
    for index in range(nodes):
        mine = every[index::nodes]
        share = random.uniform(*_UTILISATION)
        place = _cheapest(places[index % len(EC2_ZONES)], [one for one, _ in mine], share)
        name = f"node-{index:05}"
        yield from _node(name, index, place)
        for one, number in mine:
            yield documents.running(one.pod(_RUNNING, number), name)


def underused(
    sold: Sold, nodes: int, utilisation: tuple[float, float], seed: int
) -> Iterator[Document]:
    """Yield nodes of random types, each filled with random pods up to a random utilisation."""
    random = Random(seed + 2)
    places = _places(sold)
    drawn = [_plain(f"app-{number:04}", random) for number in range(110)]
    numbers = count()
    for index in range(nodes):
        place = random.choice(places[index % len(EC2_ZONES)])
        name = f"node-{index:05}"
        yield from _node(name, index, place)
        for one in _filling(place, drawn, random.uniform(*utilisation), random):
            yield documents.running(one.pod(_RUNNING, next(numbers)), name)


def _plain(name: str, random: Random) -> Deployment:
    return Deployment(name=name, replicas=1, requests=draw_requests(random), spec={})


def _filling(
    place: _Place, drawn: Sequence[Deployment], share: float, random: Random
) -> Iterator[Deployment]:
    """Yield pods until the fuller one of CPU and memory has reached the share."""
    used, misses = Resources(), 0
    while misses < _MISSES and _fullness(used, place.room) < share:
        one = random.choice(drawn)
        more = used.add(_requests(one))
        if more.fits(place.room):
            used = more
            yield one
        else:
            misses += 1


def _fullness(used: Resources, room: Resources) -> float:
    return max(used.get(name) / room.get(name) for name in (CPU, MEMORY))


def _each_pod(drawn: Sequence[Deployment]) -> Iterator[Deployment]:
    for one in drawn:
        yield from repeat(one, one.replicas)


def _requests(one: Deployment) -> Resources:
    return Resources.from_requests(one.requests).add(Resources({PODS: 1}))


def _places(sold: Sold) -> list[list[_Place]]:
    """Return what nodes may be per zone, cheapest first: on-demand c, m and r of 4 to 32 CPUs."""
    found = [
        _Place(
            kind=kind,
            offering=offering,
            room=kind.capacity.subtract(kind.overhead).subtract(DAEMONS),
        )
        for kind in sold.instance_types
        if category(kind) in _CATEGORIES
        and _LEAST_CPU <= kind.capacity.get(CPU) <= _MOST_CPU
        and kind.requirements.single_values().get(keys.ARCH) == "amd64"
        for offering in kind.offerings
        if offering.capacity_type == CapacityType.ON_DEMAND
    ]
    found.sort(key=lambda one: (one.offering.price_nanos_per_hour, one.kind.name))
    by_zone = [[one for one in found if one.offering.zone == zone] for zone in EC2_ZONES]
    if not all(by_zone):
        raise InvalidRequest("too few of the types make nodes of 4 to 32 CPUs", field="--types")
    return by_zone


def _cheapest(places: Sequence[_Place], mine: Sequence[Deployment], share: float) -> _Place:
    used = Resources()
    for one in mine:
        used = used.add(_requests(one))
    for place in places:
        fits = used.get(PODS) <= place.room.get(PODS) and used.fits(place.room)
        if fits and _fullness(used, place.room) <= share:
            return place
    return next(
        (one for one in reversed(places) if used.fits(one.room)),
        places[-1],
    )


def _node(name: str, index: int, place: _Place) -> Iterator[Document]:
    """Yield the claim and the node."""
    kind, offering = place.kind, place.offering
    labels = {
        **kind.requirements.single_values(),
        **offering.requirements.single_values(),
        keys.NODEPOOL: "default",
    }
    capacity = kind.capacity.to_quantities()
    allocatable = kind.capacity.subtract(kind.overhead).to_quantities()
    provider_id = f"bench:///{offering.zone}/{name}"
    status = {"capacity": capacity, "allocatable": allocatable}
    yield {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {
            "name": f"claim-{name}",
            "uid": documents.uid(2, index),
            "labels": labels,
            "creationTimestamp": CREATED,
        },
        "spec": {
            "requirements": [],
            "nodeClassRef": {
                "group": "karpenter.k8s.aws",
                "kind": "EC2NodeClass",
                "name": "bench",
            },
            "expireAfter": "Never",
        },
        "status": {
            **status,
            "providerID": provider_id,
            "nodeName": name,
            "conditions": _CONDITIONS,
        },
    }
    yield {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": documents.uid(1, index),
            "labels": {
                **labels,
                keys.HOSTNAME: name,
                keys.REGISTERED: "true",
                keys.INITIALIZED: "true",
            },
            "creationTimestamp": CREATED,
        },
        "spec": {"providerID": provider_id},
        "status": {**status, "conditions": [{"type": "Ready", "status": "True"}]},
    }
