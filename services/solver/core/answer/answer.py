"""From packed bins to a plan: claims to create, nominations, what has no place and why."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from libs.domain.device import REQUESTED_DRIVERS
from libs.domain.errors import Unavailable
from libs.domain.plan import BufferVerdict, Nomination, Plan, PlannedNodeClaim, UnplacedPods
from libs.domain.reason import Unplaceable
from libs.domain.solution import MinValuesPolicy
from libs.domain.workload import virtual_pods
from services.solver.core.answer.launch import LaunchLists, Purchase, planned
from services.solver.core.answer.messages import pool_messages
from services.solver.core.packing.encode import Encoded
from services.solver.core.packing.packing import Packer
from services.solver.core.packing.problem import Problem
from services.solver.core.pods.grouping import Group
from services.solver.core.reasons.reasons import leftover, pools_told, unplaceable

_ONLY_ASKS = "no node is bought, since it only asks for room that is there"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A plan and how many real pods went where."""

    plan: Plan
    weight: int
    """What its new nodes count for, each at its cheapest offering, in nano-dollars per hour."""
    on_existing: int
    on_new: int
    unplaced: int


@dataclass(slots=True)
class _Pods:
    """Where each pod went, by uid."""

    standing: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    claims: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    left: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    """By group."""
    virtual: set[str] = field(default_factory=set)

    def real(self, uids: list[str]) -> list[str]:
        """Return those of the pods that are nobody's buffer."""
        return [uid for uid in uids if uid not in self.virtual] if self.virtual else uids


def answer(encoded: Encoded, made: Problem, packer: Packer, short: Mapping[str, str]) -> Answer:
    """Return the plan that the packer found.

    Args:
        encoded: the input.
        made: the packing problem.
        packer: after its run.
        short: gangs that were left out, with the reason.

    Raises:
        Unavailable: the packer's caller has gone away.
    """
    pods = _pods(packer)
    bought = _bought(made, packer, pods)
    nodeclaims = _nodeclaims(packer, pods, bought)
    nominations = _nominations(encoded, pods)
    gangs = _short(encoded, short)
    told = frozenset(uid for one in gangs for uid in one.pod_uids) | _left_out(encoded)
    unplaced = (*_unplaced(encoded, made, packer, pods, told), *gangs)
    return Answer(
        plan=Plan(
            nodeclaims=nodeclaims,
            nominations=nominations,
            unplaced=tuple(sorted(unplaced, key=lambda one: one.pod_uids)),
            pool_messages=pool_messages(encoded, made, packer, pods.claims.keys()),
            buffers=_buffers(encoded, made, packer, pods),
            overlays=encoded.market.verdicts,
        ),
        weight=sum(one.launch.weight for one in bought.values()),
        on_existing=sum(len(one.pod_uids) for one in nominations),
        on_new=sum(len(pods.real(uids)) for uids in pods.claims.values()),
        unplaced=sum(len(one.pod_uids) for one in unplaced),
    )


def _pods(packer: Packer) -> _Pods:
    found = _Pods()
    groups = packer.groups
    uids = [group.uids for group in groups]
    taken = [0] * len(groups)
    standing = len(packer.problem.algebra.ground.standing)
    for number, position, count, _ in packer.bins.placements:
        first = taken[number]
        taken[number] = last = first + count
        if position < standing:
            found.standing[position] += uids[number][first:last]
        else:
            found.claims[position - standing] += uids[number][first:last]
    for index, group in enumerate(groups):
        if group.virtual:
            found.virtual.update(group.uids)
        if taken[index] < len(group.uids):
            found.left[index].extend(group.uids[taken[index] :])
    return found


def _bought(made: Problem, packer: Packer, pods: _Pods) -> dict[int, Purchase]:
    """Return what is bought for each claim, in their order.

    Claims whose launch list, once cut to its length, breaks minValues are taken back.
    """
    lists, bins = LaunchLists(), packer.bins
    strict = made.min_values is MinValuesPolicy.STRICT
    found: dict[int, Purchase] = {}
    for claim in sorted(pods.claims):
        bought = lists.purchase(bins.claims[claim], bins.used[claim])
        if bought.launch.keeps_min_values or not strict:
            found[claim] = bought
    if without := pods.claims.keys() - found.keys():
        group_of = {uid: index for index, group in enumerate(made.groups) for uid in group.uids}
        for claim in sorted(without):
            for uid in pods.claims.pop(claim):
                pods.left[group_of[uid]].append(uid)
    return found


