"""What judges that share nothing with the solver say about its plan for a cluster.

Apart from the tests so that a long run (`python -m tests.support.long_run`) asks the same.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from libs.checker.plan import check_solution
from libs.domain.pod import PodShape
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution, with_unplaced
from libs.oracle.check import Violation
from services.solver.core.solve import solve
from tests.support.mixed import Loaded
from tests.support.reference import reference_solve, takers


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One plan, judged."""

    solution: Solution
    refused: tuple[Violation, ...]
    """What the checker has against the plan."""
    overlooked: dict[str, tuple[str, ...]]
    """Who could have a place alone once the plan is carried out, by uid, and where."""
    beyond_reference: int
    """How many more pods are placed than one by one; negative: fewer.

    Who waits for a reservation to be settled, as rules say (`docs/sources.md` D10, D12), counts as
    placed if the reference placed it: pod by pod other ones may have the last instance.
    """
    passed_over: int | None
    """Highest priority of which not as many pods are placed as one by one, if fewer are."""


def judged(loaded: Loaded) -> Judgement:
    """Solve the cluster and judge the plan."""
    found = with_unplaced(solve(loaded.snapshot, loaded.options), loaded.left_out)
    reference = reference_solve(
        loaded.cluster, loaded.snapshot, loaded.options, daemon_sets=loaded.daemon_sets
    )
    refused = check_solution(loaded.cluster, loaded.snapshot, found, daemon_sets=loaded.daemon_sets)
    return Judgement(
        solution=found,
        refused=tuple(refused),
        # What becomes of a plan that is wrong says nothing.
        overlooked={} if refused else _overlooked(loaded, found),
        beyond_reference=found.pods.on_existing
        + found.pods.on_new
        - len(reference.places.keys() - _deferred(found)),
        passed_over=_passed_over(loaded.snapshot, found, reference.places),
    )


def _passed_over(
    snapshot: ClusterSnapshot, found: Solution, places: Mapping[str, str]
) -> int | None:
    """Return the priority of which fewer pods have places than one by one, of none above more."""
    plan = found.plan
    there = [one.pod_uids for one in plan.nominations]
    placed = frozenset(chain(*there, *(one.pod_uids for one in plan.nodeclaims)))
    placed |= _deferred(found) & places.keys()
    beyond: Counter[int] = Counter()
    for row in snapshot.pods.rows():
        beyond[row.priority] += (row.uid in placed) - (row.uid in places)
    first = max((priority for priority, count in beyond.items() if count), default=None)
    return first if first is not None and beyond[first] < 0 else None


def _overlooked(loaded: Loaded, found: Solution) -> dict[str, tuple[str, ...]]:
    """Return who could have a place alone.

    Three are left out on purpose. Who waits for a reservation to be settled waits rather than buy
    beside it or give up a preference (`docs/sources.md` D10, D12). What a claim that is not
    launched may not become is promised to nobody, however likely it is. And what its node will hold
    back of pods with rules about others is not known: the solver expects the most.
    """
    snapshot, plan = loaded.snapshot, found.plan
    deferred = _deferred(found)
    claims = snapshot.nodeclaims.values()
    open_ones = {one.name for one in claims if not len(one.allocatable)}
    minds = {row.uid for row in snapshot.pods.rows() if _minds_others(snapshot.shapes[row.shape])}
    taking = takers(loaded.cluster, snapshot, plan, loaded.options, daemon_sets=loaded.daemon_sets)
    return {
        uid: where
        for uid, where in taking.items()
        if uid not in deferred
        and not open_ones.issuperset(where)
        and not (open_ones and uid in minds)
    }


def _deferred(found: Solution) -> frozenset[str]:
    """Return who waits for a reservation."""
    groups = found.plan.unplaced
    return frozenset(uid for one in groups if one.reason.deferred for uid in one.pod_uids)


def _minds_others(shape: PodShape) -> bool:
    return bool(shape.topology_spread or shape.affinity or shape.anti_affinity)
