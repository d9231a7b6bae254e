"""The fast stage: first-fit-decreasing by groups of equal pods.

First every pod goes where an earlier plan put it, if it still can: asked again, nothing moves and
nothing is bought. Then, for each group, most demanding first: standing bins in their order, then
this plan's claims, as many pods as make none of them dearer, then more, those with fewest pods
first; then a new claim of the first pool that can.
Groups without topology terms are placed whole; the others in batches as large as their verdict
stays true, often a pod at a time. Groups that other pods may still help are tried again until a
full round places none; until then those rest whom nothing has helped. Rounds are the kernel's, in
one call that lets other threads have Python meanwhile; between them it is decided here what is
given up for those who have no place.

Source: `docs/sources.md` D4, D5, D10, D12.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain, compress, repeat

import joiner_kernel
import numpy as np

from libs.domain import labels as label_keys
from libs.domain.requirements import ANYTHING
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.offers.limits import PoolLimits
from services.solver.core.packing import settling
from services.solver.core.packing.bins import Bins, Placement
from services.solver.core.packing.nominated import Nominated
from services.solver.core.packing.parts import layers, parts
from services.solver.core.packing.problem import Problem
from services.solver.core.packing.targets import Targets, in_order_of_placement
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.grouping import Group
from services.solver.core.pods.precedence import with_less_choice
from services.solver.core.topology.foreseen import Foreseen
from services.solver.core.topology.grants import needs_grant
from services.solver.core.vectors import Ints


class Packer:
    """Packs one problem; afterwards `bins` holds the answer and `left` who has no place."""

    def __init__(self, problem: Problem, cancelled: Callable[[], bool]) -> None:
        self.problem = problem
        self.cancelled = cancelled
        self._packing = problem.algebra.packing
        self._targets = Targets(problem.groups, problem.algebra.ground.standing)
        self._expected: dict[int, tuple[int, ...]] = {}
        """Which pods of its group a placement is of, by its number, where that is not whoever is
        next."""
        self._nominated = Nominated(problem, self._targets)
        self._parts = parts(problem.groups)
        self._add_groups()
        self.left = self._packing.left()
        self._buyable: dict[int, list[ClaimClass]] = {}
        """What a group could buy, by index: where it has room, others aside."""
        self._known_helping: dict[int, tuple[list[int], list[int]]] = {}
        """What may help a group, by index, and by which of its asks."""
        self.bins = self._state()

    def _add_groups(self) -> None:
        """Tell the kernel of the groups; what they ask for it learns when they have a turn."""
        turn = {index: turn for turn, index in enumerate(chain.from_iterable(self._parts))}
        more_tied = with_less_choice(self.problem.groups)
        for index, group in enumerate(self.problem.groups):
            self._packing.add_group(
                buys=not group.existing_only,
                # Of a gang nobody waits: no claim is made for a part of it that would settle one.
                waits=not any(group.gangs),
                pods=len(group.uids),
                turn=turn[index],
                is_virtual=group.virtual,
                devices=needs_grant(group.shape),
                ignored=self._is_ignored(index),
                expected=self._targets.any(index),
                awaited=self.problem.topology.awaiting(self._hard(index)),
                more_tied=more_tied[index],
                wishes=_wishes(self.problem.asks[index]),
            )
            if group.most_on_claim is not None:
                self._packing.keep_apart(index, group.most_on_claim)

    def drivers(self, claim: int) -> tuple[str, ...]:
        """Return the drivers whose devices the pods of a claim get of its own node, sorted."""
        devices = self.problem.devices
        return () if devices is None else devices.drivers(claim)

    def run(self) -> bool:
        """Place all that has a place; False if it was cancelled in between."""
        earlier: list[int] = []
        by_layer = layers(self.problem.groups)
        for part in self._parts:
            first = self.problem.groups[part[0]]
            # Who goes first takes no place in which somebody else of its layer is expected.
            layer = by_layer.pop(first.layer, [])
            self._nominated.hold_only(part)
            if not self._keep_all([*layer, *part]):
                return False
            if first.nominated:
                self._nominated.hold_left(part)
                continue
            if not self._rounds(part, earlier):
                return False
            earlier += part
        self._packing.set_virtual(False)
        self.bins = self._state()
        self.left = self._packing.left()
        for index, count in self._nominated.held.values():
            self.left[index] += count
        return True

    def surprises(self) -> tuple[Foreseen, ...]:
        """Return what came up after pods were placed whom it keeps from being bound."""
        if not self.bins.claims or not any(asks[-1].spread for asks in self.problem.asks):
            return ()
        hard = [
            self._hard(index) if self._is_spread(index) else None for index in range(len(self.left))
        ]
        return self.problem.topology.surprises(hard)

    def _is_spread(self, index: int) -> bool:
        """Tell whether pods of a group that have a place have to be spread."""
        group = self.problem.groups[index]
        placed = self.left[index] < len(group.uids) and not group.virtual
        return placed and bool(self._hard(index).spread)

    def look_again(self) -> None:
        """Take in what has become of claims since packing ended."""
        self.bins = self._state()

    @property
    def crowded(self) -> frozenset[int]:
        """Groups of nominated pods, by index, that have places only as others lack theirs."""
        return frozenset(self._nominated.crowded)

    def _state(self) -> Bins:
        """Return how packing stands."""
        algebra, packing = self.problem.algebra, self._packing
        columns = (column.tolist() for column in packing.placements())
        placements = list(map(Placement._make, zip(*columns, repeat(()), strict=False)))
        for number, pods in self._expected.items():
            placements[number] = placements[number]._replace(pods=pods)
        held = sorted(self._nominated.held)
        kept = tuple(placements[number] for number in held)
        for number in reversed(held):
            del placements[number]
        return Bins(
            standing=algebra.ground.standing,
            holdings=algebra.holdings,
            free=packing.free(),
            claims=tuple(self.problem.classes.all[one] for one in packing.classes().tolist()),
            used=packing.used(),
            pods=packing.pods(),
            placements=tuple(placements),
            held=kept,
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
        groups = [index for index in groups if self._targets.any(index)]
        while groups:
            progress = False
            for index in groups:
                if self.cancelled():
                    return False
                progress |= self.keep(index)
            groups = [
                index
                for index in groups
                if progress and self._targets.any(index) and self._hard(index).topological
            ]
        return True

    def keep(self, index: int) -> bool:
        """Place pods of a group where they are expected; what is only preferred does not count."""
        if not self._targets.any(index) or self._is_ignored(index):
            return False
        self._packing.set_virtual(self.problem.groups[index].virtual)
        ask = self.problem.topology.ask(self._hard(index))
        kept = False
        while (where := self._packing.verdict(ask)) is not None:
            bins, counts = self._packing.room(ask, where)
            counts = np.minimum(counts, self._targets.counts(index)[bins])
            if not self._keep_on(index, bins, counts, where.batch):
                break
            kept = True
        return kept

    def _keep_on(self, index: int, bins: Ints, counts: Ints, most: int) -> bool:
        """Place up to so many pods on bins, (n,), on which so many, (n,), are expected."""
        hard, left = self._hard(index), most
        ask = self.problem.topology.ask(hard)
        single = needs_grant(hard.shape)
        for position, room in zip(bins.tolist(), counts.tolist(), strict=True):
            count = min(room, 1 if single else left, left)
            if count <= 0 or (single and not self._granted(hard, position)):
                continue
            self._expected[self._packing.placed()] = self._targets.take(index, position, count)
            self._packing.take_standing(index, ask, position, count)
            left -= count
            if single:
                break
        return left < most

    def _granted(self, ask: Ask, position: int) -> bool:
        algebra = self.problem.algebra
        return algebra.grant(algebra.shape(ask.shape), position)

    def _hard(self, index: int) -> Ask:
        return self.problem.asks[index][-1]

    def _rounds(self, part: list[int], earlier: list[int]) -> bool:
        """Try all groups of a part, then those that others may have helped, until nothing changes.

        Args:
            part: the groups whose turn it is.
            earlier: those that had theirs; what these open may help them, too.
        """
        if not self.tell_first_asks(part):
            return False
        groups = [*earlier, *part]
        trying = part
        while trying:
            done = self._packing.take_turns(trying, self)
            self.left = self._packing.left()
            if not done:
                return False
            trying = self._given_another_chance([one for one in groups if self.left[one]])
        return True

    def tell_first_asks(self, part: Iterable[int]) -> bool:
        """Make known what these groups ask for first, so that rounds do not ask.

        Returns:
            False if it was cancelled in between.
        """
        for index in part:
            if self.cancelled():
                return False
            if positions := self._packing.positions(index):
                self._packing.set_ask(index, positions[0], self.ask(index, positions[0]))
        return True

    # What the kernel asks in a round, besides `cancelled` and `keep`.

    def ask(self, index: int, position: int) -> int:
        """Return the number by which the kernel knows an ask of a group."""
        return self.problem.topology.ask(self.problem.asks[index][position])

    def causes(self, index: int) -> list[int]:
        """Return what may help a group that was refused: numbers of tallies, and events."""
        topology, hard = self.problem.topology, self._hard(index)
        if self.is_deferred(index):
            return [joiner_kernel.PLACED]
        if not hard.topological:
            return []
        if awaited := topology.awaited(hard):
            return [tally.number for tally in awaited]
        # Of shared things others may bring what this one lacks.
        if needs_grant(hard.shape) or hard.shape.shared_volumes:
            return [joiner_kernel.PLACED]
        found = self._helping(index)
        if joiner_kernel.OPENED not in found and self._may_join(index):
            return [*found, joiner_kernel.ROOM]
        return found

    def _helping(self, index: int) -> list[int]:
        """Return what may help a group as long as it asks for the same."""
        topology, positions = self.problem.topology, self._packing.positions(index)
        known = self._known_helping.get(index)
        if known is not None and known[0] == positions:
            return known[1]
        asks = [self.problem.asks[index][one] for one in positions]
        rules = [topology.rules(ask) for ask in (*asks, self._hard(index))]
        found = [tally.number for one in rules for tally in one.helping]
        spread = [rule.tally.on_hosts for one in rules for rule in one.spread]
        if not all(spread):
            found.append(joiner_kernel.BECOME)
        if any(spread):
            found.append(joiner_kernel.OPENED)
        self._known_helping[index] = positions, found
        return found

    def _may_join(self, index: int) -> bool:
        """Tell whether a pod of a group would fit on some new claim, as its verdict is now."""
        if self.problem.groups[index].existing_only:
            return False
        topology, hard = self.problem.topology, self._hard(index)
        known = self._buyable.get(index)
        if known is None:
            request = self.problem.dimensions.requests(hard.shape.requests)
            found = topology.ground.new_nodes(hard)
            known = self._buyable[index] = [one for one in found if one.rows_for(request).any()]
        where = topology.verdict(hard) if known else None
        if where is None:
            return False
        if not where.bounds:
            return True
        request = self.problem.dimensions.requests(hard.shape.requests)
        # Of other keys somebody may still bring up a domain.
        bounds = tuple(one for one in where.bounds if one[0] in label_keys.WELL_KNOWN)
        narrowed = (self.problem.classes.narrow(one, ANYTHING, (), bounds) for one in known)
        return any(one is not None and one.rows_for(request).any() for one in narrowed)

    def _given_another_chance(self, groups: list[int]) -> list[int]:
        """Give something up for groups without a place, and return those whom that may help."""
        if self._tie_claims(groups):
            return groups
        alone = [index for index in groups if self._packing.part_from_companions(index)]
        if alone:
            return alone
        if self._pin_claims(groups):
            return groups
        # Only now: what others open makes domains real.
        return [index for index in groups if self._give_up_domains(index)]

    def _tie_claims(self, groups: list[int]) -> bool:
        """Give up the choice of larger types where it uses up a limit; False if it uses up none."""
        tied = False
        for limits in (one for one in self.problem.limits if one.claims):
            small = compress(groups, limits.may_hold(self._requests[groups]).tolist())
            if any(self._could_buy(index, limits) for index in small):
                tied |= settling.tie(self.problem, limits)
        return tied

    @cached_property
    def _requests(self) -> Ints:
        """(n_groups, n_resources): what a pod of each group requests."""
        requests = self.problem.dimensions.requests
        return np.array([requests(group.shape.requests) for group in self.problem.groups])

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
        if not keys or not settling.pin(self.problem, sorted(keys)):
            return False
        topology.settle()
        return True

    def _held_open(self, groups: list[int]) -> frozenset[str]:
        topology = self.problem.topology
        return frozenset[str]().union(*(topology.held_open(self._hard(one)) for one in groups))

    def _give_up_domains(self, index: int) -> bool:
        """Forget domains that cannot be had; False if there are none."""
        topology = self.problem.topology
        given_up = [topology.give_up_unreachable(ask) for ask in self.problem.asks[index]]
        return any(given_up)

    def _is_ignored(self, index: int) -> bool:
        """Tell whether nobody counts the group's devices, or its neighbours: it waits."""
        shape = self.problem.groups[index].shape
        if self.problem.algebra.grants.ignores(shape):
            return True
        return self.problem.topology.is_entangled(shape)


def _wishes(asks: Sequence[Ask]) -> list[tuple[int, bool]]:
    """Return of each ask whom the first pod by it leads, -1 for nobody, and if it keeps near."""
    leads = list(dict.fromkeys(one.leads for one in asks if one.leads is not None))
    return [
        (-1 if one.leads is None else leads.index(one.leads), one.near_companions) for one in asks
    ]
