"""From leavers to commands: choose by sums, prove by packing, choose again without what failed.

Nodes are given up one by one, those first that are worth most for each pod moved; who finds no
other places is replaced, together with others where one new node does for several.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from libs.domain.blockers import blocker
from libs.domain.blocking import BlockerKind
from libs.domain.plan import Blocker
from services.solver.core.consolidating.balance import Balance
from services.solver.core.consolidating.budgets import Budgets
from services.solver.core.consolidating.choice import Choice, Wares, wares
from services.solver.core.consolidating.delete_set import chosen
from services.solver.core.consolidating.leavers import Leaver
from services.solver.core.consolidating.remains import Remains, has_room, spare
from services.solver.core.consolidating.teams import cheapest, team
from services.solver.core.consolidating.trial import Attempt, Bench, Failure, Found, attempt
from services.solver.core.offers.template import Template
from services.solver.core.vectors import Ints

_MOST_ROUNDS = 4
UNBALANCED = "it disturbs more of its pool than it saves of what the pool costs"
_NOT_WORTH = "what it saves is not worth moving its pods"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What the caller allows."""

    budgets: Budgets
    move_price: int
    """Nano-dollars per hour of saving that moving one pod is worth."""
    most_moves: int | None
    balance: Balance
    """What balanced pools approve of."""
    devices: bool
    """Whether pods may move that claim devices."""


