"""Why a node or a claim in flight does not take a pod: the first of kube-scheduler's filters.

Apart from the reasons of pools because here everything is given: each bin refuses by one rule, with
its numbers.

Source: kube-scheduler's order of filters: unschedulable, taints, node affinity, ports, resources,
volumes, topology spread, pod affinity.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from libs.domain.labels import MIGRATED
from libs.domain.reason import Rejection, Rule
from libs.domain.requirements import Requirements
from libs.domain.resources import NOTHING, Resources, named_amount, readable_amount
from services.solver.core.devices.allocating import Refusal
from services.solver.core.offers.too_small import nearness, shortages
from services.solver.core.packing.bins import Bins
from services.solver.core.pods.ask import Place, with_volumes
from services.solver.core.pods.bearing import bears, not_borne
from services.solver.core.pods.contradictions import contradiction, volumes_apart
from services.solver.core.reasons.case import Case, Part
from services.solver.core.reasons.kept_room import who_keeps_off, who_takes, whose_room
from services.solver.core.reasons.neighbours import about_others
from services.solver.core.reasons.pool_reasons import DEVICES_IGNORED, not_tolerated
from services.solver.core.reasons.refusals import Refusals
from services.solver.core.reasons.storage_room import too_little
from services.solver.core.standing.standing import UNSCHEDULABLE, StandingClass
from services.solver.core.vectors import Bools, Ints, covering


def standing_rules(case: Case, bins: Bins, only: int | None = None) -> Refusals:
    """Return which rule keeps the next pod of a case from each standing bin, or from `only` one."""
    return rules_at(case, bins, np.arange(len(bins.standing)) if only is None else np.array([only]))


def rules_at(case: Case, bins: Bins, positions: Ints) -> Refusals:
    """Return which rule keeps the next pod of a case from each of these standing bins, (n,)."""
    found = Refusals.of(len(positions))
    open_bins = np.arange(len(positions))
    for rule, refuses in _filters(case, bins):
        if not len(open_bins):
            break
        refused = refuses(positions[open_bins])
        if refused.any():
            found = found.with_rule(open_bins[refused], rule)
            open_bins = open_bins[~refused]
    return found


def nearest_bins(case: Case, bins: Bins, refusals: Refusals) -> tuple[Rejection, ...]:
    """Return for each rule the bin that came nearest, with its numbers, sorted by rule."""
    room = bins.free
    order = nearness(case.vector, room, np.arange(len(room)))
    nearest: dict[Rule, int] = {}
    rules = list(refusals)
    for position in order.tolist():
        rule = rules[position]
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


def devices_in_sight(case: Case, bins: Bins, refusals: Refusals) -> tuple[str, str]:
    """Return the bin that sees most devices and refuses by them, and why; empty if none does."""
    devices = case.problem.devices
    positions = refusals.by(Rule.DEVICES).tolist()
    if devices is None or not positions:
        return "", ""
    nearest = devices.most_seen(positions)
    refusal = _devices_refused(case, nearest)
    if refusal is None:
        return "", ""
    return f"{bins.standing.kinds[nearest]} {bins.standing.names[nearest]}", refusal.explain()


Filter = tuple[Rule, Callable[[Ints], Bools]]
"""A rule and which of some bins, (n,), it refuses, (n,)."""


def _filters(case: Case, bins: Bins) -> Iterator[Filter]:
    """Yield the rules in their order; each is asked about the bins that those before allow."""
    yield from _class_filters(case, bins)
    yield from _bin_filters(case, bins)
    for part in case.parts():
        yield part.rule, partial(_outside, case, part)
    if case.ask.shape.device_claims and case.problem.devices is not None:
        yield Rule.DEVICES, partial(_by_one, lambda one: _devices_refused(case, one) is not None)


def _class_filters(case: Case, bins: Bins) -> Iterator[Filter]:
    standing, ask = bins.standing, case.ask
    classes = standing.classes

    def of_class(refused: Iterable[bool]) -> Callable[[Ints], Bools]:
        by_class = np.array(list(refused), np.bool_)
        return lambda positions: by_class[standing.class_of[positions]]

    cordon = bears(ask.shape, (UNSCHEDULABLE,), ask.effects)
    yield Rule.NODE_UNAVAILABLE, of_class(one.cordoned and not cordon for one in classes)
    index = case.problem.topology.ground.class_index
    borne = index.tolerated(ask.shape, ask.effects, cordons=False)
    yield Rule.TAINTS, of_class(~borne)
    if ask.shape.device_claims and case.problem.devices is None:
        yield Rule.DEVICES, of_class(True for _ in classes)
    yield from _place_filters(case, bins)


def _place_filters(case: Case, bins: Bins) -> Iterator[Filter]:
    """Yield the rules about labels and names; only of all of them together packing knows."""
    ask, compatible = case.ask, case.problem.topology.ground.compatible
    suits = compatible(replace(ask, lacking=frozenset()))
    by_pod = compatible(replace(ask, places=ask.node_places, lacking=frozenset()))
    yield Rule.NODE_AFFINITY, lambda positions: ~suits[positions] & ~by_pod[positions]
    if ask.shape.storage_rooms:
        places = with_volumes(ask.node_places, ask.shape)
        in_reach = compatible(replace(ask, places=places, lacking=frozenset()))
        yield Rule.STORAGE_CAPACITY, lambda positions: ~suits[positions] & in_reach[positions]
    yield Rule.VOLUME_TOPOLOGY, lambda positions: ~suits[positions]
    if ask.lacking:
        lacks = np.array([name in ask.lacking for name in bins.standing.names], np.bool_)
        yield Rule.NODE_FEATURES, lambda positions: lacks[positions]


def _bin_filters(case: Case, bins: Bins) -> Iterator[Filter]:
    shape = case.ask.shape
    asked = np.flatnonzero(case.vector)
    if shape.host_ports:
        yield (
            Rule.HOST_PORTS,
            partial(_by_one, lambda one: bins.holdings.excludes(one, shape.host_ports)),
        )
    yield (
        Rule.RESOURCES,
        lambda positions: ~covering(bins.free[positions][:, asked], case.vector[asked]),
    )
    if shape.exclusive_disks:
        yield (
            Rule.VOLUME_CLAIM,
            partial(_by_one, lambda one: bins.holdings.excludes(one, shape.exclusive_disks)),
        )
    yield Rule.VOLUME_LIMITS, lambda positions: bins.holdings.attach_room(shape, positions) <= 0
    if bins.holdings.is_wary(shape):
        yield (
            Rule.POD_ANTI_AFFINITY,
            partial(_by_one, lambda one: bins.holdings.is_kept_from(shape, one)),
        )
    if shape.unbound_claims:
        volumes = case.problem.volumes
        yield (
            Rule.VOLUME_BINDING,
            partial(_by_one, lambda one: volumes.on_standing(shape, one) is None),
        )


def _by_one(refuses: Callable[[int], bool], positions: Ints) -> Bools:
    return np.array([refuses(one) for one in positions.tolist()], np.bool_)


def _devices_refused(case: Case, position: int) -> Refusal | None:
    shape, devices = case.ask.shape, case.problem.devices
    if not shape.device_claims or devices is None:
        return None
    found = devices.on_standing(shape, position)
    return found if isinstance(found, Refusal) else None


def _refusing_part(case: Case, position: int) -> Part | None:
    here = np.array([position])
    return next((part for part in case.parts() if _outside(case, part, here)[0]), None)


def _outside(case: Case, part: Part, positions: Ints) -> Bools:
    """Return which bins, (n,), a part of the constraints does not allow."""
    where, ground = part.where, case.problem.topology.ground
    if where is None:
        return np.ones(len(positions), np.bool_)
    found = np.zeros(len(positions), np.bool_)
    if where.caps is not None:
        found |= where.caps[positions] <= 0
    for key, bits in where.bounds:
        found |= ~ground.within(key, bits)[positions]
    for key in where.pins:
        found |= ground.domain_of(key)[positions] < 0
    return found


def _words(case: Case, bins: Bins, position: int, rule: Rule) -> tuple[str, str]:
    """Return the message, and the label, taint or topology key that it is about."""
    standing = bins.standing
    there = standing.classes[int(standing.class_of[position])]
    match rule:
        case Rule.NODE_UNAVAILABLE:
            return "it is cordoned", UNSCHEDULABLE.key
        case Rule.TAINTS:
            bad = not_borne(case.ask.shape, there.taints, case.ask.effects)
            return not_tolerated(bad), bad[0].key
        case Rule.VOLUME_CLAIM | Rule.VOLUME_LIMITS | Rule.VOLUME_BINDING:
            return _volume_words(case, bins, position, rule), ""
        case Rule.STORAGE_CAPACITY | Rule.NODE_FEATURES:
            return _lacking_words(case, rule), ""
        case Rule.NODE_AFFINITY | Rule.VOLUME_TOPOLOGY:
            return _label_words(case, there, standing.names[position], rule)
        case Rule.RESOURCES:
            short = _short(case, bins, position)
            parts = [
                f"{named_amount(name, want, up=True)} asked, {readable_amount(name, free)} free"
                for name, want, free in short
            ]
            kept = whose_room(case.problem, bins, position, [name for name, *_ in short])
            return ", ".join(parts) + kept, ""
        case Rule.HOST_PORTS:
            return _port_words(case, bins, position), ""
        case Rule.DEVICES:
            refusal = _devices_refused(case, position)
            return DEVICES_IGNORED if refusal is None else refusal.explain(), ""
        case Rule.POD_ANTI_AFFINITY if bins.holdings.is_kept_from(case.ask.shape, position):
            whose = who_keeps_off(case.problem, bins, position, case.ask.shape)
            return f"it is nominated for {whose}, which must not be near this one", ""
    part = _refusing_part(case, position)
    key = part.key if part is not None else ""
    about = about_others(case, part, position) if part is not None else ""
    return f"{rule} over {key} does not allow it{about}", key


def _lacking_words(case: Case, rule: Rule) -> str:
    shape = case.ask.shape
    if rule is Rule.STORAGE_CAPACITY:
        return too_little(shape)
    return f"its kubelet does not declare {' and '.join(shape.required_features)}"


def _short(case: Case, bins: Bins, position: int) -> list[tuple[str, int, int]]:
    names = case.problem.dimensions.names
    short = shortages(names, case.vector, bins.free[position])
    # What is kept for nominated pods may be more than there is.
    return [(name, want, max(there, 0)) for name, want, there in short if want > 0]


def _label_words(case: Case, there: StandingClass, name: str, rule: Rule) -> tuple[str, str]:
    by_pod = rule is Rule.NODE_AFFINITY
    places = case.ask.node_places if by_pod else case.ask.places
    if not places:
        return (contradiction if by_pod else volumes_apart)(case.ask), ""
    for place in places:
        if not place.names_allow(name) or not _is_as_migrated(there, place):
            continue
        for one in place.requirements:
            if not there.allows(Requirements((one,))):
                value = there.labels.get(one.key)
                has = "has no such label" if value is None else f"has {value}"
                return f"{_by_whom(rule)}{one} is asked for, it {has}", one.key
    return "it has another name than those allowed", ""


def _by_whom(rule: Rule) -> str:
    return "" if rule is Rule.NODE_AFFINITY else "by node affinity of persistent volumes "


def _is_as_migrated(there: StandingClass, place: Place) -> bool:
    """Tell whether a place is about nodes that leave to CSI drivers what this one does."""
    own = (one for one in place.requirements if one.key.startswith(MIGRATED))
    return there.allows(Requirements(own))


def _volume_words(case: Case, bins: Bins, position: int, rule: Rule) -> str:
    if rule is Rule.VOLUME_CLAIM:
        return "no available disk: another pod has it to itself"
    if rule is Rule.VOLUME_BINDING:
        return case.problem.volumes.shortage_on(case.ask.shape, position)
    short = bins.holdings.attach_shortage(case.ask.shape, position)
    if short is None:
        return "max volume count exceeded"
    driver, asked, left = short
    return f"max volume count of {driver} exceeded: {asked} to attach, {max(left, 0)} more can be"


def _port_words(case: Case, bins: Bins, position: int) -> str:
    for port in case.ask.shape.host_ports:
        if bins.holdings.excludes(position, (port,)):
            whose = who_takes(case.problem, bins, position, (port,))
            return f"host port {port.port}/{port.protocol} is taken{whose}"
    return "a host port is taken"
