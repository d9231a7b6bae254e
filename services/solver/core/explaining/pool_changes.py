"""Changes of a pool that may give a pod a place: requirements, labels, minValues, what is sold.

Apart because they concern every pod. Most are found in two trials: first without the requirement
at all, which shows what would be bought; then with just the value that this needs.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue, Offering
from libs.domain.explanation import ChangeKind
from libs.domain.nodepool import NodePool
from libs.domain.plan import LaunchOption, PlannedNodeClaim
from libs.domain.reason import Rule, TargetKind
from libs.domain.requirement import Requirement, parse_bound
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.explaining.candidate import (
    Attempt,
    Candidate,
    Found,
    Question,
    a_change,
    once,
)
from services.solver.core.explaining.edits import (
    with_catalogue,
    with_pool,
    with_requirement,
    with_requirements,
)
from services.solver.core.explaining.slip_changes import meant_keys
from services.solver.core.explaining.trial import Trials
from services.solver.core.offers.template import in_order

_OUT = frozenset({Rule.POOL_NOT_READY, Rule.POOL_STATIC, Rule.CATALOGUE, Rule.TAINTS, Rule.DEVICES})
"""Rules that none of these changes bears upon."""
_REQUIREMENTS = "spec.template.spec.requirements"
_ANSWERS = frozenset(
    {
        Rule.NODE_AFFINITY,
        Rule.VOLUME_TOPOLOGY,
        Rule.STORAGE_CAPACITY,
        Rule.RESOURCES,
        Rule.OFFERINGS,
        Rule.POOL_REQUIREMENTS,
        Rule.HOST_PORTS,
        Rule.TOPOLOGY_SPREAD,
        Rule.POD_AFFINITY,
        Rule.POD_ANTI_AFFINITY,
    }
)


def pool_candidates(question: Question) -> Iterator[Candidate]:
    """Yield changes of the pools, in the order in which they are tried, and of what is sold."""
    for number, pool in enumerate(in_order(question.snapshot.nodepools.values())):
        rule = question.pool_rule(pool.name)
        if rule is None or rule in _OUT:
            continue
        for one in pool.template.requirements:
            yield Candidate(
                kind=ChangeKind.POOL_REQUIREMENT,
                text=f"{number:03} {one.key}",
                answers=_ANSWERS,
                attempt=_widened(question, pool, one),
            )
            if one.min_values is not None:
                yield Candidate(
                    kind=ChangeKind.POOL_MIN_VALUES,
                    text=f"{number:03} {one.key}",
                    answers=frozenset({Rule.MIN_VALUES}),
                    attempt=_fewer_values(question, pool, one),
                )
        if rule is Rule.NODE_AFFINITY:
            yield from _labels(question, pool, number)
        yield from _offerings(question, pool, number)


# Requirements.


def _widened(question: Question, pool: NodePool, one: Requirement) -> Attempt:
    def attempt(trials: Trials) -> Found | None:
        rest = with_requirements(pool, pool.template.requirements.without([one.key]))
        without = with_pool(question.snapshot, rest)
        landed = trials.land(without)
        if landed is None or landed.landing.name != pool.name or landed.landing.planned is None:
            return None
        value = _value_of(question.snapshot, pool, landed.landing.planned, one.key)
        wider = None if value is None else _with_value(one, value)
        if wider is not None and value is not None:
            change = a_change(
                ChangeKind.POOL_REQUIREMENT,
                f'let nodepool "{pool.name}" have {value} as {one.key}, too',
                nodepool=pool.name,
                field=_entry(one),
                old=str(one),
                new=str(wider),
            )
            edited = with_pool(question.snapshot, with_requirement(pool, wider))
            if (found := once(change, lambda: edited)(trials)) is not None:
                return found
        change = a_change(
            ChangeKind.POOL_REQUIREMENT,
            f'let nodepool "{pool.name}" not require {one}',
            nodepool=pool.name,
            field=_entry(one),
            old=str(one),
        )
        where = landed.landing
        return Found(
            change=replace(change, landing_kind=where.kind, landing=where.name), edited=without
        )

    return attempt


def _entry(one: Requirement) -> str:
    """Return the path of a requirement, by its key: what order they are written in is not known."""
    return f'{_REQUIREMENTS}[?(@.key=="{one.key}")]'


def _value_of(
    snapshot: ClusterSnapshot, pool: NodePool, claim: PlannedNodeClaim, key: str
) -> str | None:
    """Return the value that a label has on what the claim would be bought as."""
    option = claim.cheapest
    known = {
        label_keys.INSTANCE_TYPE: option.instance_type,
        label_keys.ZONE: option.zone,
        label_keys.CAPACITY_TYPE: option.capacity_type,
    }
    if key in known:
        return known[key]
    catalogue = snapshot.catalogues[pool.template.node_class.key]
    for kind in catalogue.instance_types:
        if kind.name == option.instance_type:
            own = kind.requirements.get(key)
            return own.any_value() if own is not None else None
    return None


def _with_value(one: Requirement, value: str) -> Requirement | None:
    """Return the requirement that accepts the value, too; None if there is no such one."""
    if not one.complement:
        return replace(one, values=one.values | {value})
    number = parse_bound(value)
    if number is None and (one.gte is not None or one.lte is not None):
        return None
    return replace(
        one,
        values=one.values - {value},
        gte=None if one.gte is None or number is None else min(one.gte, number),
        lte=None if one.lte is None or number is None else max(one.lte, number),
    )


def _fewer_values(question: Question, pool: NodePool, one: Requirement) -> Attempt:
    def attempt(trials: Trials) -> Found | None:
        lenient = with_requirement(pool, replace(one, min_values=None))
        landed = trials.land(with_pool(question.snapshot, lenient))
        if landed is None or landed.landing.planned is None:
            return None
        there = _values_there(question.snapshot, pool, landed.landing.planned, one.key)
        number = min(there, one.min_values or 0)
        change = a_change(
            ChangeKind.POOL_MIN_VALUES,
            f'lower minValues of {one.key} in nodepool "{pool.name}" to {number}',
            nodepool=pool.name,
            field=f"{_entry(one)}.minValues",
            old=str(one.min_values),
            new=str(number),
        )
        edited = with_requirement(pool, replace(one, min_values=number or None))
        return once(change, lambda: with_pool(question.snapshot, edited))(trials)

    return attempt


def _values_there(
    snapshot: ClusterSnapshot, pool: NodePool, claim: PlannedNodeClaim, key: str
) -> int:
    """Return how many values of a label the types of a claim have."""
    catalogue = snapshot.catalogues[pool.template.node_class.key]
    listed = frozenset(claim.instance_types)
    values: set[str] = set()
    for kind in catalogue.instance_types:
        own = kind.requirements.get(key)
        if kind.name in listed and own is not None and not own.complement:
            values |= own.values
    return len(values)


# Labels.


def _labels(question: Question, pool: NodePool, number: int) -> Iterator[Candidate]:
    """Yield labels that the pod asks for and that no node of the pool has."""
    shape = question.shape
    asked = [*shape.node_selector]
    asked += [one for term in shape.required_node_terms for one in term.requirements]
    known = pool.template.requirements
    labels = dict(pool.template.labels)
    for one in dict.fromkeys(asked):
        value = one.any_value()
        if one.absent or value is None or one.key in known or one.key in labels:
            continue
        if one.key in label_keys.WELL_KNOWN or label_keys.is_restricted(one.key):
            continue
        if meant_keys(question, one.key):
            continue
        change = a_change(
            ChangeKind.POOL_LABEL,
            f'label the nodes of nodepool "{pool.name}" with {one.key}={value}',
            nodepool=pool.name,
            field=f'spec.template.metadata.labels["{one.key}"]',
            new=value,
        )
        wider = tuple(sorted({**labels, one.key: value}.items()))
        edited = replace(pool, template=replace(pool.template, labels=wider))
        yield Candidate(
            kind=change.kind,
            text=f"{number:03} {one.key}",
            answers=frozenset({Rule.NODE_AFFINITY}),
            attempt=once(change, partial(with_pool, question.snapshot, edited)),
        )


# What is sold.


def _offerings(question: Question, pool: NodePool, number: int) -> Iterator[Candidate]:
    catalogue = question.snapshot.catalogues.get(pool.template.node_class.key)
    if catalogue is None:
        return
    if all(one.available for kind in catalogue.instance_types for one in kind.offerings):
        return
    yield Candidate(
        kind=ChangeKind.OFFERING,
        text=f"{number:03}",
        answers=frozenset({Rule.OFFERINGS, Rule.NODE_AFFINITY, Rule.POOL_REQUIREMENTS}),
        attempt=_restocked(question, pool, catalogue),
    )


def _restocked(question: Question, pool: NodePool, catalogue: Catalogue) -> Attempt:
    def attempt(trials: Trials) -> Found | None:
        everything = _available(catalogue, None)
        landed = trials.land(with_catalogue(question.snapshot, everything))
        if landed is None or landed.landing.kind is not TargetKind.NODEPOOL:
            return None
        if landed.landing.planned is None or landed.landing.name != pool.name:
            return None
        option = landed.landing.planned.cheapest
        change = a_change(
            ChangeKind.OFFERING,
            f"{option.instance_type} in {option.zone} ({option.capacity_type}) is available again",
            old="unavailable",
            new="available",
        )
        edited = with_catalogue(question.snapshot, _available(catalogue, option))
        return once(change, lambda: edited)(trials)

    return attempt


def _available(catalogue: Catalogue, option: LaunchOption | None) -> Catalogue:
    """Return the catalogue with this offering, or with None everything, to be had."""

    def restocked(kind: str, one: Offering) -> Offering:
        mine = option is None or (
            kind == option.instance_type
            and one.zone == option.zone
            and one.capacity_type == option.capacity_type
        )
        return replace(one, available=True) if mine else one

    return replace(
        catalogue,
        instance_types=tuple(
            replace(kind, offerings=tuple(restocked(kind.name, one) for one in kind.offerings))
            for kind in catalogue.instance_types
        ),
    )