class Chooser:
    """Finds commands; afterwards `found` holds them and `blockers` why the others stay."""

    def __init__(
        self, bench: Bench, remains: Remains, leavers: Sequence[Leaver], bounds: Bounds
    ) -> None:
        self._bench = bench
        self._remains = remains
        self._leavers = {one.node: one for one in leavers}
        self._bounds = bounds
        self._wares = _wares(remains.encoded.templates, len(remains.encoded.dimensions.names))
        self._gone: set[str] = set()
        self._budgets = bounds.budgets
        self._receiving: set[str] = set()
        """Nodes that pods move to: they stay, so that no pod moves twice."""
        self._devices = bounds.devices
        """Whether devices are as the snapshot says; who gets which is not known afterwards."""
        self.found: list[Found] = []
        self.blockers: dict[str, Blocker] = {}

    def run(self) -> None:
        """Choose and prove until nothing new is chosen, or nothing chosen has failed."""
        for _ in range(_MOST_ROUNDS):
            picked = chosen(self._choice(), self._bench.cancelled)
            failed = self._give_up(picked)
            if not failed:
                break
            self._replace(failed)
        left = self._choice()
        self.blockers |= {one.node: self._why(one, left) for one in left.leavers}
        taking = "it takes pods of nodes that are given up"
        for node in self._receiving & self._leavers.keys():
            self.blockers[node] = blocker(BlockerKind.NOT_CHOSEN, taking)

    def _choice(self) -> Choice:
        moves = sum(one.moves for one in self.found)
        most = self._bounds.most_moves
        here = tuple(one for _, one in sorted(self._leavers.items()) if self._may_go(one))
        names, free = spare(self._remains)
        of = dict(zip(names, free, strict=True))
        nothing = np.zeros(len(self._remains.encoded.dimensions.names), np.int64)
        own = np.array([of.get(one.node, nothing) for one in here], np.int64)
        return Choice(
            leavers=here,
            own=own.reshape(len(here), len(nothing)),
            free=free.sum(axis=0),
            wares=self._wares,
            budgets=self._budgets,
            move_price=self._bounds.move_price,
            most_moves=None if most is None else most - moves,
        )

    def _may_go(self, leaver: Leaver) -> bool:
        node = leaver.node
        return not (node in self._gone or node in self._receiving or node in self.blockers)

    def _why(self, leaver: Leaver, choice: Choice) -> Blocker:
        """Return what there is to say, from sums alone, of a node that was not chosen."""
        pool = leaver.candidate.nodepool
        if not choice.budgets.allows((leaver,)):
            message = f'nodepool "{pool}" may not give up any more nodes as {leaver.reason}'
            return blocker(BlockerKind.BUDGET, message, pool)
        if choice.most_moves is not None and leaver.moves > choice.most_moves:
            return blocker(BlockerKind.NOT_CHOSEN, "no more pods may be moved")
        if leaver.moves and choice.worth(leaver) <= 0:
            return blocker(BlockerKind.NOT_CHEAPER, _NOT_WORTH)
        fits = has_room(self._remains, leaver.load, {leaver.node})
        if not fits and cheapest(leaver.load[None], self._wares)[0] >= leaver.price:
            message = "its pods have no other place, and nothing that has room for them is cheaper"
            return blocker(BlockerKind.NOT_CHEAPER, message)
        return blocker(BlockerKind.NOT_CHOSEN, "to give up others is worth more")

    def _give_up(self, picked: Sequence[Leaver]) -> list[Leaver]:
        """Give nodes up whose pods find places on others; return those whose pods do not."""
        waiting = {one.node for one in picked}
        failed = []
        for leaver in picked:
            if leaver.node in self._receiving or not self._budgets.allows((leaver,)):
                waiting.discard(leaver.node)
                continue
            fits = has_room(self._remains, leaver.load, waiting)
            if not fits or self._try((leaver,), waiting, buys=False) is not None:
                failed.append(leaver)
            else:
                waiting.discard(leaver.node)
        return failed

    def _replace(self, failed: Iterable[Leaver]) -> None:
        """Replace nodes, several by one where that is cheaper; what cannot be replaced stays."""
        left = sorted(failed, key=lambda one: (-one.price, one.node))
        while left:
            first, *others = left
            together = team(first, others, self._wares)
            while together and not self._budgets.allows(together):
                together = together[:-1]
            if not together:
                left = others
                continue
            waiting = {one.node for one in left}
            failure = self._try(together, waiting, buys=True)
            while failure is not None and len(together) > 1:
                together = team(first, together[1 : len(together) // 2], self._wares)
                failure = self._try(together, waiting, buys=True)
            if failure is not None:
                self.blockers[first.node] = _blocker(failure)
            gone = {one.node for one in together}
            left = [one for one in left if one.node not in gone]

    def _try(
        self, leavers: tuple[Leaver, ...], waiting: Iterable[str], *, buys: bool
    ) -> Failure | None:
        claiming = any(one.claims_devices for one in leavers)
        if claiming and not self._devices:
            return Failure(message="devices are handed out to other pods first")
        wanted = Attempt(leavers=leavers, closed=frozenset(waiting), buys=buys)
        outcome = attempt(self._bench, self._remains, wanted)
        if isinstance(outcome, Failure):
            return outcome
        if outcome.moves and outcome.saving <= self._bounds.move_price * outcome.moves:
            return Failure(message=_NOT_WORTH)
        if outcome.moves and not self._bounds.balance.approves(leavers, outcome.saving):
            return Failure(message=UNBALANCED)
        self._devices &= not claiming
        self._remains = outcome.remains
        self._receiving.update(one.target for one in outcome.nominations)
        self._gone.update(one.node for one in outcome.leavers)
        self._budgets = self._budgets.without(outcome.leavers)
        self.found.append(outcome)
        return None


def _blocker(failure: Failure) -> Blocker:
    kind = BlockerKind.NO_PLACE if failure.pod_uid else BlockerKind.NOT_CHEAPER
    return blocker(kind, failure.message, failure.pod_uid)


def _wares(templates: Iterable[Template], resources: int) -> Wares:
    """Return what the pools sell: each row at the price of its cheapest offering."""
    prices: list[Ints] = [np.zeros(0, np.int64)]
    rooms: list[Ints] = [np.zeros((0, resources), np.int64)]
    for template in templates:
        columns = template.columns
        offered = np.flatnonzero(template.offerings)
        ordered = offered[columns.rank[offered].argsort()]
        rows, first = np.unique(columns.row[ordered], return_index=True)
        prices.append(columns.price[ordered[first]])
        rooms.append(template.room[rows])
    return wares(np.concatenate(prices), np.concatenate(rooms))
