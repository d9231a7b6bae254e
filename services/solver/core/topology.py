"""Topology: where may a pod go, given where all others are.

Apart because packing asks one question of it, `verdict`, and tells it one thing, `record`. Every
claim on which a counted pod lands is pinned to one domain of the key at once, so that what is
counted is what will be; Karpenter leaves it open, counts nothing or too much, and then buys in
vain.

Source: kube-scheduler's PodTopologySpread and InterPodAffinity; `docs/sources.md` D8 for domains
that do not exist yet: they count as empty as long as this pod could get a node there.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from libs.domain.pod import PodShape
from libs.domain.workload import Namespace
from services.solver.core.arrivals import Arrivals, arrivals
from services.solver.core.ask import Ask
from services.solver.core.counting import count_bound, count_daemons
from services.solver.core.domains import ABSENT, is_single, members
from services.solver.core.ground import Ground
from services.solver.core.rules import Keeper, Rules, SpreadRule
from services.solver.core.tallies import Tallies
from services.solver.core.tally import Opened, Tally, admits_claim, admitted
from services.solver.core.template import Template
from services.solver.core.turns import Cause, Event
from services.solver.core.vectors import Bools, Ints
from services.solver.core.workload import BoundPods, Group


class Topology:
    """Counts of one solve; changed by `record` alone."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._tallies = Tallies(ground)
        self._unreachable: dict[tuple[int, str], int] = defaultdict(int)
        self._bins = len(ground.standing)
        self._opened: list[Opened] = []
        self._noted: set[int] = set()
        self._daemons: dict[int, PodShape] = {}
        """Daemons that some tally counts, by id of the shape."""
        self._arrivals: dict[int, tuple[Arrivals, ...]] = {}
        self._held: set[str] = set()
        """Volume claims with a user that suffers no other one."""
        self._real_hosts: set[int] = set()
        self._claims: dict[int, Opened] = {}
        """What is known of each claim of this plan, by bin."""
        self._changed: set[Cause] = set()

    def register(
        self,
        asks: Iterable[Ask],
        groups: Iterable[Group],
        bound: BoundPods,
        namespaces: dict[str, Namespace],
        daemons: Iterable[PodShape] = (),
    ) -> None:
        """Build every tally that these asks need, and count the pods that run.

        Args:
            asks: of all pods that wait.
            groups: those pods.
            bound: the pods that run.
            namespaces: as selectors see them.
            daemons: shapes of the pods that come to new nodes by themselves.
        """
        by_id = {shape.id: shape for shape in daemons}
        waiting = list(asks)
        shapes = {ask.shape.id: ask.shape for ask in waiting}
        everyone = by_id | shapes | {shape.id: shape for shape in bound.shapes}
        pods = Counter(shape.id for shape in (*by_id.values(), *bound.shapes))
        for group in groups:
            pods[group.shape.id] += len(group.uids)
        alone = frozenset(number for number, count in pods.items() if count == 1)
        self._tallies.build(waiting, everyone, namespaces, alone)
        count_bound(self.ground, self._tallies.counting, bound)
        for shape in bound.shapes:
            self._hold(shape)
        self._daemons = {
            number: shape for number, shape in by_id.items() if self._tallies.counting.get(number)
        }
        count_daemons(self.ground, self._tallies.counting, self._daemons)

    def record(
        self,
        shape: PodShape,
        bins: Ints,
        counts: Ints,
        opened: list[Opened],
        *,
        certain: bool = True,
    ) -> None:
        """Count pods that were placed.

        Args:
            shape: of the pods.
            bins: (n,) bins, standing ones first.
            counts: (n,) pods per bin.
            opened: those bins that are claims, in order.
            certain: whether they will be there whatever is bought.
        """
        self._hold(shape)
        claims = bins[bins >= len(self.ground.standing)].tolist()
        self._claims.update(zip(claims, opened, strict=True))
        for one in opened:
            if one.known.id not in self._noted:
                self._noted.add(one.known.id)
                self._opened.append(one)
                self._changed.add(Event.BECOME)
        for tally in self._tallies.counting.get(shape.id, ()):
            has_key = self._has_key(tally, bins, opened)
            tally.total += int(counts[has_key].sum()) if certain else 0
            self._changed.add(tally)
            if tally.on_hosts:
                seen = has_key & self._admits(tally, bins, opened)
                np.add.at(tally.hosts(self._bins), bins[seen], counts[seen])
                found = list(zip(bins[seen].tolist(), counts[seen].tolist(), strict=True))
            else:
                found = self._by_domain(tally, bins, counts, opened)
                for number, count in found:
                    tally.by_domain[number] += count
            for where, count in () if certain else found:
                tally.doubtful[where] += count

    def _has_key(self, tally: Tally, bins: Ints, opened: list[Opened]) -> Bools:
        """Return (n,): whether each of these bins has the key by which a tally counts."""
        standing, classes = self.ground.standing, self.ground.classes
        found = np.ones(len(bins), np.bool_)
        stands = bins < len(standing)
        if stands.any():
            there = standing.hostnames if tally.on_hosts else self.ground.domain_of(tally.key) != 0
            found[stands] = there[bins[stands]]
        if not tally.on_hosts:
            found[~stands] = [classes.domains(one.known, tally.key) != ABSENT for one in opened]
        return found

    def _hold(self, shape: PodShape) -> None:
        self._held.update(one.claim for one in shape.shared_volumes if one.exclusive)

    def rules(self, ask: Ask) -> Rules:
        """Return what other pods mean for an ask."""
        return self._tallies.rules(ask)

    def keepers(self, ask: Ask) -> Sequence[Keeper]:
        """Return who may keep a pod away by an anti-affinity of their own."""
        return self._tallies.keepers(ask.shape)

    def in_use(self, ask: Ask) -> str:
        """Return a volume claim that one pod at a time may use, and one does; empty if none is."""
        return next((one for one in self.rules(ask).exclusive if one in self._held), "")

    def awaited(self, ask: Ask) -> tuple[Tally, ...]:
        """Return who counts pods that this one has to be near; empty if one is or will be there."""
        for rule in self.rules(ask).affinity:
            if (
                not rule.own
                and not any(tally.total for tally in rule.tallies)
                and all(tally.shapes.isdisjoint(self._daemons) for tally in rule.tallies)
            ):
                return rule.tallies
        return ()

    def changes(self) -> set[Cause]:
        """Return what has changed since this was asked before, and may help somebody."""
        found, self._changed = self._changed, set()
        return found

    def arrivals(self, template: Template) -> tuple[Arrivals, ...]:
        """Return which daemons that others look at come to new nodes of a pool."""
        found = self._arrivals.get(template.index)
        if found is None:
            coming = [one for one in template.daemons if one.ask.shape.id in self._daemons]
            found = tuple(arrivals(template, coming, self._counted_by))
            self._arrivals[template.index] = found
        return found

    def _counted_by(self, daemon: PodShape) -> frozenset[str]:
        """Return the topology keys by which a daemon is counted."""
        return frozenset(tally.key for tally in self._tallies.counting[daemon.id])

    def least_arriving(self, ask: Ask, tally: Tally) -> int:
        """Return how many pods that a tally counts come to any node that the pod could get."""
        if not self._daemons:
            return 0
        return min(
            (
                one.count(tally)
                for template in self.ground.open_to(ask)
                for one in self.arrivals(template)
            ),
            default=0,
        )

    def grow(self, bins: int) -> None:
        """Take note of how many bins there are now."""
        self._bins = bins
        self._changed.add(Event.OPENED)

    def settle(self, opened: list[Opened]) -> None:
        """Look again at all claims of the plan: what one may become narrows as it fills."""
        self._opened = list(opened)
        first = len(self.ground.standing)
        self._claims = {first + number: one for number, one in enumerate(opened)}
        for tally in self._tallies.all.values():
            tally.opened_domains = tally.open_domains = tally.opened_seen = 0
            tally.admits.clear()

    def give_up_unreachable(self, ask: Ask) -> bool:
        """Forget domains that exist only on paper and in which this pod got no node.

        kube-scheduler counts only domains of nodes that exist; an empty one that cannot be had must
        not hold back the others.

        Returns:
            Whether there was any, so that asking again may help.
        """
        changed = False
        for rule in self.rules(ask).spread:
            tally = rule.tally
            if tally.on_hosts:
                changed |= id(ask) not in self._real_hosts
                self._real_hosts.add(id(ask))
                continue
            _, paper = self.eligible(ask, tally)
            if fresh := paper & ~self._unreachable[id(ask), tally.key]:
                self._unreachable[id(ask), tally.key] |= fresh
                changed = True
        return changed

    # How pods are counted.

    def _by_domain(
        self, tally: Tally, bins: Ints, counts: Ints, opened: list[Opened]
    ) -> list[tuple[int, int]]:
        """Return so many pods on these bins as (domain, count)."""
        found = []
        admitted = self._admits(tally, bins, opened)
        number_of = self.ground.domain_of(tally.key)
        claim = iter(opened)
        for bin_index, count, ok in zip(
            bins.tolist(), counts.tolist(), admitted.tolist(), strict=True
        ):
            if bin_index < len(self.ground.standing):
                numbers = [int(number_of[bin_index])]
            else:
                numbers = members(self.ground.classes.domains(next(claim).known, tally.key))
            found += [(number, count) for number in numbers if ok and number > 0]
        return found

    def _admits(self, tally: Tally, bins: Ints, opened: list[Opened]) -> Bools:
        if tally.admission is None or tally.admitted is None:
            return np.ones(len(bins), np.bool_)
        claim = iter(opened)
        found = []
        for bin_index in bins.tolist():
            if bin_index < len(self.ground.standing):
                found.append(bool(tally.admitted[bin_index]))
            else:
                found.append(admits_claim(tally.admission, next(claim), self.ground.classes))
        return np.array(found, np.bool_)

    # What constraints look at.

    def eligible(self, ask: Ask, tally: Tally) -> tuple[int, int]:
        """Return the domains that a spread constraint looks at: real ones, and those on paper."""
        number_of = self.ground.domain_of(tally.key)
        there = number_of if tally.admitted is None else number_of[tally.admitted]
        real = 0
        for number in np.unique(there).tolist():
            if number > 0:
                real |= 1 << number
        self._see_opened(tally)
        real |= tally.opened_domains
        return real, (self._reach(ask, tally.key) | tally.open_domains) & ~real

    def _reach(self, ask: Ask, key: str) -> int:
        """Return the domains in which the pod could get a node, but for those given up."""
        return self.ground.reachable(ask, key) & ~self._unreachable[id(ask), key]

    def held_open(self, ask: Ask) -> frozenset[str]:
        """Return the keys by which claims of this plan that may still go anywhere hold a pod back.

        A claim may come up in a domain that has no pods yet, and that this pod could not fill.
        """
        found = set()
        for rule in self.rules(ask).spread:
            tally = rule.tally
            if not tally.on_hosts:
                _, paper = self.eligible(ask, tally)
                only = tally.open_domains & paper & ~self._reach(ask, tally.key)
                if any(tally.certain.get(number, 0) == 0 for number in members(only)):
                    found.add(tally.key)
        return frozenset(found)

    def _see_opened(self, tally: Tally) -> None:
        """Take note of the domains in which this plan opens nodes that a constraint looks at."""
        classes = self.ground.classes
        for one in self._opened[tally.opened_seen :]:
            seen = 0
            rule = tally.admission
            for known in (one.known,) if rule is None else admitted(rule, one, classes):
                seen |= classes.domains(known, tally.key) & ~ABSENT
            if is_single(classes.domains(one.known, tally.key) & ~ABSENT):
                tally.opened_domains |= seen
            else:
                tally.open_domains |= seen
        tally.opened_seen = len(self._opened)

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return self._bins

    def least_on_hosts(self, ask: Ask, rule: SpreadRule) -> int | None:
        """Return the smallest count on any host that a constraint looks at.

        Who says how many hosts there have to be at least is not given more than that as long as
        they have room.

        Returns:
            None while an empty host can still be had, or where there are too few hosts.
        """
        few = rule.constraint.min_domains
        if few is None and self.ground.templates and id(ask) not in self._real_hosts:
            return None
        counts = rule.tally.certain_hosts(self._bins)[self._looked_at(rule.tally)]
        return None if len(counts) < (few or 1) else int(counts.min())

    def least_expected(self, ask: Ask, rule: SpreadRule) -> int:
        """Return the smallest count on any host while an empty one can still be had.

        Empty means: with the daemons that come to every node.
        """
        if rule.constraint.min_domains is not None:
            return 0
        coming = self.least_arriving(ask, rule.tally)
        if not coming:
            return 0
        counts = rule.tally.certain_hosts(self._bins)[self._looked_at(rule.tally)]
        return min(coming, int(counts.min())) if len(counts) else coming

    def least_with_new_host(self, rule: SpreadRule, coming: int) -> int:
        """Return the smallest count on any host once there is one more, with so many daemons."""
        counts = rule.tally.certain_hosts(self._bins)[self._looked_at(rule.tally)]
        if len(counts) + 1 < (rule.constraint.min_domains or 0):
            return 0
        return min(coming, int(counts.min(initial=coming)))

    def _looked_at(self, tally: Tally) -> Bools:
        """Return (n_bins,): the hosts that a constraint looks at."""
        found = np.ones(self._bins, np.bool_)
        if tally.admitted is not None:
            found[: len(self.ground.standing)] = tally.admitted
        rule = tally.admission
        if rule is None:
            return found
        for position, one in self._claims.items():
            known = tally.admits.get(one.known.id)
            if known is None:
                known = admits_claim(rule, one, self.ground.classes)
                tally.admits[one.known.id] = known
            found[position] = known
        return found