def _nodeclaims(
    packer: Packer, pods: _Pods, bought: Mapping[int, Purchase]
) -> tuple[PlannedNodeClaim, ...]:
    found = []
    for index, (claim, purchase) in enumerate(bought.items()):
        claimed = planned(index, purchase, tuple(sorted(pods.claims[claim])))
        found.append(_with_drivers(claimed, packer.drivers(claim)))
    return tuple(found)


def _with_drivers(claim: PlannedNodeClaim, drivers: tuple[str, ...]) -> PlannedNodeClaim:
    """Return the claim with the drivers whose devices its node must have before pods can come."""
    if not drivers:
        return claim
    noted = (REQUESTED_DRIVERS, ",".join(drivers))
    return replace(claim, annotations=tuple(sorted((*claim.annotations, noted))))


def _nominations(encoded: Encoded, pods: _Pods) -> tuple[Nomination, ...]:
    found = []
    for position, uids in pods.standing.items():
        real = tuple(sorted(pods.real(uids)))
        if real:
            found.append(
                Nomination(
                    target_kind=encoded.standing.kinds[position],
                    target=encoded.standing.names[position],
                    pod_uids=real,
                )
            )
    return tuple(sorted(found, key=lambda one: (one.target_kind, one.target)))


def _unplaced(
    encoded: Encoded, made: Problem, packer: Packer, pods: _Pods, told: frozenset[str]
) -> tuple[UnplacedPods, ...]:
    """Return who has no place, and why, but for those of whom it is told elsewhere."""
    found: list[UnplacedPods] = []
    each = pools_told(len(pods.left))
    for index, uids in pods.left.items():
        group = made.groups[index]
        if packer.cancelled():
            raise Unavailable("the caller has gone away")
        if not group.virtual and told.isdisjoint(uids):
            most_pools = 0 if group.existing_only else each
            reason = leftover(packer, encoded.refused, index, most_pools=most_pools).reason
            if group.existing_only:
                message = f"no node has room; {_ONLY_ASKS}"
                waits = bool(group.nominated)
                message = _nominated(group) if waits else message
                reason = replace(reason, message=message, untold_pools=0, deferred=waits)
            found.append(UnplacedPods(pod_uids=tuple(sorted(uids)), reason=reason))
    return tuple(found)


def _left_out(encoded: Encoded) -> frozenset[str]:
    """Return the pods that only keep room, as who made the snapshot knows what else they lack."""
    find = encoded.snapshot.pods.find
    held = (uid for group in encoded.work.groups if group.only_held for uid in group.uids)
    return frozenset(uid for uid in held if (row := find(uid)) and not row.provisionable)


def _nominated(group: Group) -> str:
    """Say what pods wait for that have no place though a node is nominated for them."""
    return (
        f'node "{group.nominated}" is nominated, where kube-scheduler makes room for it; '
        "no node is bought meanwhile"
    )


def _short(encoded: Encoded, short: Mapping[str, str]) -> tuple[UnplacedPods, ...]:
    found = []
    for gang, message in sorted(short.items()):
        asks = encoded.snapshot.gangs[gang].existing_only
        why = f"{message}; {_ONLY_ASKS}" if asks else message
        uids = [uid for group in encoded.work.groups for uid in _members(group, gang)]
        found.append(UnplacedPods(pod_uids=tuple(sorted(uids)), reason=Unplaceable(message=why)))
    return tuple(found)


def _members(group: Group, gang: str) -> list[str]:
    return [uid for uid, own in zip(group.uids, group.gangs, strict=True) if own == gang]


def _buffers(
    encoded: Encoded, made: Problem, packer: Packer, pods: _Pods
) -> tuple[BufferVerdict, ...]:
    if not encoded.snapshot.buffers:
        return ()
    on_standing = {uid for uids in pods.standing.values() for uid in uids}
    on_claims = {uid for uids in pods.claims.values() for uid in uids}
    left = {
        uid: index
        for index, uids in pods.left.items()
        if made.groups[index].virtual
        for uid in uids
    }
    each = pools_told(len(pods.left))
    reasons = {
        index: unplaceable(packer, encoded.refused, index, each).message
        for index in sorted(set(left.values()))
    }
    virtual = virtual_pods(encoded.snapshot.buffers.values(), encoded.snapshot.pods.uids)
    found = []
    for key, buffer in sorted(encoded.snapshot.buffers.items()):
        own = virtual.get(key, ())
        short = [uid for uid in own if uid in left]
        found.append(
            BufferVerdict(
                namespace=buffer.namespace,
                name=buffer.name,
                fit_existing=sum(uid in on_standing for uid in own),
                need_new=sum(uid in on_claims for uid in own),
                unplaced=len(short),
                problem=buffer.problem or (reasons[left[short[0]]] if short else ""),
            )
        )
    return tuple(found)
