"""Changes where the volumes run out that a pod's claims may take.

Apart from the pod's other changes because most of these are about volumes that others have as well:
a claim that another volume suits, which is there; one more of those that suit it; a class that
makes one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from libs.domain.explanation import ChangeKind
from libs.domain.pod import PodShape
from libs.domain.reason import Rule
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.resources import EPHEMERAL_STORAGE, readable_amount
from libs.domain.snapshot import ClusterSnapshot, keyed
from libs.domain.volume import UnboundClaim, VolumeKind
from services.solver.core.explaining.candidate import (
    Candidate,
    Question,
    a_change,
    attempt_shape,
    once,
)

_RULES = frozenset({Rule.VOLUME_BINDING})
_MOST_KINDS = 4
_MOST_PLACES = 4
_TERMS_SHOWN = 2
_KEPT = " kept for "
_OTHER, _ONE_MORE, _OTHER_CLASS, _MAKING = range(4)
"""Sizes of changes: what is there already comes first."""


def free_volume_candidates(question: Question) -> Iterator[Candidate]:
    """Yield changes of the claims that wait for their pod, and of what they may take."""
    for index, claim in enumerate(question.shape.unbound_claims):
        yield from _other_kinds(question, index, claim)
        yield from _one_more(question, claim)
        yield from _making(question, index, claim)


def _other_kinds(question: Question, index: int, claim: UnboundClaim) -> Iterator[Candidate]:
    """Yield the claim as one that volumes suit which are there and do not suit it now."""
    kinds = question.snapshot.volume_kinds
    own = {_class_of(key) for key in claim.kinds}
    others = [one for key, one in kinds.items() if key not in claim.kinds and _KEPT not in key]
    others.sort(key=lambda one: (_class_of(one.key) not in own, one.key))
    for kind in others[:_MOST_KINDS]:
        edited = replace(claim, kinds=tuple(sorted((*claim.kinds, kind.key))))
        shape = _with_claim(question.shape, index, edited, _reach(kind))
        change = a_change(
            ChangeKind.VOLUME,
            f"make {_shown(claim)} anew as one that a volume suits which is there: "
            f"{_in_words(kind)}",
            new=_in_words(kind),
        )
        yield Candidate(
            kind=change.kind,
            amount=_OTHER if _class_of(kind.key) in own else _OTHER_CLASS,
            text=f"{index:03} {kind.key}",
            answers=_RULES,
            attempt=attempt_shape(question, change, shape),
        )


def _one_more(question: Question, claim: UnboundClaim) -> Iterator[Candidate]:
    """Yield one more volume of each kind that suits the claim, where there are some already."""
    kinds = question.snapshot.volume_kinds
    for key in [one for one in claim.kinds if one in kinds][:_MOST_KINDS]:
        places = sorted(range(len(kinds[key].places)), key=partial(_distance, question, kinds[key]))
        for number in places[:_MOST_PLACES]:
            where = _where(kinds[key].places[number].terms)
            change = a_change(
                ChangeKind.VOLUME,
                f"provide one more persistent volume that suits {_shown(claim)}: "
                f"{_in_words(kinds[key])}{where}",
                new=_in_words(kinds[key]),
            )
            edited = partial(_with_one_more, question.snapshot, kinds[key], number)
            yield Candidate(
                kind=change.kind,
                amount=_ONE_MORE,
                text=f"{key} {number:04}",
                answers=_RULES,
                attempt=once(change, edited),
            )


def _making(question: Question, index: int, claim: UnboundClaim) -> Iterator[Candidate]:
    """Yield the claim as one of a class that makes a volume wherever the pod goes."""
    change = a_change(
        ChangeKind.VOLUME,
        f"make {_shown(claim)} anew with a storage class that makes a volume where its pod goes",
    )
    edited = replace(claim, made=(ANYTHING,))
    shape = _with_claim(question.shape, index, edited, (ANYTHING,))
    yield Candidate(
        kind=change.kind,
        amount=_MAKING,
        text=f"{index:03}",
        answers=_RULES,
        attempt=attempt_shape(question, change, shape),
    )


def _with_claim(
    shape: PodShape, index: int, claim: UnboundClaim, reach: Iterable[Requirements]
) -> PodShape:
    """Return the shape with another claim, which may lead where its volumes are.

    What its claims demand together is not looked at: who wants several volumes gets no place by it.
    """
    claims = (*shape.unbound_claims[:index], claim, *shape.unbound_claims[index + 1 :])
    volumes = shape.volumes
    if len(shape.unbound_claims) == 1 and len(volumes) == 1:
        volumes = ((*volumes[0], *reach),)
    return replace(shape, unbound_claims=claims, volumes=volumes)


def _with_one_more(snapshot: ClusterSnapshot, kind: VolumeKind, number: int) -> ClusterSnapshot:
    place = kind.places[number]
    places = list(kind.places)
    places[number] = replace(place, count=place.count + 1)
    kinds = {**snapshot.volume_kinds, kind.key: replace(kind, places=tuple(places))}
    return replace(snapshot, volume_kinds=keyed("volume_kinds", kinds.values()))


def _distance(question: Question, kind: VolumeKind, number: int) -> tuple[bool, int]:
    """Return what orders places: first those of nodes that refuse for want of a volume alone."""
    standing = question.bins.standing
    refusing = {
        int(standing.class_of[position])
        for position in question.leftover.refusals.by(Rule.VOLUME_BINDING).tolist()
    }
    terms = kind.places[number].terms
    reached = any(standing.classes[one].allows(term) for one in refusing for term in terms)
    return not reached, number


def _reach(kind: VolumeKind) -> Iterator[Requirements]:
    for place in kind.places:
        yield from place.terms


def _shown(claim: UnboundClaim) -> str:
    return f'persistentvolumeclaim "{claim.claim}"' if claim.claim else "its persistentvolumeclaim"


def _class_of(key: str) -> str:
    return key.partition(" ")[0]


def _in_words(kind: VolumeKind) -> str:
    """Return what a kind is called, its size as people write it."""
    parts = kind.key.split(" ")
    size = next((at for at, part in enumerate(parts) if part.isdecimal()), None)
    if size is not None:
        parts[size] = readable_amount(EPHEMERAL_STORAGE, int(parts[size]))
    return " ".join(part for part in parts if part)


def _where(terms: tuple[Requirements, ...]) -> str:
    if ANYTHING in terms:
        return ""
    told = (", ".join(sorted(str(one) for one in term)) for term in terms[:_TERMS_SHOWN])
    return f", for nodes with {' or '.join(told)}"
