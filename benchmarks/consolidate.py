"""`joiner bench consolidate`: what giving up and replacing nodes saves, beside the peer's rule.

Two results: free, and held to what the peer's command does. Without a node budget the second may
move as many pods as that command; with one both keep it, and ours may move half as many again.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks import catalogues
from benchmarks.documents import decoded
from benchmarks.peer_rule import PeerCommand, PeerRule
from benchmarks.process import solver_process
from benchmarks.quality import on_demand
from benchmarks.record import Outcome, Record, Sizes
from benchmarks.session import MoveBounds, Session, session
from benchmarks.solve import Tell
from benchmarks.workloads import cluster
from benchmarks.workloads.workload import Size, Workload
from libs.domain import labels as keys
from libs.domain.plan import Candidate
from libs.domain.question import Consolidation
from libs.domain.snapshot import ClusterSnapshot

NODES = 500
POOL = "default"
_MORE_MOVES = 1.5
_NANOS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How it is run."""

    repeat: int = 3
    node_budget_percent: float | None = None
    """Most nodes of the pool that may be given up; None: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    name: str
    snapshot: ClusterSnapshot
    seconds: Sequence[float]
    answer: Consolidation
    peer: PeerCommand
    cost_nanos_per_hour: int
    """Of the cluster before."""
    peak_rss_bytes: int | None


def underused(size: Size, utilisation: tuple[float, float]) -> Workload:
    """Return a cluster of random on-demand types of c, m and r, filled to random shares."""
    sold = catalogues.ec2(size.types, size.families or ("c", "m", "r"))

    def there() -> Iterator[dict[str, object]]:
        yield from cluster.platform(sold)
        yield from cluster.underused(sold, size.nodes or NODES, utilisation, size.seed)

    workload = Workload(
        name="underused",
        sold=sold,
        there=there,
        waiting=lambda: iter(()),
        arriving=lambda _number, _more: (),
    )
    return on_demand(workload)


def bench_consolidate(workload: Workload, course: Course, tell: Tell) -> list[Record]:
    """Run a cluster and return what came of it, free and held to the peer's command."""
    types = len(workload.sold.instance_types)
    return [_record(one, types) for one in asyncio.run(_ask(workload, course, tell))]


async def _ask(workload: Workload, course: Course, tell: Tell) -> list[_Found]:
    found = []
    async with solver_process() as solver:
        await solver.wait_listening()
        async with session(solver.address, workload.sold, "consolidate") as one:
            tell("preparing")
            one.ingest(decoded(workload.there()))
            snapshot = one.snapshot()
            await one.push(snapshot)
            prices = _prices(snapshot)
            candidates = _candidates(snapshot)
            budget = _budget(len(candidates), course)
            tell("finding the peer's command")
            rule = PeerRule(session=one, snapshot=snapshot, prices=prices)
            peer = await rule.command(candidates, len(candidates) if budget is None else budget)
            bounds = _bounds(budget, peer)
            for name, bound in bounds.items():
                tell(f"consolidating, {name}")
                seconds, answer = await _timed(one, snapshot, candidates, bound, course.repeat)
                found.append(
                    _Found(
                        name=name,
                        snapshot=snapshot,
                        seconds=seconds,
                        answer=answer,
                        peer=peer,
                        cost_nanos_per_hour=sum(prices.values()),
                        peak_rss_bytes=solver.peak_rss_bytes(),
                    )
                )
    return found


async def _timed(
    one: Session,
    snapshot: ClusterSnapshot,
    candidates: Sequence[Candidate],
    bounds: MoveBounds,
    repeat: int,
) -> tuple[list[float], Consolidation]:
    seconds = []
    for _ in range(repeat):
        one.spare()
        begun = one.clock.monotonic()
        answer = await one.consolidate(snapshot, candidates, bounds)
        seconds.append(one.clock.monotonic() - begun)
    return seconds, answer


def _budget(nodes: int, course: Course) -> int | None:
    percent = course.node_budget_percent
    return None if percent is None else int(nodes * percent / 100)


def _bounds(budget: int | None, peer: PeerCommand) -> dict[str, MoveBounds]:
    if budget is None:
        return {"free": MoveBounds(), "equal-moves": MoveBounds(most_moves=peer.moves)}
    budgets = ((POOL, budget),)
    return {
        "free": MoveBounds(node_budgets=budgets),
        "more-moves": MoveBounds(node_budgets=budgets, most_moves=int(_MORE_MOVES * peer.moves)),
    }


def _prices(snapshot: ClusterSnapshot) -> Mapping[str, int]:
    """Return what each node costs in nano-dollars per hour."""
    sold = {
        (kind.name, one.zone, one.capacity_type): one.price_nanos_per_hour
        for catalogue in snapshot.catalogues.values()
        for kind in catalogue.instance_types
        for one in kind.offerings
    }
    found = {}
    for node in snapshot.nodes.values():
        labels = dict(node.labels)
        place = labels[keys.INSTANCE_TYPE], labels[keys.ZONE], labels[keys.CAPACITY_TYPE]
        found[node.name] = sold[place]
    return found


def _candidates(snapshot: ClusterSnapshot) -> list[Candidate]:
    """Return every node as a candidate, with the pods that would have to move."""
    pods: dict[str, list[str]] = {name: [] for name in snapshot.nodes}
    for row in snapshot.pods.rows():
        if row.node and row.reschedulable:
            pods[row.node].append(row.uid)
    return [
        Candidate(
            nodeclaim=node.nodeclaim,
            nodeclaim_uid=snapshot.nodeclaims[node.nodeclaim].uid,
            node=node.name,
            nodepool=POOL,
            pod_uids=tuple(sorted(pods[node.name])),
        )
        for node in snapshot.nodes.values()
    ]


def _record(found: _Found, types: int) -> Record:
    commands, peer = found.answer.commands, found.peer
    saving = sum(one.saving_nanos_per_hour for one in commands)
    moves = sum(len(candidate.pod_uids) for one in commands for candidate in one.candidates)
    return Record(
        name=f"consolidate/{found.name}",
        sizes=Sizes(pods=len(found.snapshot.pods), types=types, nodes=len(found.snapshot.nodes)),
        seconds=found.seconds,
        peak_rss_bytes=found.peak_rss_bytes,
        outcome=Outcome(
            placed=moves,
            unplaced=0,
            new_nodes=sum(len(one.replacements) for one in commands),
            cost_nanos_per_hour=found.cost_nanos_per_hour - saving,
            lower_bound_nanos_per_hour=None,
            violations=None,
        ),
        more={
            "cost_before_per_hour": found.cost_nanos_per_hour / _NANOS,
            **_saved("", saving, moves, found.cost_nanos_per_hour),
            "commands": len(commands),
            "nodes_given_up": sum(len(one.candidates) for one in commands),
            **_saved("peer_", peer.saving_nanos_per_hour, peer.moves, found.cost_nanos_per_hour),
            "peer_nodes_given_up": len(peer.nodes),
            "savings_to_peer": _share(saving, peer.saving_nanos_per_hour),
        },
    )


def _saved(prefix: str, saving: int, moves: int, cost: int) -> dict[str, object]:
    return {
        f"{prefix}savings_per_hour": saving / _NANOS,
        f"{prefix}savings_percent": round(100 * saving / cost, 2),
        f"{prefix}moves": moves,
        f"{prefix}evictions_per_dollar_per_hour": _share(moves * _NANOS, saving),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
