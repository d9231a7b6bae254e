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
from services.solver.core import settling
from services.solver.core.ask import Ask
from services.solver.core.bins import Bins, Placement
from services.solver.core.claim_class import ClaimClass
from services.solver.core.limits import PoolLimits
from services.solver.core.precedence import with_less_choice
from services.solver.core.problem import Problem
from services.solver.core.targets import Targets, in_order_of_placement
from services.solver.core.turns import Cause, Event, Turns
from services.solver.core.vectors import Ints
from services.solver.core.workload import Group


class Packer:
    """Packs one problem; afterwards `bins` holds the answer and `left` who has no place."""

    def __init__(self, problem: Problem, cancelled: Callable[[], bool]) -> None:
        self.problem = problem
        self._packing = problem.algebra.packing
        for group in problem.groups:
            # Of a gang nobody waits: no claim is made for a part of it that would settle one.
            self._packing.add_group(not group.existing_only, not any(group.gangs))
        self._cancelled = cancelled
        self._targets = Targets(problem.groups, problem.algebra.ground.standing)
        self._expected: dict[int, tuple[int, ...]] = {}
        """Which pods of its group a placement is of, by its number, where that is not whoever is
        next."""
        self.left = [len(group.uids) for group in problem.groups]
        self._more_tied = with_less_choice(problem.groups)
        self._alone: set[int] = set()
        """Groups that no longer keep to where their companions may run."""
        self._parts = _parts(problem.groups)
        self._turns = Turns([index for part in self._parts for index in part])
        self._buyable: dict[int, list[ClaimClass]] = {}
        """What a group could buy, by index: where it has room, others aside."""
        self.bins = self._state()

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
        self._packing.set_virtual(False)
        self.bins = self._state()
        return True

    def _state(self) -> Bins:
        """Return how packing stands."""
        algebra, packing = self.problem.algebra, self._packing
        placements = zip(*(column.tolist() for column in packing.placements()), strict=True)
        return Bins(
            standing=algebra.ground.standing,
            holdings=algebra.holdings,
            free=packing.free(),
            claims=tuple(self.problem.classes.all[one] for one in packing.classes().tolist()),
            used=packing.used(),
            pods=packing.pods(),
            placements=tuple(
                Placement(group, position, count, self._expected.get(number, ()))
                for number, (group, position, count) in enumerate(placements)
            ),
        )

    def is_deferred(self, group: int) -> bool:
        """Tell whether a group waits for a reservation to be settled."""
        return self._packing.is_deferred(group)

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
        self._packing.set_virtual(self.problem.groups[index].virtual)
        before = self.left[index]
        ask = self.problem.topology.ask(self._hard(index))
        while (where := self._packing.verdict(ask)) is not None:
            bins, counts = self._packing.room(ask, where)
            counts = np.minimum(counts, self._targets.counts(index)[bins])
            if not self._keep_on(index, bins, counts, min(self.left[index], where.batch)):
                break
        return self.left[index] < before

    def _keep_on(self, index: int, bins: Ints, counts: Ints, most: int) -> bool:
        """Place up to so many pods on bins, (n,), on which so many, (n,), are expected."""
        hard, left = self._hard(index), most
        ask = self.problem.topology.ask(hard)
        devices = bool(hard.shape.device_claims)
        for position, room in zip(bins.tolist(), counts.tolist(), strict=True):
            count = min(room, 1 if devices else left, left)
            if count <= 0 or (devices and not self._granted(hard, position)):
                continue
            self._expected[self._packing.placed()] = self._targets.take(index, position, count)
            self._packing.take_standing(index, ask, position, count)
            self.left[index] -= count
            left -= count
            if devices:
                break
        return left < most

    def _granted(self, ask: Ask, position: int) -> bool:
        algebra = self.problem.algebra
        return algebra.grant(algebra.shape(ask.shape), position)

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
        # A real pod may be helped by the node of a virtual one, not by that pod.
        self._packing.set_virtual(self.problem.groups[index].virtual)
        placed = self._place_group(index)
        if self.left[index]:
            self._turns.rest(index, (Event.PLACED,) if placed else self._causes(index))
        if placed:
            self._turns.wake((Event.PLACED, *self.problem.topology.changes()))

    def _causes(self, index: int) -> Iterable[Cause]:
        """Return what may help a group that was refused."""
        topology, hard = self.problem.topology, self._hard(index)
        if self.is_deferred(index):
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
        request = self.problem.dimensions.requests(hard.shape.requests)
        known = self._buyable.get(index)
        if known is None:
            found = topology.ground.new_nodes(hard)
            known = self._buyable[index] = [one for one in found if one.rows_for(request).any()]
        where = topology.verdict(hard) if known else None
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
                tied |= settling.tie(self.problem, self._state(), limits)
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
        topology.settle()
        keys = self._held_open(groups)
        if keys != before:
            # Claims were narrowed by whoever joined them: that alone may have freed somebody.
            return True
        if not keys or not settling.pin(self.problem, self._state(), sorted(keys)):
            return False
        topology.settle()
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
        self._packing.undefer(index)
        led: set[int | None] = set()
        for ask in self._asks(index):
            if ask.leads in led:
                continue
            number = self.problem.topology.ask(ask)
            while self.left[index]:
                placed = self._packing.place(index, number, self._at_once(index, ask))
                self.left[index] -= placed
                self._let_follow(index, placed)
                if placed and ask.leads is not None:
                    led.add(ask.leads)
                    break
                if not placed:
                    break
            # Who waits for a reservation gives up no preference to be spared the wait.
            if not self.left[index] or self.is_deferred(index):
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


def _parts(groups: Sequence[Group]) -> list[list[int]]:
    """Return the groups in parts, each of which is packed before the next one begins."""
    found: dict[tuple[bool, int], list[int]] = defaultdict(list)
    for index, group in enumerate(groups):
        found[group.virtual, group.late].append(index)
    return [part for _, part in sorted(found.items())]
