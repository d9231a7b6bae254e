"""Why a node or a claim in flight does not take a pod: the first of kube-scheduler's filters.

Apart from the reasons of pools because here everything is given: each bin refuses by one rule, with
its numbers.

Source: kube-scheduler's order of filters: unschedulable, taints, node affinity, ports, resources,
volumes, topology spread, pod affinity.
"""

from dataclasses import replace

import numpy as np

from libs.domain.reason import Rejection, Rule
from libs.domain.requirements import Requirements
from libs.domain.resources import NOTHING, Resources
from services.solver.core.bearing import bears, not_borne
from services.solver.core.bins import Bins
from services.solver.core.case import Case, Part
from services.solver.core.devices.allocating import Refusal
from services.solver.core.exclusion import conflict
from services.solver.core.pool_reasons import DEVICES_IGNORED, amount, nearness, shortages
from services.solver.core.standing import UNSCHEDULABLE, StandingClass
from services.solver.core.standing_packing import compatible
from services.solver.core.vectors import Bools

Refusals = tuple[Rule | None, ...]
"""Per standing bin the first rule that refuses; None where none does."""


def standing_rules(case: Case, bins: Bins, only: int | None = None) -> Refusals:
    """Return which rule keeps the next pod of a case from each standing bin, or from `only` one."""
    standing = bins.standing
    positions = range(len(standing)) if only is None else (only,)
    by_class = [_class_rule(one, case) for one in standing.classes]
    suits = compatible(bins, case.ask)
    labelled = [
        any(one.allows(place.requirements) for place in case.ask.node_places)
        for one in standing.classes
    ]
    found: list[Rule | None] = []
    for position in positions:
        number = int(standing.class_of[position])
        if by_class[number] is not None:
            found.append(by_class[number])
        elif not suits[position]:
            found.append(Rule.VOLUME_TOPOLOGY if labelled[number] else Rule.NODE_AFFINITY)
        else:
            found.append(_bin_rule(case, bins, position))
    return tuple(found)


def nearest_bins(case: Case, bins: Bins, refusals: Refusals) -> tuple[Rejection, ...]:
    """Return for each rule the bin that came nearest, with its numbers, sorted by rule."""
    room = bins.free
    order = nearness(case.vector, room, np.arange(len(room)))
    nearest: dict[Rule, int] = {}
    for position in order.tolist():
        rule = refusals[position]
        if rule is not None:
            nearest.setdefault(rule, position)
    return tuple(
        bin_rejection(case, bins, position, rule) for rule, position in sorted(nearest.items())
    )


def bin_rejection(case: Case, bins: Bins, position: int, rule: Rule) -> Rejection:
    """Return why a bin refuses by a rule, in words and numbers."""
    standing = bins.standing
    message, key = _words(case, bins, position, rule)
    found = Rejection(
        target_kind=standing.kinds[position],
        target=standing.names[position],
        rule=rule,
        message=message,
        asked=NOTHING,
        offered=NOTHING,
        key=key,
    )
    if rule is not Rule.RESOURCES:
        return found
    short = _short(case, bins, position)
    return replace(
        found,
        asked=Resources({name: want for name, want, _ in short}),
        offered=Resources({name: there for name, _, there in short}),
    )


def _class_rule(one: StandingClass, case: Case) -> Rule | None:
    ask = case.ask
    if one.cordoned and not bears(ask.shape, (UNSCHEDULABLE,), ask.effects):
        return Rule.NODE_UNAVAILABLE
    if not bears(ask.shape, one.taints, ask.effects):
        return Rule.TAINTS
    ignored = ask.shape.device_claims and case.problem.devices is None
    return Rule.DEVICES if ignored else None


