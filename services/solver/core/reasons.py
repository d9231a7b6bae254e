"""Why a pod has no place: the first rule that leaves nothing of a pool, how many bins each refused.

Apart because it is computed once per shape and only for pods that are left over; nothing here
decides. The rules are asked in the order in which packing applies them, on the state that packing
ended with.

Source: `docs/sources.md` D7 (precedence of failures); `docs/architecture.md`, law 9.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from libs.domain import labels as label_keys
from libs.domain import quantity
from libs.domain.reason import Rejection, Rule, TargetKind, Unplaceable
from libs.domain.requirements import Requirements
from libs.domain.resources import BYTES, CPU, NODES, NOTHING, Resources
from services.solver.core.ask import Ask
from services.solver.core.bearing import not_borne
from services.solver.core.bins import Bins
from services.solver.core.claim_class import ClaimClass
from services.solver.core.exclusion import conflict
from services.solver.core.packing import Packer
from services.solver.core.problem import Problem
from services.solver.core.template import Refused, Template, in_order
from services.solver.core.vectors import Ints
from services.solver.core.verdict import Verdict, verdict

_WITHOUT_POOL = {Rule.POOL_NOT_READY: "not ready", Rule.POOL_STATIC: "static"}
"""Rules by which a pool is out for all pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One group that is left over."""

    ask: Ask
    vector: Ints
    verdict: Verdict | None
    topology_rule: Rule
    topology_key: str


def unplaceable(
    problem: Problem, packer: Packer, refused: tuple[Refused, ...], group: int
) -> Unplaceable:
    """Return why the pods of a group that are left over have no place."""
    ask = problem.asks[group][-1]
    if claim := problem.topology.in_use(ask):
        return _in_use(claim, packer)
    rule, key = _topology_rule(ask)
    case = _Case(
        ask=ask,
        vector=problem.dimensions.requests(ask.shape.requests),
        verdict=verdict(problem.topology, ask),
        topology_rule=rule,
        topology_key=key,
    )
    deferred = group in packer.claims.deferred
    by_pool = {one.pool.name: _refused(one) for one in refused}
    for template in problem.templates:
        by_pool[template.pool.name] = _rejection(problem, case, template, deferred)
    pools = [*(one.pool for one in refused), *(one.pool for one in problem.templates)]
    rejections = tuple(by_pool[pool.name] for pool in in_order(pools))
    return Unplaceable(
        message=_summary(case, rejections),
        rejections=rejections,
        existing=_existing(packer, case),
        deferred=deferred,
    )


def _in_use(claim: str, packer: Packer) -> Unplaceable:
    return Unplaceable(
        message=f'persistentvolumeclaim "{claim}" is used by another pod, and only one at a time '
        "may use it (ReadWriteOncePod)",
        existing=((Rule.VOLUME_CLAIM, len(packer.bins.standing)),),
    )


def _topology_rule(ask: Ask) -> tuple[Rule, str]:
    if ask.affinity:
        return Rule.POD_AFFINITY, ask.affinity[0][0].topology_key
    if ask.spread:
        return Rule.TOPOLOGY_SPREAD, ask.spread[0].topology_key
    if ask.anti_affinity:
        return Rule.POD_ANTI_AFFINITY, ask.anti_affinity[0].topology_key
    for volume in ask.shape.shared_volumes:
        if volume.topology_key:
            return Rule.VOLUME_TOPOLOGY, volume.topology_key
    return Rule.POD_ANTI_AFFINITY, label_keys.HOSTNAME


def _summary(case: _Case, rejections: tuple[Rejection, ...]) -> str:
    if not rejections:
        return "no node takes it, and there is no nodepool to buy one from"
    rules = {one.rule for one in rejections}
    if len(rejections) > 1 and rules <= _WITHOUT_POOL.keys():
        return f"no node takes it, and none of {len(rejections)} nodepools buys one: " + "; ".join(
            f"{_WITHOUT_POOL[rule]}: {_named(rejections, rule)}" for rule in sorted(rules)
        )
    if len(rejections) > 1:
        return f"none of {len(rejections)} nodepools can take it"
    return f'nodepool "{rejections[0].target}": {rejections[0].message}'


def _named(rejections: tuple[Rejection, ...], rule: Rule) -> str:
    return ", ".join(sorted(one.target for one in rejections if one.rule is rule))


def _refused(one: Refused) -> Rejection:
    return _reject(one.pool.name, one.rule, one.message)


def _reject(pool: str, rule: Rule, message: str) -> Rejection:
    return Rejection(
        target_kind=TargetKind.NODEPOOL,
        target=pool,
        rule=rule,
        message=message,
        asked=NOTHING,
        offered=NOTHING,
    )


# Pools.


def _rejection(problem: Problem, case: _Case, template: Template, deferred: bool) -> Rejection:
    """Ask the rules one after the other, as packing does."""
    name = template.pool.name
    if case.ask.shape.device_claims:
        return _reject(name, Rule.DEVICES, "claims of devices are not planned for yet")
    bad = not_borne(case.ask.shape, template.pool.template.taints, case.ask.effects)
    if bad:
        found = _reject(name, Rule.TAINTS, f"taint {bad[0]} is not tolerated")
        return replace(found, key=bad[0].key, suggestion=f"tolerate taint {bad[0]}")
    root = problem.classes.root(template, None)
    by_labels = _narrowest(problem, root, case)
    if isinstance(by_labels, Rejection):
        return by_labels
    if case.ask.shape.host_ports:
        by_ports = problem.classes.narrow(by_labels, Requirements(), case.ask.shape.host_ports)
        if by_ports is None:
            return _reject(name, Rule.HOST_PORTS, "a daemon takes the host port on every type")
        by_labels = by_ports
    rows = by_labels.rows_for(case.vector)
    if not rows.any():
        return _too_small(problem, template, by_labels, case)
    return _by_state(problem, case, template, by_labels, deferred)


def _narrowest(problem: Problem, root: ClaimClass, case: _Case) -> ClaimClass | Rejection:
    template = root.template
    name = template.pool.name
    if not case.ask.node_places:
        return _reject(name, Rule.NODE_AFFINITY, "its node affinity contradicts itself")
    if not case.ask.places:
        return _reject(name, Rule.VOLUME_TOPOLOGY, "its volumes cannot be used from one place")
    found: Rejection | None = None
    for place in case.ask.places:
        if place.node_names is not None:
            message = "only nodes of a given name are allowed, a new one has another name"
            found = found or _reject(name, Rule.NODE_AFFINITY, message)
            continue
        narrower = problem.classes.narrow(root, place.requirements)
        if narrower is not None:
            return narrower
        found = found or _label_rejection(template, place.requirements, case)
    return found or _reject(name, Rule.NODE_AFFINITY, "no place is allowed")


def _label_rejection(template: Template, asked: Requirements, case: _Case) -> Rejection:
    name = template.pool.name
    by_pod = not any(asked == place.requirements for place in case.ask.node_places)
    rule = Rule.VOLUME_TOPOLOGY if by_pod else Rule.NODE_AFFINITY
    conflicts = template.requirements.conflicts(asked, allow_undefined=template.columns.well_known)
    if conflicts:
        found = _reject(name, rule, str(conflicts[0]))
        incoming = conflicts[0].incoming
        change = f"let nodepool {name} offer {incoming}"
        return replace(found, key=incoming.key, suggestion=change)
    mask = template.offerings
    both = template.requirements.intersection(asked)
    for key in [one.key for one in asked]:
        one = both.get(key)
        if one is None:
            continue
        left = mask & template.columns.mask(one, lenient=key in template.requirements)
        if not left.any():
            found = _reject(name, rule, f"no instance type that can be bought has {one}")
            return replace(found, key=key, suggestion=f"ask for another {key}")
        mask = left
    return _reject(name, Rule.OFFERINGS, "no offering has all that is asked for")


def _too_small(problem: Problem, template: Template, known: ClaimClass, case: _Case) -> Rejection:
    """Name the type that misses least, and what it misses."""
    rows = np.flatnonzero(known.rows)
    missing = np.maximum(case.vector - template.room[rows], 0)
    share = (missing / np.maximum(case.vector, 1)).max(axis=1)
    count = (missing > 0).sum(axis=1)
    columns = template.columns
    rank = np.array([columns.rank[columns.row == row].min() for row in rows.tolist()])
    nearest = int(rows[np.lexsort((rank, share, count))[0]])
    kind = columns.types[int(columns.row_type[nearest])].name
    asked = case.vector + template.overhead[nearest]
    offered = template.room[nearest] + template.overhead[nearest]
    short = [
        (name, int(wanted), int(there))
        for name, wanted, there in zip(
            problem.dimensions.names, asked.tolist(), offered.tolist(), strict=True
        )
        if wanted > there
    ]
    message = ", ".join(f"{amount(one[0], one[1], up=True)} {one[0]} asked" for one in short)
    offers = ", ".join(f"{amount(one[0], one[2])} {one[0]}" for one in short)
    found = _reject(
        template.pool.name,
        Rule.RESOURCES,
        f"{message} with daemons; the nearest instance type {kind} offers {offers}",
    )
    return replace(
        found,
        nearest_instance_type=kind,
        asked=Resources({name: wanted for name, wanted, _ in short}),
        offered=Resources({name: max(there, 0) for name, _, there in short}),
        suggestion="; ".join(
            f"lower the request of {name} by {amount(name, wanted - there, up=True)}"
            for name, wanted, there in short
        ),
    )


def _by_state(
    problem: Problem, case: _Case, template: Template, known: ClaimClass, deferred: bool
) -> Rejection:
    """Ask what depends on the rest of the plan: topology, limits, minValues, reservations."""
    name = template.pool.name
    limits = problem.limits[template.index]
    rows = limits.rows()
    fits = known.rows_for(case.vector)
    if not limits.nodes_left or (rows is not None and not (rows & fits).any()):
        left = limits.left()
        asked = _smallest_capacity(template, np.flatnonzero(fits))
        message = (
            f"limits leave {_listed(left)}; each node of this plan counts as the largest type that "
            "it may become"
        )
        found = _reject(name, Rule.POOL_LIMITS, message)
        short = asked.shortage(left)
        change = f"raise the limits of nodepool {name} by {_listed(short)}"
        return replace(found, asked=asked, offered=left, suggestion=change)
    if not _topology_allows(problem, case, known):
        message = f"{case.topology_rule} over {case.topology_key} allows no new node here"
        return replace(_reject(name, case.topology_rule, message), key=case.topology_key)
    if deferred:
        message = "all instances of its reservations are promised; it waits for the next plan"
        return _reject(name, Rule.RESERVATIONS, message)
    return _reject(name, Rule.MIN_VALUES, "too few types are left to keep minValues")


def _topology_allows(problem: Problem, case: _Case, known: ClaimClass) -> bool:
    """Tell whether the pod could go to a new node, with the daemons that come there before it."""
    for arrivals in problem.topology.arrivals(known.template):
        where, there = case.verdict, known
        if arrivals.offerings is not None:
            where = verdict(problem.topology, case.ask, arrivals)
            there = problem.classes.restrict(known, arrivals.offerings)
        if where is not None and where.new_cap > 0 and _within(problem, there, where, case.vector):
            return True
    return False


def _within(problem: Problem, known: ClaimClass, where: Verdict, vector: Ints) -> bool:
    """Tell whether the pod would fit in some domain that topology allows."""
    narrower = problem.classes.narrow(known, Requirements(), (), where.bounds)
    return narrower is not None and bool(narrower.rows_for(vector).any())


def _smallest_capacity(template: Template, rows: Ints) -> Resources:
    found = {NODES: 1} if NODES in template.pool.limits else {}
    if len(rows):
        least = template.capacities[rows].min(axis=0)
        found |= dict(zip(template.limited, least.tolist(), strict=True))
    return Resources(found)


def _listed(resources: Resources) -> str:
    return ", ".join(f"{text} {name}" for name, text in resources.to_quantities().items())


def amount(name: str, number: int, *, up: bool = False) -> str:
    """Return an amount of a resource as people write it; bytes are rounded, down or up."""
    if name == CPU:
        return quantity.format_millicores(number)
    return quantity.readable_bytes(number, up=up) if name in BYTES else str(number)


# Bins.


def _existing(packer: Packer, case: _Case) -> tuple[tuple[Rule, int], ...]:
    bins = packer.bins
    standing = bins.standing
    if not len(standing):
        return ()
    suits = packer.standing.compatible(case.ask)
    tolerated = [one.tolerated(case.ask) for one in standing.classes]
    labelled = [
        any(one.allows(place.requirements) for place in case.ask.node_places)
        for one in standing.classes
    ]
    found: Counter[Rule] = Counter()
    for position, number in enumerate(standing.class_of.tolist()):
        if not tolerated[number]:
            found[Rule.TAINTS] += 1
        elif case.ask.shape.device_claims:
            found[Rule.DEVICES] += 1
        elif not suits[position]:
            found[Rule.VOLUME_TOPOLOGY if labelled[number] else Rule.NODE_AFFINITY] += 1
        else:
            found[_bin_rule(bins, position, case)] += 1
    return tuple(sorted(found.items()))


def _bin_rule(bins: Bins, position: int, case: _Case) -> Rule:
    shape = case.ask.shape
    asked = case.vector > 0
    if (bins.free[position][asked] < case.vector[asked]).any():
        return Rule.RESOURCES
    if conflict(bins.taken(position), shape.host_ports):
        return Rule.HOST_PORTS
    if conflict(bins.taken(position), shape.exclusive_disks):
        return Rule.VOLUME_CLAIM
    if not bins.attach_room(shape, np.array([position]))[0]:
        return Rule.VOLUME_LIMITS
    return case.topology_rule
