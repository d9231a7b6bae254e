"""A trial: do the pods of some leavers find other places, and what would have to be bought?

Apart because this is where a choice meets all rules: the packer decides, as it would for pods that
wait on the cluster that the command leaves.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from libs.domain.errors import Unavailable
from libs.domain.plan import Nomination, PlannedNodeClaim
from libs.domain.reason import Rule
from libs.domain.resources import CPU, MEMORY
from services.solver.core.consolidating.instead import claim_of, with_replacement
from services.solver.core.consolidating.leavers import Leaver
from services.solver.core.consolidating.remains import Remains, after, trial_of
from services.solver.core.consolidating.replacing import Replacement, replacement
from services.solver.core.consolidating.seats import Seats, seats
from services.solver.core.packing.encode import Encoded, problem
from services.solver.core.packing.packing import Packer
from services.solver.core.packing.problem import Problem
from services.solver.core.pods.choice import choice
from services.solver.core.pods.grouping import Group
from services.solver.core.reasons.case import a_case
from services.solver.core.reasons.pool_reasons import pool_rejection

_NO_PLACE = "its pods have no other place"
_BESIDE = "its pods are spread in a way that does not hold beside the new node"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What all trials of one decision share."""

    pins: Callable[[Group], tuple[str, ...]]
    """Tells the keys of which a new node for pods of a group must be in one domain."""
    gates: Mapping[str, bool]
    """Feature gates as they were given."""
    cancelled: Callable[[], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What is tried."""

    leavers: tuple[Leaver, ...]
    closed: Set[str]
    """Bins that take nobody, besides those that never do."""
    buys: bool
    """Whether one node may be bought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a trial came to nothing."""

    message: str
    pod_uid: str = ""
    """A pod that has no place; empty where all have one, but at too high a price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A way to do without some nodes."""

    leavers: tuple[Leaver, ...]
    nominations: tuple[Nomination, ...]
    replacements: tuple[PlannedNodeClaim, ...]
    remains: Remains
    """The cluster afterwards."""

    @property
    def saving(self) -> int:
        """Return nano-dollars per hour."""
        bought = sum(one.cheapest.price_nanos_per_hour for one in self.replacements)
        return sum(one.price for one in self.leavers) - bought

    @property
    def moves(self) -> int:
        """Return how many pods move."""
        return sum(one.moves for one in self.leavers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Packed:
    """Who sits where at the end of a trial."""

    tried: Encoded
    packer: Packer
    seats: tuple[Seats, ...]

    @property
    def on_claim(self) -> tuple[Seats, ...]:
        """Return those on the new node."""
        return tuple(one for one in self.seats if one.bin >= len(self.tried.standing))


def attempt(bench: Bench, remains: Remains, wanted: Attempt) -> Found | Failure:
    """Pack the pods of some leavers on what remains without them.

    Raises:
        Unavailable: the caller has gone away.
    """
    groups = _groups(wanted)
    gone = frozenset(one.node for one in wanted.leavers)
    tried = trial_of(remains, gone, groups, wanted.closed)
    packer = Packer(problem(tried, groups), bench.cancelled)
    if not packer.run():
        raise Unavailable("the caller has gone away")
    for number, (group, left) in enumerate(zip(packer.groups, packer.left, strict=True)):
        if left:
            limited = _over_limits(packer.problem, number) if wanted.buys else ""
            return Failure(message=f"{_NO_PLACE}{limited}", pod_uid=group.uids[-left])
    if packer.surprises():
        return Failure(message=_BESIDE, pod_uid=packer.groups[0].uids[0])
    if len(packer.bins.claims) > 1:
        return Failure(message="its pods need more than one new node")
    done = _Packed(tried=tried, packer=packer, seats=seats(packer))
    bought = _bought(bench, wanted, done) if packer.bins.claims else None
    if isinstance(bought, str):
        return Failure(message=bought)
    return _found(remains, wanted, done, bought)


def _over_limits(problem: Problem, group: int) -> str:
    """Return in words which limits keep a pool from buying a node for a group, if any do."""
    case = a_case(problem, group)
    for template in problem.templates:
        found = pool_rejection(case, template) if template.pool.limits else None
        if found is not None and found.rule is Rule.POOL_LIMITS:
            return (
                f', and nodepool "{template.pool.name}" buys none: {found.message}; '
                "a node counts until it is gone"
            )
    return ""


def _groups(wanted: Attempt) -> tuple[Group, ...]:
    """Return the pods of all leavers by shape, in the order of the queue."""
    by_shape: dict[tuple[bool, int], list[Group]] = defaultdict(list)
    for leaver in wanted.leavers:
        for group in leaver.groups:
            by_shape[group.virtual, group.shape.id].append(group)
    return tuple(sorted((_merged(many, wanted) for many in by_shape.values()), key=_turn))


def _merged(many: Sequence[Group], wanted: Attempt) -> Group:
    return replace(
        many[0],
        uids=tuple(uid for one in many for uid in one.uids),
        gangs=tuple(gang for one in many for gang in one.gangs),
        targets=tuple(target for one in many for target in one.targets),
        existing_only=not wanted.buys,
    )


def _turn(group: Group) -> tuple[bool, int, int, int, str]:
    requests = group.shape.requests
    size = -requests.get(CPU), -requests.get(MEMORY)
    return (group.virtual, *size, choice(group.shape), group.uids[0])


def _bought(bench: Bench, wanted: Attempt, done: _Packed) -> Replacement | str:
    """Return what is bought for the pods on the new node, or why nothing is."""
    made, bins = done.packer.problem, done.packer.bins
    keys = sorted({key for one in done.on_claim for key in bench.pins(one.group)})
    used = bins.used[0].copy()
    known = made.classes.pinned(bins.claims[0], keys, used)
    if known is None:
        return "no new node that its pods could share is in one domain"
    return replacement(made, known, used, wanted.leavers, bench.gates)


def _found(remains: Remains, wanted: Attempt, done: _Packed, bought: Replacement | None) -> Found:
    instead = f"\0instead of {wanted.leavers[0].node}"
    names = (*done.tried.standing.names, instead)
    moved = [(one.group.shape, names[one.bin], len(one.uids)) for one in done.seats]
    left = after(remains, done.tried, done.packer.bins, moved)
    claims: tuple[PlannedNodeClaim, ...] = ()
    if bought is not None:
        uids = sorted(uid for one in done.on_claim for uid in one.uids)
        claims = (claim_of(done.packer, bought, tuple(uids)),)
        left = with_replacement(left, instead, bought, claims[0], done.packer.problem)
    return Found(
        leavers=wanted.leavers,
        nominations=_nominations(done),
        replacements=claims,
        remains=left,
    )


def _nominations(done: _Packed) -> tuple[Nomination, ...]:
    standing = done.tried.standing
    by_bin: dict[int, list[str]] = defaultdict(list)
    for one in done.seats:
        if one.bin < len(standing) and not one.group.virtual:
            by_bin[one.bin] += one.uids
    found = [
        Nomination(
            target_kind=standing.kinds[number],
            target=standing.names[number],
            pod_uids=tuple(sorted(uids)),
        )
        for number, uids in by_bin.items()
    ]
    return tuple(sorted(found, key=lambda one: (one.target_kind, one.target)))
