"""`Case`: one group of pods that looks for a place, and what other pods mean for it, part by part.

Apart from the reasons because each constraint is judged alone here: which one refuses is a question
that packing never asks, since for it all of them hold together.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from libs.domain import labels as label_keys
from libs.domain.reason import Rule
from services.solver.core.packing.problem import Problem
from services.solver.core.pods.ask import Ask
from services.solver.core.topology.verdict import Verdict
from services.solver.core.vectors import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one kind of constraint allows by itself; `where` is None if that is nothing."""

    rule: Rule
    key: str
    ask: Ask
    where: Verdict | None


@dataclass(slots=True, kw_only=True)
class Case:
    """One group; the parts are judged when first asked for."""

    problem: Problem
    ask: Ask
    vector: Ints
    """(n_resources,): what each of its pods requests."""
    deferred: bool = False
    """Whether it only waits for reservations to be settled."""
    _parts: tuple[Part, ...] = field(default=())

    def parts(self) -> tuple[Part, ...]:
        """Return what other pods mean for it, in the order of kube-scheduler's filters.

        The last part is all constraints together: where each alone would do, it is their rule.
        """
        if not self._parts:
            asks = tuple(_alone(self.problem, self.ask))
            whole = asks[0] if len(asks) == 1 else (*asks[1][:2], self.ask)
            self._parts = tuple(
                Part(rule=rule, key=key, ask=ask, where=self.problem.topology.verdict(ask))
                for rule, key, ask in (*asks, whole)
            )
        return self._parts


def a_case(problem: Problem, group: int, *, deferred: bool = False) -> Case:
    """Return the case of a group of the problem, by its hard constraints."""
    ask = problem.asks[group][-1]
    vector = problem.dimensions.requests(ask.shape.requests)
    return Case(problem=problem, ask=ask, vector=vector, deferred=deferred)


def bearing_all(case: Case) -> Case:
    """Return the case of such pods, did they tolerate every taint."""
    return replace(case, ask=replace(case.ask, effects=frozenset()), _parts=())


def _alone(problem: Problem, ask: Ask) -> Iterator[tuple[Rule, str, Ask]]:
    """Yield the ask without its constraints, where only others keep away, then with one of them."""
    bare = replace(ask, spread=(), affinity=(), anti_affinity=())
    yield *_of_others(problem, bare), bare
    for constraint in ask.spread:
        yield Rule.TOPOLOGY_SPREAD, constraint.topology_key, replace(bare, spread=(constraint,))
    for terms in ask.affinity:
        yield Rule.POD_AFFINITY, terms[0].topology_key, replace(bare, affinity=(terms,))
    for term in ask.anti_affinity:
        yield Rule.POD_ANTI_AFFINITY, term.topology_key, replace(bare, anti_affinity=(term,))


def _of_others(problem: Problem, bare: Ask) -> tuple[Rule, str]:
    """Return what a pod without constraints still meets: a shared volume, or who keeps it away."""
    for volume in bare.shape.shared_volumes:
        if volume.topology_key and not problem.volumes.was_there(volume.claim):
            return Rule.VOLUME_TOPOLOGY, volume.topology_key
    keys = [tally.key for tally, _ in problem.topology.rules(bare).apart]
    # No pod is kept off a host that is still to be made.
    wider = [key for key in keys if key != label_keys.HOSTNAME]
    return Rule.POD_ANTI_AFFINITY, next(iter(wider), label_keys.HOSTNAME)
