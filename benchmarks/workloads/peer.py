"""The peer's own benchmark: its mix, the same with requests all distinct, its preferences.

Five equal fifths, and generic pods for what is left over: generic; spread over zones; spread over
hosts; affinity to their own kind in a zone; anti-affinity on hosts, where all share one label, so
that each needs a host of its own. Spread pods draw their own label and the one that they count
independently. One pool with limits beyond reach, no nodes, no DaemonSets.

Source: Karpenter's `scheduling_benchmark_test.go`; draws are of our own generator, at its seed.
"""

from collections.abc import Iterator, Sequence

from benchmarks import catalogues, documents
from benchmarks.catalogues import PEER_TYPES, PEER_ZONES, Sold
from benchmarks.documents import PREFERRED, REQUIRED, Document
from benchmarks.workloads.workload import Size, Workload
from libs.domain import labels as keys
from libs.runtime.randomness import Random

PODS = 10_000
PREFERENCE_PODS = 4_000

_CPU = (100, 250, 500, 1000, 1500)  # millicores
_MEMORY = (100, 256, 512, 1024, 2048, 4096)  # MiB
_LETTERS = "abcdefg"
_LABEL, _AFFINITY_LABEL = "my-label", "my-affinity"
_NGINX = {"app": "nginx"}
_KINDS = 5
_KIB = 1024
_LIMITS = {"cpu": "10000000", "memory": "10000000Gi"}


def mix(size: Size) -> Workload:
    """Return the peer's mix."""
    return _workload("peer-mix", size, _Draw(size.seed, distinct=False))


def distinct(size: Size) -> Workload:
    """Return the peer's mix, no two pods of which ask for the same."""
    return _workload("distinct", size, _Draw(size.seed, distinct=True))


def preferences(size: Size) -> Workload:
    """Return equal pods: a preference that can be met, one that cannot, one that can."""
    draw = _Draw(size.seed, distinct=False)
    requests = draw.requests(0)

    def pods(kind: int, count: int) -> list[Document]:
        return [
            documents.pod(
                f"pod-{kind}-{number:06}",
                documents.uid(kind, number),
                requests,
                _NGINX,
                affinity=_preferred(),
            )
            for number in range(count)
        ]

    sold = catalogues.peer(size.types or PEER_TYPES)
    count = PREFERENCE_PODS if size.pods is None else size.pods
    return Workload(
        name="preferences",
        sold=sold,
        there=lambda: _pool(sold),
        waiting=lambda: iter(pods(0, count)),
        arriving=lambda number, more: pods(number + 1, more),
    )


def _workload(name: str, size: Size, draw: "_Draw") -> Workload:
    sold = catalogues.peer(size.types or PEER_TYPES)
    count = PODS if size.pods is None else size.pods

    def arriving(number: int, more: int) -> Sequence[Document]:
        return list(draw.again(number + 1).pods(number + 1, more))

    return Workload(
        name=name,
        sold=sold,
        there=lambda: _pool(sold),
        waiting=lambda: draw.again(0).pods(0, count),
        arriving=arriving,
    )


def _pool(sold: Sold) -> Iterator[Document]:
    yield documents.namespace()
    yield documents.node_pool("default", sold.node_class, limits=_LIMITS)


def _preferred() -> Document:
    zone = {"weight": 1, "preference": {"matchExpressions": [documents.in_zone(PEER_ZONES[0])]}}
    apart = [
        {"weight": weight, "podAffinityTerm": documents.term(key, _NGINX)}
        for weight, key in ((10, keys.ZONE), (1, keys.HOSTNAME))
    ]
    return {"nodeAffinity": {PREFERRED: [zone]}, "podAntiAffinity": {PREFERRED: apart}}


class _Draw:
    """Draws pods; the same ones after each `again`."""

    def __init__(self, seed: int, *, distinct: bool, offset: int = 0) -> None:
        self._seed = seed
        self._distinct = distinct
        self._random = Random(seed * 1_000_003 + offset)

    def again(self, offset: int) -> "_Draw":
        return _Draw(self._seed, distinct=self._distinct, offset=offset)

    def pods(self, kind: int, count: int) -> Iterator[Document]:
        fifth = count // _KINDS
        kinds = (self._generic, self._zonal, self._hosted, self._together, self._apart)
        drawn = [make for make in kinds for _ in range(fifth)]
        drawn += [self._generic] * (count - len(drawn))
        for number, make in enumerate(drawn):
            labels, spec = make()
            yield documents.pod(
                f"pod-{kind}-{number:06}",
                documents.uid(kind, number),
                self.requests(number),
                labels,
                **spec,
            )

    def requests(self, number: int) -> dict[str, str]:
        """Return requests; distinct ones are at most 60 millicores and `number` KiB larger."""
        cpu, memory = self._random.choice(_CPU), self._random.choice(_MEMORY)
        if not self._distinct:
            return {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
        cpu += self._random.randrange(1, 60)
        return {"cpu": f"{cpu}m", "memory": f"{memory * _KIB + number}Ki"}

    def _label(self, key: str) -> dict[str, str]:
        return {key: self._random.choice(_LETTERS)}

    def _generic(self) -> tuple[dict[str, str], Document]:
        return self._label(_LABEL), {}

    def _zonal(self) -> tuple[dict[str, str], Document]:
        return self._spread(keys.ZONE)

    def _hosted(self) -> tuple[dict[str, str], Document]:
        return self._spread(keys.HOSTNAME)

    def _spread(self, key: str) -> tuple[dict[str, str], Document]:
        own, counted = self._label(_LABEL), self._label(_LABEL)
        return own, {"topologySpreadConstraints": documents.spread(key, counted)}

    def _together(self) -> tuple[dict[str, str], Document]:
        own = self._label(_AFFINITY_LABEL)
        return own, {
            "affinity": {"podAffinity": {REQUIRED: [documents.term(keys.ZONE, own)]}},
        }

    def _apart(self) -> tuple[dict[str, str], Document]:
        term = documents.term(keys.HOSTNAME, _NGINX)
        return dict(_NGINX), {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}}
