"""`consolidate`: which nodes to give up or replace, from a snapshot to commands.

A pure function of (snapshot, question): the order of the candidates does not matter, no clock is
read, nothing is kept.
"""

import base64
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import blake2b

from libs.domain.blockers import blocker
from libs.domain.blocking import BlockerKind
from libs.domain.plan import Blocker, Command, Decision, Plan
from libs.domain.question import ConsolidateQuestion, Consolidation
from libs.domain.snapshot import ClusterSnapshot, SnapshotId
from services.solver.core.answer.plan_id import plan_id
from services.solver.core.consolidating.balance import Balance, balance
from services.solver.core.consolidating.budgets import budgets, reason_of
from services.solver.core.consolidating.choosing import UNBALANCED, Bounds, Chooser
from services.solver.core.consolidating.destinations import closed
from services.solver.core.consolidating.leavers import (
    Leaver,
    Tenants,
    leavers,
    left_alone,
    tenants,
)
from services.solver.core.consolidating.node_prices import NodePrices
from services.solver.core.consolidating.remains import read
from services.solver.core.consolidating.settling import settled
from services.solver.core.consolidating.trial import Bench, Found
from services.solver.core.offers.market import NOTHING_REMEMBERED, Memory
from services.solver.core.offers.price import existing_price
from services.solver.core.packing.encode import Encoded, encode, problem
from services.solver.core.pods.grouping import Group
from services.solver.core.solve import VERSION

_ID_BYTES = 12


def consolidate(
    snapshot: ClusterSnapshot,
    question: ConsolidateQuestion,
    *,
    memory: Memory = NOTHING_REMEMBERED,
    cancelled: Callable[[], bool] = lambda: False,
) -> Consolidation:
    """Find commands that make the cluster cheaper, each valid once those before it are done.

    Args:
        snapshot: the cluster that the question is about.
        question: candidates and bounds; their pods are read from the snapshot.
        memory: what is known from earlier calls.
        cancelled: asked now and then; True ends the work.

    Raises:
        Unavailable: `cancelled` said so.
    """
    options = question.options
    now = options.now or snapshot.observed_at
    known, staying = tenants(snapshot, question.candidates, now)
    shapes = frozenset(row.shape for one in known for row in one.rows)
    encoded = read(snapshot, shapes, options, now, memory)
    plain = encode(snapshot, options, now, memory) if encoded.work.groups else encoded
    start = settled(encoded, plain, closed(encoded.standing, snapshot, now), cancelled)
    priced = NodePrices(encoded)
    candidates = leavers(known, encoded, start.kept, priced)
    pools = balance(snapshot, priced)
    refused = {one.node: why for one in candidates if (why := _refusal(one, start.expected, pools))}
    refused |= _of_short_gangs(known, snapshot)
    willing = [one for one in candidates if one.node not in refused]
    chooser = Chooser(
        bench=Bench(pins=_pins(encoded, willing), gates=options.feature_gates, cancelled=cancelled),
        remains=start.remains,
        leavers=willing,
        bounds=Bounds(
            budgets=budgets(question),
            move_price=question.move_price_nanos_per_hour,
            most_moves=question.max_moves,
            balance=pools,
            devices=not start.devices,
        ),
    )
    chooser.run()
    refused |= chooser.blockers
    stay = _staying(known, chooser.found, refused)
    return Consolidation(
        snapshot=snapshot.id,
        options=options,
        commands=tuple(_command(snapshot.id, one) for one in chooser.found),
        existing_nanos_per_hour=existing_price(snapshot, encoded.market),
        left_alone=tuple(sorted((*staying, *stay), key=lambda one: one.node)),
        solver_version=VERSION,
    )


def _refusal(leaver: Leaver, expected: frozenset[str], pools: Balance) -> Blocker | None:
    """Return what keeps a leaver before anything is chosen."""
    if leaver.node in expected:
        message = f'pods that wait have a place on node "{leaver.node}"'
        return blocker(BlockerKind.NOMINATED, message)
    if leaver.moves and not leaver.price:
        message = f'no offering is known that node "{leaver.node}" is an instance of'
        return blocker(BlockerKind.PRICE_UNKNOWN, message)
    if leaver.moves and not pools.approves((leaver,), leaver.price):
        return blocker(BlockerKind.NOT_CHEAPER, UNBALANCED)
    return None


def _of_short_gangs(known: Sequence[Tenants], snapshot: ClusterSnapshot) -> dict[str, Blocker]:
    """Return what keeps nodes with pods of gangs that have too few: they would not start again."""
    gangs = snapshot.gangs
    if not any(row.gang in gangs for one in known for row in one.rows):
        return {}
    running = (row for row in snapshot.pods.rows() if row.gang and row.node and row.active)
    members = Counter(row.gang for row in running)
    found = {}
    for one in known:
        for row in one.rows:
            gang = gangs.get(row.gang)
            if gang is not None and members[row.gang] < gang.min_members:
                message = f"gang {row.gang} has fewer pods than the {gang.min_members} it needs"
                found[one.candidate.node] = blocker(BlockerKind.NO_PLACE, message, row.key)
    return found


def _pins(encoded: Encoded, willing: Sequence[Leaver]) -> Callable[[Group], tuple[str, ...]]:
    """Return who tells over which keys pods of a group are counted by anybody who may move."""
    groups = {group.shape.id: group for one in willing for group in one.groups}

    @cache
    def by_shape() -> Mapping[int, tuple[str, ...]]:
        made = problem(encoded, tuple(one for _, one in sorted(groups.items())))
        hard = {asks[-1].shape.id: asks[-1] for asks in made.asks}
        return {number: made.topology.rules(ask).pins for number, ask in hard.items()}

    return lambda group: by_shape()[group.shape.id]


def _staying(
    known: Sequence[Tenants], found: Sequence[Found], why: Mapping[str, Blocker]
) -> list[Decision]:
    """Return the decisions on candidates that no command is about."""
    gone = {one.node for each in found for one in each.leavers}
    names = {row.uid: row.key for one in known for row in one.rows}
    stay = []
    for one in known:
        node = one.candidate.node
        if node not in gone:
            reason = why[node]
            reason = replace(reason, object=names.get(reason.object, reason.object))
            stay.append(left_alone(one.candidate, reason))
    return stay


def _command(snapshot: SnapshotId, found: Found) -> Command:
    candidates = tuple(sorted((one.candidate for one in found.leavers), key=lambda c: c.nodeclaim))
    return Command(
        id=_command_id(snapshot, found),
        reason=reason_of(found.leavers),
        candidates=candidates,
        replacements=found.replacements,
        saving_nanos_per_hour=found.saving,
        nominations=found.nominations,
    )


def _command_id(snapshot: SnapshotId, found: Found) -> str:
    """Return the id of a command: a DNS label, since claims are named from it."""
    plan = plan_id(snapshot, Plan(nodeclaims=found.replacements, nominations=found.nominations))
    uids = sorted(one.candidate.nodeclaim_uid for one in found.leavers)
    digest = blake2b("|".join((plan, *uids)).encode(), digest_size=_ID_BYTES).digest()
    return "c" + base64.b32encode(digest).decode().lower()[:19]
