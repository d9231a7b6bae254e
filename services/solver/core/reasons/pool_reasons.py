"""Why no node of a pool would do: the first rule that leaves nothing of what it could buy.

Apart because a plan asks it of what is left over, and an explanation of anybody. The rules are
asked in the order in which packing applies them.

Source: `docs/sources.md` D7 (precedence of failures).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.feature_gates import FeatureGate
from libs.domain.reason import Rejection, Rule, TargetKind
from libs.domain.requirement import Requirement
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.resources import NODES, NOTHING, Resources, named_amount
from libs.domain.solution import MinValuesPolicy
from libs.domain.taint import Taint
from services.solver.core.devices.allocating import Refusal
from services.solver.core.domains import apart_from_hostname
from services.solver.core.offers import min_values
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.offers.template import Refused, Template
from services.solver.core.pods.ask import with_volumes
from services.solver.core.pods.bearing import not_borne
from services.solver.core.pods.contradictions import contradiction, volumes_apart
from services.solver.core.reasons.case import Case, Part
from services.solver.core.reasons.neighbours import about_others
from services.solver.core.reasons.storage_room import too_little
from services.solver.core.topology.arrivals import reached
from services.solver.core.topology.verdict import Verdict
from services.solver.core.vectors import Ints

DEVICES_IGNORED = f"claims of devices are ignored; gate {FeatureGate.DYNAMIC_RESOURCES} is closed"


def pool_rejection(case: Case, template: Template) -> Rejection | None:
    """Return why no new node of a pool takes the next pod of a case; None if one does."""
    name = template.pool.name
    if case.ask.shape.device_claims and case.problem.devices is None:
        return rejection(name, Rule.DEVICES, DEVICES_IGNORED)
    bad = not_borne(case.ask.shape, template.pool.template.taints, case.ask.effects)
    if bad:
        found = rejection(name, Rule.TAINTS, not_tolerated(bad))
        return replace(found, key=bad[0].key, suggestion=f"tolerate {_taints(bad)}")
    known = narrowest(case, template)
    if isinstance(known, Rejection):
        return known
    if case.ask.shape.host_ports:
        by_ports = case.problem.classes.narrow(known, ANYTHING, case.ask.shape.host_ports)
        if by_ports is None:
            return rejection(name, Rule.HOST_PORTS, "a daemon takes the host port on every type")
        known = by_ports
    if not known.rows_for(case.vector).any():
        return case.problem.too_small.rejection(known, case.vector)
    return _by_volumes(case, known) or _by_devices(case, known) or _by_state(case, known)


def not_tolerated(taints: Sequence[Taint]) -> str:
    """Return that a pod does not bear these taints, all of which it would have to."""
    return f"{_taints(taints)} {'is' if len(taints) == 1 else 'are'} not tolerated"


def _taints(taints: Sequence[Taint]) -> str:
    listed = ", ".join(map(str, taints))
    return f"taint {listed}" if len(taints) == 1 else f"taints {listed}"


def refused_pool(one: Refused) -> Rejection:
    """Return why a pool is out for everybody."""
    return rejection(one.pool.name, one.rule, one.message)


def rejection(pool: str, rule: Rule, message: str) -> Rejection:
    """Return that a pool refuses, without numbers."""
    return Rejection(
        target_kind=TargetKind.NODEPOOL,
        target=pool,
        rule=rule,
        message=message,
        asked=NOTHING,
        offered=NOTHING,
    )


# Labels.


def narrowest(case: Case, template: Template) -> ClaimClass | Rejection:
    """Return what a new node could be by labels alone, or why it could be nothing."""
    found = _narrowest(case, template)
    shape = case.ask.shape
    if not shape.storage_rooms or not isinstance(found, Rejection):
        return found
    with_room = replace(case.ask, places=with_volumes(case.ask.node_places, shape))
    if isinstance(_narrowest(replace(case, ask=with_room), template), Rejection):
        return found
    return rejection(template.pool.name, Rule.STORAGE_CAPACITY, too_little(shape))


def _narrowest(case: Case, template: Template) -> ClaimClass | Rejection:
    name = template.pool.name
    classes = case.problem.classes
    root = classes.root(template, None)
    if not case.ask.node_places:
        return rejection(name, Rule.NODE_AFFINITY, contradiction(case.ask))
    if not case.ask.places:
        return rejection(name, Rule.VOLUME_TOPOLOGY, volumes_apart(case.ask))
    found: Rejection | None = None
    best: ClaimClass | None = None
    for place in case.ask.places:
        if place.node_names is not None:
            message = "only nodes of a given name are allowed, a new one has another name"
            found = found or rejection(name, Rule.NODE_AFFINITY, message)
            continue
        narrower = classes.narrow(root, place.requirements)
        if narrower is None:
            found = found or _label_rejection(case, template, place.requirements)
        elif narrower.rows_for(case.vector).any():
            return narrower
        else:
            best = best or narrower
    return best or found or rejection(name, Rule.NODE_AFFINITY, "no place is allowed")


def _label_rejection(case: Case, template: Template, asked: Requirements) -> Rejection:
    name = template.pool.name
    by_pod = any(asked == place.requirements for place in case.ask.node_places)
    rule = Rule.NODE_AFFINITY if by_pod else Rule.VOLUME_TOPOLOGY
    conflicts = template.requirements.conflicts(asked, allow_undefined=template.columns.well_known)
    own_name = asked.get(label_keys.HOSTNAME)
    if own_name is not None and apart_from_hostname(asked) is None:
        found = rejection(name, rule, f"{own_name} is asked for, a new node has another name")
        return replace(found, key=own_name.key)
    if conflicts:
        found = rejection(name, rule, str(conflicts[0]))
        incoming = conflicts[0].incoming
        change = f"let nodepool {name} offer {incoming}"
        return replace(found, key=incoming.key, suggestion=change)
    mask = template.offerings
    both = template.requirements.intersection(asked)
    before: list[Requirement] = []
    for one in both:
        if one.key not in asked:
            continue
        own = template.columns.mask(one, lenient=one.key in template.requirements)
        if not (mask & own).any():
            message = f"no instance type that can be bought has {one}"
            if (template.offerings & own).any():
                message += f" together with {' and '.join(map(str, before))}"
                rule = Rule.OFFERINGS if by_pod else rule
            found = rejection(name, rule, message)
            return replace(found, key=one.key, suggestion=f"ask for another {one.key}")
        mask = mask & own
        before.append(one)
    return rejection(name, Rule.OFFERINGS, "no offering has all that is asked for")


# What depends on the rest of the plan.


def _by_volumes(case: Case, known: ClaimClass) -> Rejection | None:
    shape, volumes = case.ask.shape, case.problem.volumes
    if not shape.unbound_claims or volumes.on_planned(shape, known, case.vector) is not None:
        return None
    message = volumes.shortage_on_new(shape, known)
    found = rejection(known.template.pool.name, Rule.VOLUME_BINDING, message)
    return replace(found, suggestion="provide one more persistent volume that suits")


def _by_devices(case: Case, known: ClaimClass) -> Rejection | None:
    shape, devices = case.ask.shape, case.problem.devices
    if not shape.device_claims or devices is None:
        return None
    found = devices.on_planned(shape, None, known, case.vector)
    if not isinstance(found, Refusal):
        return None
    return rejection(known.template.pool.name, Rule.DEVICES, found.explain())


def _by_state(case: Case, known: ClaimClass) -> Rejection | None:
    """Ask limits, minValues, topology and reservations; None if nothing is in the way."""
    name = known.template.pool.name
    limits = case.problem.limits[known.template.index]
    allowed = limits.rows()
    fits = known.rows_for(case.vector)
    if not limits.nodes_left or (allowed is not None and not (allowed & fits).any()):
        return _over_limits(case, known)
    if allowed is not None:
        rows = allowed[known.template.columns.row]
        known = case.problem.classes.restrict(known, rows)
    strict = case.problem.min_values is MinValuesPolicy.STRICT
    if strict and (short := min_values.shortfall(known, case.vector)):
        return rejection(name, Rule.MIN_VALUES, short)
    for part in case.parts():
        if not _allowed_by(case, part, known):
            about = about_others(case, part)
            message = f"{part.rule} over {part.key} allows no new node here{about}"
            return replace(rejection(name, part.rule, message), key=part.key)
    if case.deferred:
        message = "all instances of its reservations are promised; it waits for the next plan"
        return rejection(name, Rule.RESERVATIONS, message)
    return _by_tie(case, known) if strict else None


def _by_tie(case: Case, known: ClaimClass) -> Rejection | None:
    """Ask minValues of a node that is tied to one domain, since pods are counted by it."""
    where = case.parts()[-1].where
    pins = where.pins if where is not None else ()
    tied = case.problem.classes.pinned(known, pins, case.vector)
    short = min_values.shortfall(tied, case.vector) if tied is not None else ""
    if not short:
        return None
    keys = " and one ".join(pins)
    message = f"{short}; its node is tied to one {keys}, by which pods are counted"
    return rejection(known.template.pool.name, Rule.MIN_VALUES, message)


def _over_limits(case: Case, known: ClaimClass) -> Rejection:
    template = known.template
    limits = case.problem.limits[template.index]
    left = limits.left()
    asked = _smallest_capacity(template, np.flatnonzero(known.rows_for(case.vector)))
    short = asked.shortage(left)
    # Each alone may do, where no type that is small in one is small in the other.
    names = tuple(short or left)
    message = f"limits leave {_listed(left, names)}"
    if small := [name for name in names if name != NODES]:
        message += f", and a node takes {_listed(asked, small)} at least"
        if limits.claims:
            message += "; nodes of this plan count as the largest type that they may become"
    found = rejection(template.pool.name, Rule.POOL_LIMITS, message)
    change = f"raise the limits of nodepool {template.pool.name}"
    if short:
        change += f" by {_listed(short, names)}"
    return replace(found, asked=asked, offered=left, suggestion=change)


def _listed(amounts: Resources, names: Iterable[str]) -> str:
    return ", ".join(named_amount(name, amounts.get(name)) for name in names)


def _smallest_capacity(template: Template, rows: Ints) -> Resources:
    found = {NODES: 1} if NODES in template.pool.limits else {}
    if len(rows):
        least = template.capacities[rows].min(axis=0)
        found |= dict(zip(template.limited, least.tolist(), strict=True))
    return Resources(found)


def _allowed_by(case: Case, part: Part, known: ClaimClass) -> bool:
    """Tell whether a new node could be had where a part of the constraints allows one.

    Daemons that come there before the pod are counted.
    """
    pool, topology = known.template.index, case.problem.topology
    for kind, arrivals in enumerate(topology.arrivals(pool)):
        where, there = part.where, reached(case.problem.classes, known, arrivals)
        if there is None:
            continue
        if arrivals.offerings is not None:
            where = topology.verdict(part.ask, pool, kind)
        if where is not None and where.new_cap > 0 and _within(case, there, where):
            return True
    return False


def _within(case: Case, known: ClaimClass, where: Verdict) -> bool:
    """Tell whether the pod would fit in some domain that topology allows."""
    narrower = case.problem.classes.narrow(known, ANYTHING, (), where.bounds)
    return narrower is not None and bool(narrower.rows_for(case.vector).any())
