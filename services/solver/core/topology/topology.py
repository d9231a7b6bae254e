"""Topology: who has to be counted for whom, and where a pod may go, given where all others are.

Apart because it is the one place that knows both what constraints say and what the kernel counts.
Every claim on which a counted pod lands is pinned to one domain of the key at once, so that what is
counted is what will be; Karpenter leaves it open, counts nothing or too much, and then buys in
vain.

Source: kube-scheduler's PodTopologySpread and InterPodAffinity; `docs/sources.md` D8 for domains
that do not exist yet: they count as empty as long as this pod could get a node there.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from libs.domain.pod import PodShape
from libs.domain.workload import Namespace
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.grouping import Group
from services.solver.core.reading.bound_pods import BoundPods
from services.solver.core.topology.algebra import Algebra
from services.solver.core.topology.arrivals import Arrivals, arrivals
from services.solver.core.topology.counting import count_bound, count_daemons
from services.solver.core.topology.foreseen import Foreseen
from services.solver.core.topology.rules import Keeper, Rules, SpreadRule
from services.solver.core.topology.tallies import Tallies
from services.solver.core.topology.tally import Tally
from services.solver.core.topology.verdict import Verdict


class Topology:
    """Constraints and counts of one solve."""

    def __init__(self, algebra: Algebra) -> None:
        self.ground = algebra.ground
        self._algebra = algebra
        self._packing = algebra.packing
        self._tallies = Tallies(algebra)
        self._daemons: dict[int, PodShape] = {}
        """Daemons that some tally counts, by id of the shape."""
        self._arrivals: tuple[tuple[Arrivals, ...], ...] = ()

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
        pods = Counter((*by_id, *(number for number in shapes if number in bound.by_shape)))
        for group in groups:
            pods[group.shape.id] += len(group.uids)
        alone = frozenset(number for number, count in pods.items() if count == 1)
        self._tallies.build(waiting, by_id | shapes, bound, namespaces, alone)
        counting = self._tallies.counting
        count_bound(self._packing, self.ground, counting, bound)
        for shape in bound.with_shared_volumes():
            if any(one.exclusive for one in shape.shared_volumes):
                self._packing.hold(self._algebra.shape(shape))
        self._daemons = {number: shape for number, shape in by_id.items() if counting.get(number)}
        count_daemons(self._packing, self.ground, counting, self._daemons)
        self._arrivals = tuple(
            tuple(
                arrivals(
                    template,
                    [one for one in template.daemons if one.ask.shape.id in self._daemons],
                    self._counted_by,
                )
            )
            for template in self.ground.templates
        )
        self._algebra.set_arrivals(self._arrivals)

    def foresee(self, foreseen: Iterable[Foreseen]) -> None:
        """Let constraints look at what later claims will make."""
        for one in foreseen:
            tally = self._tallies.all[one.tally]
            domain = self.ground.domains.number(one.key, one.value) if one.value else None
            self._packing.foresee(tally.number, domain, one.pods)

    def surprises(self, hard: Sequence[Ask | None]) -> tuple[Foreseen, ...]:
        """Return what came up after pods were placed whom it keeps from being bound.

        Args:
            hard: by group what its pods cannot give up; None for those that are not spread.
        """
        asks = [-1 if ask is None else self.ask(ask) for ask in hard]
        found = self._packing.surprises(asks)
        tallies = {one.number: (name, one.key) for name, one in self._tallies.all.items() if found}
        value = self.ground.domains.value
        return tuple(
            Foreseen(
                tally=tallies[tally][0],
                key=tallies[tally][1],
                value="" if domain is None else value(tallies[tally][1], domain),
                pods=pods,
                avoidable=avoidable,
            )
            for tally, domain, pods, avoidable in found
        )

    def ask(self, ask: Ask) -> int:
        """Return the number by which the kernel knows an ask."""
        number = self._algebra.known(ask)
        return self._algebra.add_ask(ask, self.rules(ask)) if number is None else number

    def rules(self, ask: Ask) -> Rules:
        """Return what other pods mean for an ask."""
        return self._tallies.rules(ask)

    def is_entangled(self, shape: PodShape) -> bool:
        """Tell whether pods of a shape wait because they select too many others to count."""
        return shape.id in self._tallies.entangled

    def keepers(self, ask: Ask) -> Sequence[Keeper]:
        """Return who may keep a pod away by an anti-affinity of their own."""
        return self._tallies.keepers(ask.shape)

    def in_use(self, ask: Ask) -> str:
        """Return a volume claim that one pod at a time may use, and one does; empty if none is."""
        is_held, number = self._packing.is_held, self._algebra.volume_claim
        return next((one for one in self.rules(ask).exclusive if is_held(number(one))), "")

    def awaited(self, ask: Ask) -> tuple[Tally, ...]:
        """Return who counts pods that this one has to be near; empty if one is or will be there."""
        for tallies in self._awaiting(ask):
            if not any(tally.total for tally in tallies):
                return tallies
        return ()

    def awaiting(self, ask: Ask) -> list[list[int]]:
        """Return who counts pods that this one has to be near: numbers of tallies, for each rule.

        What the pod meets itself, or a daemon of a new node does, is not in it.
        """
        return [[tally.number for tally in tallies] for tallies in self._awaiting(ask)]

    def _awaiting(self, ask: Ask) -> list[tuple[Tally, ...]]:
        if self.is_entangled(ask.shape):
            return []
        return [
            rule.tallies
            for rule in (self.rules(ask).affinity if ask.affinity else ())
            if not rule.own
            and all(tally.shapes.isdisjoint(self._daemons) for tally in rule.tallies)
        ]

    def arrivals(self, pool: int) -> tuple[Arrivals, ...]:
        """Return which daemons that others look at come to new nodes of a pool, by its index."""
        return self._arrivals[pool]

    def _counted_by(self, daemon: PodShape) -> frozenset[str]:
        """Return the topology keys by which a daemon is counted."""
        return frozenset(tally.key for tally in self._tallies.counting[daemon.id])

    def verdict(self, ask: Ask, pool: int | None = None, kind: int = 0) -> Verdict | None:
        """Return where the next pods of an ask may go; None if nowhere.

        Args:
            ask: what is asked for.
            pool: only new nodes of this pool count, to which others come first.
            kind: which of the pool's arrivals these are.
        """
        found = self._packing.verdict(self.ask(ask), pool, kind)
        if found is None:
            return None
        name = self._algebra.key_name
        return Verdict(
            bounds=tuple(sorted((name(key), bits) for key, bits in found.bounds)),
            pins=tuple(sorted(map(name, found.pins))),
            caps=found.caps,
            new_cap=found.new_cap,
        )

    def settle(self) -> None:
        """Look again at all claims of the plan: what one may become narrows as it fills."""
        self._packing.settle()

    def give_up_unreachable(self, ask: Ask) -> bool:
        """Forget domains that exist only on paper and in which this pod got no node.

        kube-scheduler counts only domains of nodes that exist; an empty one that cannot be had must
        not hold back the others.

        Returns:
            Whether there was any, so that asking again may help.
        """
        return self._packing.give_up_unreachable(self.ask(ask))

    def held_open(self, ask: Ask) -> frozenset[str]:
        """Return the keys by which claims of this plan that may still go anywhere hold a pod back.

        A claim may come up in a domain that has no pods yet, and that this pod could not fill.
        """
        return frozenset(map(self._algebra.key_name, self._packing.held_open(self.ask(ask))))

    def eligible(self, ask: Ask, tally: Tally) -> tuple[int, int]:
        """Return the domains that a spread constraint looks at: real ones, and those on paper."""
        return self._packing.eligible(self.ask(ask), tally.number)

    def can_have_new_host(self, ask: Ask, rule: SpreadRule) -> bool:
        """Tell whether an empty host can still be had, as a spread over hosts counts it."""
        number = self.rules(ask).spread.index(rule)
        return self._packing.least_on_hosts(self.ask(ask), number) is None
