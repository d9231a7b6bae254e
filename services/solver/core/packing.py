"""The fast stage: first-fit-decreasing by groups of equal pods.

First every pod goes where an earlier plan put it, if it still can: asked again, nothing moves and
nothing is bought. Then, for each group, most demanding first: standing bins in their order, then
this plan's claims, as many pods as make none of them dearer, then more, those with fewest pods
first; then a new claim of the first pool that can.
Groups without topology terms are placed whole; the others in batches as large as their verdict
stays true, often a pod at a time. Groups that other pods may still help are tried again until a
full round places none; until then those rest whom nothing has helped (`turns.py`).

Source: `docs/sources.md` D4, D5, D10, D12.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.requirements import ANYTHING
from services.solver.core import claim_settling
from services.solver.core.ask import Ask
from services.solver.core.bins import Bins
from services.solver.core.claim_class import ClaimClass
from services.solver.core.claim_packing import ClaimPacker
from services.solver.core.limits import PoolLimits
from services.solver.core.precedence import with_less_choice
from services.solver.core.problem import Problem, Request, a_request
from services.solver.core.standing_packing import StandingPacker
from services.solver.core.tally import Opened
from services.solver.core.targets import Targets, in_order_of_placement
from services.solver.core.turns import Cause, Event, Turns
from services.solver.core.verdict import verdict
from services.solver.core.workload import Group


class Packer:
    """Packs one problem; afterwards `bins` holds the answer and `left` who has no place."""

    def __init__(self, problem: Problem, bins: Bins, cancelled: Callable[[], bool]) -> None:
        self.problem = problem
        self._cancelled = cancelled
        self._targets = Targets(problem.groups, bins.standing)
        self.bins = bins
        self.standing = StandingPacker(problem, bins)
        self.claims = ClaimPacker(problem, bins)
        self.left = [len(group.uids) for group in problem.groups]
        self._more_tied = with_less_choice(problem.groups)
        self._alone: set[int] = set()
        """Groups that no longer keep to where their companions may run."""
        self._parts = _parts(problem.groups)
        self._turns = Turns([index for part in self._parts for index in part])
        self._buyable: dict[int, list[ClaimClass]] = {}
        """What a group could buy, by index: where it has room, others aside."""

    def drivers(self, claim: int) -> tuple[str, ...]:
        """Return the drivers whose devices the pods of a claim get of its own node, sorted."""
        devices = self.problem.devices
        return () if devices is None else devices.drivers(claim)

    def run(self) -> bool:
        """Place all that has a place; False if it was cancelled in between."""
        earlier: list[int] = []
        for part in self._parts:
            if not (self._keep_all(part) and self._rounds(part, earlier)):
                return False
            earlier += part
        return True

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, their pods in the order of the placements; those without a place last."""
        return in_order_of_placement(self.problem.groups, self.bins.placements)

    def _keep_all(self, groups: list[int]) -> bool:
        """Place pods where they are expected, until no pod can any more; False if cancelled."""
        while groups:
            progress = False
            for index in groups:
                if self._cancelled():
                    return False
                progress |= self._keep(index)
            groups = [
                index
                for index in groups
                if progress and self._targets.any(index) and self._hard(index).topological
            ]
        return True

    def _keep(self, index: int) -> bool:
        """Place pods of a group where they are expected; what is only preferred does not count."""
        if not self._targets.any(index) or self._is_ignored(index):
            return False
        before = self.left[index]
        request = a_request(index, self._hard(index), self.problem.dimensions)
        while (where := verdict(self.problem.topology, request.ask)) is not None:
            candidates, counts = self.standing.room(request, where)
            counts = np.minimum(counts, self._targets.counts(index)[candidates])
            most = min(self.left[index], where.batch)
            chosen, counts = self.standing.choose(request, candidates, counts, most)
            if not len(chosen):
                break
            self.bins.note_expected(index, chosen, self._targets.take(index, chosen, counts))
            self.standing.take(request, chosen, counts)
            self.left[index] -= int(counts.sum())
        return self.left[index] < before

    def _hard(self, index: int) -> Ask:
        return self.problem.asks[index][-1]

    def _asks(self, index: int) -> tuple[Ask, ...]:
        asks = self.problem.asks[index]
        if index in self._alone:
            return asks
        return tuple(one for one in asks if one.near_companions) or asks

    def _rounds(self, part: list[int], earlier: list[int]) -> bool:
        """Try all groups of a part, then those that others may have helped, until nothing changes.

        Args:
            part: the groups whose turn it is.
            earlier: those that had theirs; what these open may help them, too.
        """
        groups = [*earlier, *part]
        trying = part
        while trying:
            self._turns.begin(trying)
            while (index := self._turns.next()) is not None:
                if self._cancelled():
                    return False
                self._take_turn(index)
            trying = self._given_another_chance([one for one in groups if self.left[one]])
        return True

    def _take_turn(self, index: int) -> None:
        """Place pods of a group; let it rest until others may help the rest of them."""
        placed = self._place_group(index)
        if self.left[index]:
            self._turns.rest(index, (Event.PLACED,) if placed else self._causes(index))
        if placed:
            self._turns.wake((Event.PLACED, *self.problem.topology.changes()))

    def _causes(self, index: int) -> Iterable[Cause]:
        """Return what may help a group that was refused."""
        topology, hard = self.problem.topology, self._hard(index)
        if index in self.claims.deferred:
            return (Event.PLACED,)
        if not hard.topological:
            return ()
        if awaited := topology.awaited(hard):
            return awaited
        # Of shared things others may bring what this one lacks.
        if hard.shape.device_claims or hard.shape.shared_volumes:
            return (Event.PLACED,)
        rules = [topology.rules(ask) for ask in (*self._asks(index), hard)]
        found: set[Cause] = {tally for one in rules for tally in one.helping}
        spread = [rule.tally.on_hosts for one in rules for rule in one.spread]
        if not all(spread):
            found.add(Event.BECOME)
        if any(spread) or self._may_join(index):
            found.add(Event.OPENED)
        return found

    def _may_join(self, index: int) -> bool:
        """Tell whether a pod of a group would fit on some new claim, as its verdict is now."""
        if self.problem.groups[index].existing_only:
            return False
        topology, hard = self.problem.topology, self._hard(index)
        request = a_request(index, hard, self.problem.dimensions).vector
        known = self._buyable.get(index)
        if known is None:
            found = topology.ground.new_nodes(hard)
            known = self._buyable[index] = [one for one in found if one.rows_for(request).any()]
        where = verdict(topology, hard) if known else None
        if where is None:
            return False
        # Of other keys somebody may still bring up a domain.
        bounds = tuple(one for one in where.bounds if one[0] in label_keys.WELL_KNOWN)
        narrowed = (self.problem.classes.narrow(one, ANYTHING, (), bounds) for one in known)
        return any(one is not None and one.rows_for(request).any() for one in narrowed)

    def _given_another_chance(self, groups: list[int]) -> list[int]:
        """Give something up for groups without a place, and return those whom that may help."""
        if self._tie_claims(groups):
            return groups
        alone = [index for index in groups if self._part_from_companions(index)]
        if alone:
            return alone
        if self._pin_claims(groups):
            return groups
        # Only now: what others open makes domains real.
        return [index for index in groups if self._give_up_domains(index)]

    def _tie_claims(self, groups: list[int]) -> bool:
        """Give up the choice of larger types where it uses up a limit; False if it uses up none."""
        tied = False
        for limits in self.problem.limits:
            if limits.claims and any(self._could_buy(index, limits) for index in groups):
                tied |= claim_settling.tie(self.problem, self.bins, limits)
        return tied

    def _could_buy(self, index: int, limits: PoolLimits) -> bool:
        """Tell whether pods of a group could have a node of a pool but for this plan's claims."""
        group = self.problem.groups[index]
        vector = self.problem.dimensions.requests(group.shape.requests)
        ground = self.problem.topology.ground
        return not group.existing_only and any(
            limits.used_up(one.rows_for(vector))
            for one in ground.new_nodes_of(limits.template, self._hard(index))
        )

    def _pin_claims(self, groups: list[int]) -> bool:
        """Give up the choice of domains of claims that hold back a spread; False if none do."""
        topology = self.problem.topology
        before = self._held_open(groups)
        topology.settle(self._opened())
        keys = self._held_open(groups)
        if keys != before:
            # Claims were narrowed by whoever joined them: that alone may have freed somebody.
            return True
        if not keys or not claim_settling.pin(self.problem, self.bins, sorted(keys)):
            return False
        topology.settle(self._opened())
        return True

    def _held_open(self, groups: list[int]) -> frozenset[str]:
        topology = self.problem.topology
        return frozenset[str]().union(*(topology.held_open(self._hard(one)) for one in groups))

    def _part_from_companions(self, index: int) -> bool:
        asks = self.problem.asks[index]
        if index in self._alone or not any(one.near_companions for one in asks):
            return False
        self._alone.add(index)
        return True

    def _opened(self) -> list[Opened]:
        bins = self.bins
        return [Opened(known, used) for known, used in zip(bins.claims, bins.used, strict=True)]

    def _give_up_domains(self, index: int) -> bool:
        """Forget domains that cannot be had; False if there are none."""
        topology = self.problem.topology
        given_up = [topology.give_up_unreachable(ask) for ask in self.problem.asks[index]]
        return any(given_up)

    def _place_group(self, index: int) -> bool:
        before = self.left[index]
        if self._is_ignored(index) or self.problem.topology.awaited(self._hard(index)):
            return False
        self._keep(index)
        self.claims.deferred.discard(index)
        led: set[int | None] = set()
        for ask in self._asks(index):
            if ask.leads in led:
                continue
            request = a_request(index, ask, self.problem.dimensions)
            while self.left[index]:
                placed = self._place_some(request, self._at_once(index, ask))
                self.left[index] -= placed
                self._let_follow(index, placed)
                if placed and ask.leads is not None:
                    led.add(ask.leads)
                    break
                if not placed:
                    break
            # Who waits for a reservation gives up no preference to be spared the wait.
            if not self.left[index] or index in self.claims.deferred:
                break
        return self.left[index] < before

    def _let_follow(self, index: int, placed: int) -> None:
        """Place pods that have less of a choice where those of a group have made room for them.

        Otherwise the group goes on to take the domains that are the only ones for these.
        """
        for other in self._more_tied[index] if placed else ():
            if self.left[other]:
                self._place_group(other)

    def _is_ignored(self, index: int) -> bool:
        """Tell whether the group claims devices and nobody counts them: rather wait than buy."""
        shape = self.problem.groups[index].shape
        return bool(shape.device_claims) and self.problem.devices is None

    def _at_once(self, index: int, ask: Ask) -> int:
        """Return how many pods may look for a place together: of some just one."""
        single = ask.leads is not None or ask.shape.device_claims
        return 1 if single else self.left[index]

    def _place_some(self, request: Request, want: int) -> int:
        if not request.ask.places:
            return 0
        where = verdict(self.problem.topology, request.ask)
        buys = not self.problem.groups[request.group].existing_only
        placed = 0
        if where is not None:
            want = min(want, where.batch)
            placed = self.standing.place(request, where, want)
            if buys and placed < want and self.problem.templates:
                placed += self.claims.join(request, where, want - placed)
        while buys and placed < want:
            opened = self.claims.open(request, where, want - placed)
            if not opened:
                break
            placed += opened
        return placed


def _parts(groups: Sequence[Group]) -> list[list[int]]:
    """Return the groups in parts, each of which is packed before the next one begins."""
    found: dict[tuple[bool, int], list[int]] = defaultdict(list)
    for index, group in enumerate(groups):
        found[group.virtual, group.late].append(index)
    return [part for _, part in sorted(found.items())]
