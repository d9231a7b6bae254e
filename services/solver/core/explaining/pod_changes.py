"""Changes of the pod itself that may give it a place: where it may run, beside whom, with what.

Apart because they concern nobody else: only this pod gets another shape.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from libs.domain import labels as label_keys
from libs.domain.explanation import Change, ChangeKind
from libs.domain.pod import NOWHERE, NodeTerm, PodShape
from libs.domain.reason import Rule
from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from libs.domain.taint import Toleration
from libs.domain.topology import PodAffinityTerm
from services.solver.core.explaining.candidate import (
    SELECTION,
    Candidate,
    Question,
    a_change,
    attempt_shape,
)
from services.solver.core.explaining.known import known_taints, known_values
from services.solver.core.explaining.slip_changes import respelt, slip, told, toleration_slips
from services.solver.core.pods.bearing import not_borne
from services.solver.core.reasons.neighbours import selected
from services.solver.core.reasons.storage_room import new_volume

_Item = TypeVar("_Item")

_MOST_TAINTS = 8
_MOST_ZONES = 8
_AFFINITY = "spec.affinity"
_TERMS = "requiredDuringSchedulingIgnoredDuringExecution"
_NODE_AFFINITY = f"{_AFFINITY}.nodeAffinity.{_TERMS}"
_NODE_TERMS = f"{_NODE_AFFINITY}.nodeSelectorTerms"
_TAINTS = frozenset({Rule.TAINTS})
_VOLUMES = frozenset({Rule.VOLUME_TOPOLOGY, Rule.VOLUME_CLAIM, Rule.VOLUME_LIMITS})


def pod_candidates(question: Question) -> Iterator[Candidate]:
    """Yield changes of tolerations, node selection, affinities, ports and volumes."""
    yield from toleration_slips(question)
    yield from _tolerations(question)
    yield from _selector(question)
    yield from _node_terms(question)
    yield from _affinities(question)
    yield from _ports(question)
    yield from _volume_zones(question)
    yield from _volume_access(question)
    yield from _storage_rooms(question)


def _tolerations(question: Question) -> Iterator[Candidate]:
    shape = question.shape
    there = ", ".join(map(told, shape.tolerations))
    for taint in not_borne(shape, known_taints(question.decision))[:_MOST_TAINTS]:
        toleration = Toleration(key=taint.key, value=taint.value, effect=taint.effect)
        change = a_change(
            ChangeKind.TOLERATION,
            f"tolerate the taint {taint}",
            field="spec.tolerations",
            old=there,
            new=f"{there}, {taint}" if there else str(taint),
        )
        edited = replace(shape, tolerations=(*shape.tolerations, toleration))
        yield Candidate(
            kind=change.kind,
            text=str(taint),
            answers=_TAINTS,
            attempt=attempt_shape(question, change, edited),
        )


# Node selection.


def _selector(question: Question) -> Iterator[Candidate]:
    shape = question.shape
    for one in shape.node_selector:
        field = f'spec.nodeSelector["{one.key}"]'
        rest = shape.node_selector.without([one.key])
        yield from _without(question, one, field, replace(shape, node_selector=rest))
        for right in respelt(question, one):
            where = field if one.key == right.key else "spec.nodeSelector"
            edited = replace(shape, node_selector=Requirements([*rest, right]))
            yield slip(question, one, right, where, edited)


def _node_terms(question: Question) -> Iterator[Candidate]:
    shape = question.shape
    for index, term in enumerate(shape.required_node_terms):
        if term == NOWHERE:
            yield _without_terms(question)
            continue
        for one in term.requirements:
            rest = replace(term, requirements=term.requirements.without([one.key]))
            field = f'{_NODE_TERMS}[{index}].matchExpressions[?(@.key=="{one.key}")]'
            where = _NODE_AFFINITY if _says_nothing(rest) else field
            yield from _without(question, one, where, _with_term(shape, index, rest))
            for right in respelt(question, one):
                terms = Requirements([*rest.requirements, right])
                edited = _with_term(shape, index, replace(term, requirements=terms))
                yield slip(question, one, right, field, edited)
        if term.node_names or term.excluded_node_names:
            rest = replace(term, node_names=(), excluded_node_names=())
            names = ", ".join((*term.node_names, *term.excluded_node_names))
            change = a_change(
                ChangeKind.NODE_SELECTION,
                f"select no nodes by name ({names})",
                field=_NODE_AFFINITY
                if _says_nothing(rest)
                else f"{_NODE_TERMS}[{index}].matchFields",
                old=names,
            )
            yield Candidate(
                kind=change.kind,
                text=names,
                answers=SELECTION,
                attempt=attempt_shape(question, change, _with_term(shape, index, rest)),
            )


def _without_terms(question: Question) -> Candidate:
    text = "drop the terms, none of which matches a node"
    change = a_change(
        ChangeKind.NODE_SELECTION, text, field=_NODE_AFFINITY, old="no term that matches"
    )
    edited = replace(question.shape, required_node_terms=())
    return Candidate(
        kind=change.kind,
        text=_NODE_TERMS,
        answers=SELECTION,
        attempt=attempt_shape(question, change, edited),
    )


def _with_term(shape: PodShape, index: int, term: NodeTerm) -> PodShape:
    """Return the shape with another term in place of one; a term that says nothing is gone."""
    terms = list(shape.required_node_terms)
    terms[index] = term
    if _says_nothing(term):
        terms = []  # alternatives to "anywhere" say nothing
    return replace(shape, required_node_terms=tuple(terms))


def _says_nothing(term: NodeTerm) -> bool:
    """Tell whether a term is empty, which Kubernetes reads as one that matches no node.

    So that whoever takes away the last of a term has to take away the whole affinity.
    """
    return not (len(term.requirements) or term.node_names or term.excluded_node_names)


def _without(
    question: Question, one: Requirement, field: str, edited: PodShape
) -> Iterator[Candidate]:
    change = a_change(ChangeKind.NODE_SELECTION, f"do not ask for {one}", field=field, old=str(one))
    yield Candidate(
        kind=change.kind,
        text=f"{one} {field}",
        answers=SELECTION,
        attempt=attempt_shape(question, change, edited),
    )


# Other pods.


def _affinities(question: Question) -> Iterator[Candidate]:
    shape = question.shape
    for index, term in enumerate(shape.affinity):
        what = _selected(term)
        change = a_change(
            ChangeKind.AFFINITY,
            f"need no {what} in the same {term.topology_key}",
            field=f"{_AFFINITY}.podAffinity.{_TERMS}[{index}]",
            old=f"{what} by {term.topology_key}",
        )
        edited = replace(shape, affinity=_but(shape.affinity, index))
        yield _by_index(question, change, index, Rule.POD_AFFINITY, edited)
    for index, term in enumerate(shape.anti_affinity):
        what = _selected(term)
        change = a_change(
            ChangeKind.ANTI_AFFINITY,
            f"bear {what} in the same {term.topology_key}",
            field=f"{_AFFINITY}.podAntiAffinity.{_TERMS}[{index}]",
            old=f"{what} by {term.topology_key}",
        )
        edited = replace(shape, anti_affinity=_but(shape.anti_affinity, index))
        yield _by_index(question, change, index, Rule.POD_ANTI_AFFINITY, edited)


def _but(many: tuple[_Item, ...], index: int) -> tuple[_Item, ...]:
    """Return all but one."""
    return many[:index] + many[index + 1 :]


def _by_index(
    question: Question, change: Change, index: int, answers: Rule, edited: PodShape
) -> Candidate:
    return Candidate(
        kind=change.kind,
        text=f"{index:03}",
        answers=frozenset({answers}),
        attempt=attempt_shape(question, change, edited),
    )


def _selected(term: PodAffinityTerm) -> str:
    if term.selector is None:
        return "pods"
    labels = selected(term.selector)
    return f"pods with {labels}" if labels else "any pods"


# What it takes for itself.


def _ports(question: Question) -> Iterator[Candidate]:
    shape = question.shape
    for index, port in enumerate(shape.host_ports):
        name = f"{port.port}/{port.protocol}"
        change = a_change(
            ChangeKind.HOST_PORT,
            f"do without the host port {name}",
            field="spec.containers[*].ports[*].hostPort",
            old=name,
        )
        edited = replace(shape, host_ports=_but(shape.host_ports, index))
        yield _by_index(question, change, index, Rule.HOST_PORTS, edited)


def _volume_zones(question: Question) -> Iterator[Candidate]:
    shape = question.shape
    zones = sorted(known_values(question.decision, label_keys.ZONE))[:_MOST_ZONES]
    many = len(shape.volumes)
    volume = f"one of its {many} volumes" if many > 1 else "its volume"
    for index, alternatives in enumerate(shape.volumes):
        asked = [one.get(label_keys.ZONE) for one in alternatives]
        there = frozenset(value for one in asked if one is not None for value in one.values)
        for zone in zones if there else ():
            if zone in there:
                continue
            moved = (Requirements.from_labels({label_keys.ZONE: zone}),)
            volumes = (*shape.volumes[:index], moved, *shape.volumes[index + 1 :])
            old = ", ".join(sorted(there))
            change = a_change(
                ChangeKind.VOLUME,
                f"move {volume} from {old} to {zone}",
                old=old,
                new=zone,
            )
            yield Candidate(
                kind=change.kind,
                text=f"{index:03} {zone}",
                answers=_VOLUMES,
                attempt=attempt_shape(question, change, replace(shape, volumes=volumes)),
            )


def _volume_access(question: Question) -> Iterator[Candidate]:
    shape = question.shape
    for number, shared in enumerate(shape.shared_volumes):
        if not shared.exclusive:
            continue
        change = a_change(
            ChangeKind.VOLUME,
            f'make persistentvolumeclaim "{shared.claim}" anew as one that several pods may use '
            "(ReadWriteOnce, not ReadWriteOncePod; access modes of a claim cannot be changed)",
            old="ReadWriteOncePod",
            new="ReadWriteOnce",
        )
        claims = list(shape.shared_volumes)
        claims[number] = replace(shared, exclusive=False)
        yield Candidate(
            kind=change.kind,
            text=shared.claim,
            answers=_VOLUMES,
            attempt=attempt_shape(question, change, replace(shape, shared_volumes=tuple(claims))),
        )


def _storage_rooms(question: Question) -> Iterator[Candidate]:
    shape = question.shape
    for index, room in enumerate(shape.storage_rooms):
        change = a_change(ChangeKind.VOLUME, f"make room for {new_volume(room)}")
        edited = replace(shape, storage_rooms=_but(shape.storage_rooms, index))
        yield _by_index(question, change, index, Rule.STORAGE_CAPACITY, edited)