def _bin_rule(case: Case, bins: Bins, position: int) -> Rule | None:
    shape = case.ask.shape
    asked = case.vector > 0
    if conflict(bins.taken(position), shape.host_ports):
        return Rule.HOST_PORTS
    if (bins.free[position][asked] < case.vector[asked]).any():
        return Rule.RESOURCES
    if conflict(bins.taken(position), shape.exclusive_disks):
        return Rule.VOLUME_CLAIM
    if not bins.attach_room(shape, np.array([position]))[0]:
        return Rule.VOLUME_LIMITS
    refusing = _refusing_part(case, position)
    if refusing is not None:
        return refusing.rule
    return Rule.DEVICES if _devices_refused(case, position) else None


def _devices_refused(case: Case, position: int) -> Refusal | None:
    shape, devices = case.ask.shape, case.problem.devices
    if not shape.device_claims or devices is None:
        return None
    found = devices.on_standing(shape, position)
    return found if isinstance(found, Refusal) else None


def _refusing_part(case: Case, position: int) -> Part | None:
    return next((part for part in case.parts() if not _allows(case, part, position)), None)


def _allows(case: Case, part: Part, position: int) -> bool:
    where, ground = part.where, case.problem.topology.ground
    if where is None or (where.caps is not None and where.caps[position] <= 0):
        return False
    within: list[Bools] = [ground.within(key, bits) for key, bits in where.bounds]
    within += [ground.domain_of(key) >= 0 for key in where.pins]
    return all(one[position] for one in within)


def _words(case: Case, bins: Bins, position: int, rule: Rule) -> tuple[str, str]:
    """Return the message, and the label, taint or topology key that it is about."""
    standing = bins.standing
    there = standing.classes[int(standing.class_of[position])]
    match rule:
        case Rule.NODE_UNAVAILABLE:
            return "it is cordoned", UNSCHEDULABLE.key
        case Rule.TAINTS:
            taint = not_borne(case.ask.shape, there.taints, case.ask.effects)[0]
            return f"taint {taint} is not tolerated", taint.key
        case Rule.VOLUME_CLAIM:
            return "another pod has the same volume to itself", ""
        case Rule.NODE_AFFINITY | Rule.VOLUME_TOPOLOGY:
            return _label_words(case, there, standing.names[position], rule)
        case Rule.RESOURCES:
            short = _short(case, bins, position)
            parts = [
                f"{amount(name, want, up=True)} {name} asked, {_left(name, free)} free"
                for name, want, free in short
            ]
            return ", ".join(parts), ""
        case Rule.HOST_PORTS:
            return _port_words(case, bins, position), ""
        case Rule.VOLUME_LIMITS:
            return "no more volumes can be attached", ""
        case Rule.DEVICES:
            refusal = _devices_refused(case, position)
            return DEVICES_IGNORED if refusal is None else refusal.explain(), ""
    part = _refusing_part(case, position)
    key = part.key if part is not None else ""
    return f"{rule} over {key} does not allow it", key


def _left(name: str, number: int) -> str:
    return amount(name, number) if number >= 0 else f"-{amount(name, -number, up=True)}"


def _short(case: Case, bins: Bins, position: int) -> list[tuple[str, int, int]]:
    names = case.problem.dimensions.names
    short = shortages(names, case.vector, bins.free[position])
    return [one for one in short if one[1] > 0]


def _label_words(case: Case, there: StandingClass, name: str, rule: Rule) -> tuple[str, str]:
    by_pod = rule is Rule.NODE_AFFINITY
    places = case.ask.node_places if by_pod else case.ask.places
    if not places:
        what = "its node affinity contradicts itself" if by_pod else "its volumes are far apart"
        return what, ""
    for place in places:
        if not place.names_allow(name):
            continue
        for one in place.requirements:
            if not there.allows(Requirements((one,))):
                value = there.labels.get(one.key)
                has = "has no such label" if value is None else f"has {value}"
                return f"{one} is asked for, it {has}", one.key
    return "it has another name than those allowed", ""


def _port_words(case: Case, bins: Bins, position: int) -> str:
    taken = bins.taken(position)
    for port in case.ask.shape.host_ports:
        if conflict(taken, (port,)):
            return f"host port {port.port}/{port.protocol} is taken"
    return "a host port is taken"
