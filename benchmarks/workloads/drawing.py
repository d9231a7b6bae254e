"""Deployments: few large ones, many small ones, requests as people write them.

Replicas fall off like 1/rank^0.9. Requests are round numbers or, for two in five, what a
recommender would write; memory per CPU is log-normal around 3.2 GiB. Of the workloads a quarter
spreads over zones, 15 % over hosts, 8 % keep their pods apart and 4 % together; a tenth each are
pinned to an architecture and to on-demand capacity, 5 % to a zone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks import documents
from benchmarks.catalogues import EC2_ZONES
from benchmarks.documents import REQUIRED, Document
from libs.domain import labels as keys
from libs.runtime.randomness import Random

_CPU = (50, 100, 200, 250, 500, 1000, 1500, 2000, 3000, 4000)  # millicores
_CPU_WEIGHTS = (80, 170, 100, 200, 200, 130, 40, 50, 15, 15)
_GIB_PER_CPU, _GIB_SIGMA = 3.2, 0.75
_LEAST_MIB, _MOST_MIB = 64, 30_000
_FEW_REPLICAS = 60
_MOST_APART = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A workload; `spec` is the rest of its pods' spec."""

    name: str
    replicas: int
    requests: dict[str, str]
    spec: Document

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of its pods."""
        return {"app": self.name, "pod-template-hash": "7d4b9c6f5"}

    def pod(self, kind: int, number: int) -> Document:
        """Return a waiting pod; number and kind are unlike those of all other pods."""
        name = f"{self.name}-7d4b9c6f5-{kind}-{number:06}"
        made = documents.pod(
            name, documents.uid(kind, number), self.requests, self.labels, **self.spec
        )
        return documents.owned(made, self.name)


def draw(count: int, seed: int, *, pinned: bool = True) -> tuple[Deployment, ...]:
    """Return workloads of `count` pods in all.

    Args:
        count: pods.
        seed: of the draw.
        pinned: whether some are pinned to an architecture, a capacity type or a zone.
    """
    random = Random(seed)
    if not count:
        return ()
    return tuple(
        _deployment(random, f"app-{number:04}", replicas, pinned=pinned)
        for number, replicas in enumerate(_replicas(random, count))
    )


def pods(drawn: Sequence[Deployment], kind: int) -> Iterator[Document]:
    """Yield all pods of the workloads, waiting."""
    numbers = iter(range(sum(one.replicas for one in drawn)))
    for one in drawn:
        for _ in range(one.replicas):
            yield one.pod(kind, next(numbers))


def arrivals(drawn: Sequence[Deployment], number: int, count: int, seed: int) -> Sequence[Document]:
    """Return pods that workloads of the cluster add, others for each round."""
    random = Random(seed * 1_000_003 + number + 1)
    owners = drawn or draw(max(count, 1), seed)
    chosen = random.choices(owners, weights=[one.replicas for one in owners], k=count)
    return [one.pod(number + 1, index) for index, one in enumerate(chosen)]


def _replicas(random: Random, count: int) -> list[int]:
    workloads = min(count, max(8, int(count**0.62)))
    weights = [1 / rank**0.9 for rank in range(1, workloads + 1)]
    found = [max(1, int(count * weight / sum(weights))) for weight in weights]
    while sum(found) > count:
        found[found.index(max(found))] -= 1
    found[0] += count - sum(found)
    random.shuffle(found)
    return found


def _deployment(random: Random, name: str, replicas: int, *, pinned: bool) -> Deployment:
    requests = draw_requests(random)
    spec = _neighbours(random, {"app": name}, replicas)
    if pinned:
        spec |= _pins(random)
    return Deployment(name=name, replicas=replicas, requests=requests, spec=spec)


def draw_requests(random: Random) -> dict[str, str]:
    """Return the requests of one workload."""
    (cpu,) = random.choices(_CPU, weights=_CPU_WEIGHTS)
    gib = _GIB_PER_CPU * random.lognormvariate(0, _GIB_SIGMA)
    mib = min(max(_LEAST_MIB, cpu / 1000 * gib * 1024), _MOST_MIB)
    if random.random() < 0.6:
        mib = _LEAST_MIB * max(1, round(mib / _LEAST_MIB))
    if random.random() < 0.4:
        cpu = round(cpu * random.uniform(0.6, 1.4))
    return {"cpu": f"{max(10, cpu)}m", "memory": f"{int(mib)}Mi"}


def _neighbours(random: Random, own: dict[str, str], replicas: int) -> Document:
    """Return the rules about other pods; those that need a host each are for the small ones."""
    chance = random.random()
    if chance < 0.25:
        return {"topologySpreadConstraints": documents.spread(keys.ZONE, own)}
    if chance < 0.40:
        skew = random.choice((1, 2, 3)) if replicas < _FEW_REPLICAS else 5
        return {"topologySpreadConstraints": documents.spread(keys.HOSTNAME, own, skew)}
    if chance < 0.48 and replicas < _MOST_APART:
        return {"affinity": {"podAntiAffinity": {REQUIRED: [documents.term(keys.HOSTNAME, own)]}}}
    if chance < 0.52:
        return {"affinity": {"podAffinity": {REQUIRED: [documents.term(keys.ZONE, own)]}}}
    return {}


def _pins(random: Random) -> Document:
    chosen = {}
    if random.random() < 0.10:
        chosen[keys.ARCH] = random.choice(("amd64", "arm64"))
    if random.random() < 0.10:
        chosen[keys.CAPACITY_TYPE] = keys.ON_DEMAND
    if random.random() < 0.05:
        chosen[keys.ZONE] = random.choice(EC2_ZONES)
    return {"nodeSelector": chosen} if chosen else {}
