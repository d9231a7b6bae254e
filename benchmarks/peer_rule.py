"""What the peer would do about nodes that are hardly used: one command, found by bisection.

Candidates in the order of price per pod; the longest prefix of at most 100 that can go at once,
its pods finding a place on nodes that stay and at most one new node that costs less than all that
go. If there is none, the first single node that can. A re-statement on top of `Simulate`: the same
solver places the pods.

Source: `docs/sources.md` H8-H11.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.session import Session
from libs.domain.plan import Candidate
from libs.domain.scenario import RemoveNodes, Scenario
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions

MOST_AT_ONCE = 100
_ALONE_AT_ONCE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerCommand:
    """Nodes that go together, and what that saves."""

    nodes: tuple[str, ...] = ()
    moves: int = 0
    saving_nanos_per_hour: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerRule:
    """The rule on one cluster; `prices` are nano-dollars per hour by node."""

    session: Session
    snapshot: ClusterSnapshot
    prices: Mapping[str, int]

    async def command(self, candidates: Sequence[Candidate], most: int) -> PeerCommand:
        """Return the first command, of at most `most` nodes."""
        order = sorted(
            candidates,
            key=lambda one: (-self.prices[one.node] / (1 + len(one.pod_uids)), one.node),
        )
        best = PeerCommand()
        low, high = 1, min(MOST_AT_ONCE, most, len(order))
        while low <= high:
            middle = (low + high) // 2
            (found,) = await self._tried([order[:middle]])
            if found is not None:
                best, low = found, middle + 1
            else:
                high = middle - 1
        return best if best.nodes else await self._single(order)

    async def _single(self, order: Sequence[Candidate]) -> PeerCommand:
        for begin in range(0, len(order), _ALONE_AT_ONCE):
            alone = [[one] for one in order[begin : begin + _ALONE_AT_ONCE]]
            for found in await self._tried(alone):
                if found is not None:
                    return found
        return PeerCommand()

    async def _tried(self, sets: Sequence[Sequence[Candidate]]) -> list[PeerCommand | None]:
        """Return what each set saves, None for one that cannot go or saves nothing."""
        scenarios = [
            Scenario(
                name=str(number), edits=(RemoveNodes(names=tuple(one.node for one in chosen)),)
            )
            for number, chosen in enumerate(sets)
        ]
        answers = await self.session.simulate(self.snapshot, scenarios, SolveOptions())
        found: list[PeerCommand | None] = [None] * len(sets)
        for answer in answers:
            number, solution = int(answer.scenario), answer.solution
            chosen = sets[number]
            saving = sum(self.prices[one.node] for one in chosen)
            saving -= solution.cost.new_nanos_per_hour
            possible = not solution.pods.unplaced and len(solution.plan.nodeclaims) <= 1
            if possible and saving > 0:
                found[number] = PeerCommand(
                    nodes=tuple(one.node for one in chosen),
                    moves=sum(len(one.pod_uids) for one in chosen),
                    saving_nanos_per_hour=saving,
                )
        return found
