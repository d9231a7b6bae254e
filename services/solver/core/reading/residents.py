"""Shapes of pods that run, looked through once for all that anybody asks of them.

Apart from the pods because shapes are few and change seldom: from one revision to the next, and in
most what-ifs, nothing comes to them. Whose last pod goes may stay here, so that whoever asks says
which shapes there are.

Laws:
    - What is told of shapes depends on them alone, not on which came first.
"""

from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from types import MappingProxyType
from typing import TypeVar

from libs.domain import labels as label_keys
from libs.domain.pod import PodShape
from libs.domain.selector import LabelSelector
from libs.domain.topology import PodAffinityTerm

H = TypeVar("H", bound=Hashable)
Label = tuple[str, str]
Sight = tuple[str, Label | None]
"""Whom a term may be about: a namespace or `_ANY`, and a label or anybody."""
_ANY = ""
Kept = Mapping[H, Sequence[int]]
"""Ids of shapes by what they have in common."""

_NOTHING: Mapping[object, Sequence[int]] = MappingProxyType({})
NO_TERMS: Mapping[PodAffinityTerm, Sequence[int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Residents:
    """Shapes by id, and what they have in common; each mapping holds ids in any order."""

    by_id: Mapping[int, PodShape] = field(default_factory=dict)
    by_namespace: Kept[str] = field(default_factory=dict)
    by_label: Kept[tuple[str, Label]] = field(default_factory=dict)
    """By namespace and label."""
    by_compared: Kept[str] = field(default_factory=dict)
    """By the label keys, hosts' names apart, by which they look at other pods."""
    by_term: Kept[PodAffinityTerm] = field(default_factory=dict)
    """By the terms of their anti-affinities."""
    terms_by_sight: Mapping[Sight, Sequence[PodAffinityTerm]] = field(default_factory=dict)
    """Those terms by whom they may be about."""
    notable: frozenset[int] = frozenset()
    """Who takes more of a node than room: ports, disks, volumes."""
    with_shared_volumes: frozenset[int] = frozenset()

    def with_more(self, shapes: Iterable[PodShape]) -> "Residents":
        """Return these and others, whose ids nobody here has."""
        more = tuple(shapes)
        by_term = _more(self.by_term, more, lambda shape: shape.anti_affinity)
        terms_by_sight: dict[Sight, list[PodAffinityTerm]] = defaultdict(list)
        for term in by_term:
            if term not in self.by_term:
                for sight in _sights(term):
                    terms_by_sight[sight].append(term)
        return Residents(
            by_id={**self.by_id, **{shape.id: shape for shape in more}},
            by_namespace=_more(self.by_namespace, more, lambda shape: (shape.namespace,)),
            by_label=_more(
                self.by_label,
                more,
                lambda shape: [(shape.namespace, label) for label in shape.labels],
            ),
            by_compared=_more(self.by_compared, more, compared),
            by_term=by_term,
            terms_by_sight=_joined(self.terms_by_sight, terms_by_sight),
            notable=self.notable.union(shape.id for shape in more if _is_notable(shape)),
            with_shared_volumes=self.with_shared_volumes.union(
                shape.id for shape in more if shape.shared_volumes
            ),
        )

    def compared(self, there: Container[int]) -> frozenset[str]:
        """Return the label keys by which those that are there look at other pods."""
        kept = self.by_compared.items()
        return frozenset(key for key, ids in kept if any(one in there for one in ids))

    def terms_about(self, shape: PodShape) -> Iterable[PodAffinityTerm]:
        """Yield the terms that may select pods of a shape; more do not."""
        return chain.from_iterable(self._terms_in_sight(shape))

    def most_about(self, shape: PodShape) -> int:
        """Return how many these terms are."""
        return sum(map(len, self._terms_in_sight(shape)))

    def _terms_in_sight(self, shape: PodShape) -> Iterator[Sequence[PodAffinityTerm]]:
        for sight in product((shape.namespace, _ANY), (*shape.labels, None)):
            yield self.terms_by_sight.get(sight, ())


def compared(shape: PodShape) -> frozenset[str]:
    """Return the label keys, but for hosts' names, by which pods of a shape look at other pods."""
    terms = [*shape.affinity, *shape.anti_affinity]
    terms += [wish.term for wish in shape.preferred_affinity]
    terms += [wish.term for wish in shape.preferred_anti_affinity]
    keys = [term.topology_key for term in terms]
    keys += [constraint.topology_key for constraint in shape.topology_spread]
    keys += [volume.topology_key for volume in shape.shared_volumes if volume.topology_key]
    # On hosts every bin is a domain, so that the label itself matters to who selects by it only.
    return frozenset(map(label_keys.canonical_key, keys)) - {label_keys.HOSTNAME}


def selected_labels(selector: LabelSelector | None) -> tuple[Label, ...] | None:
    """Return labels one of which whoever is selected has; None if it may be anybody."""
    if selector is None:
        return ()
    for one in selector.requirements:
        if not one.complement and not one.absent:
            return tuple((one.key, value) for value in sorted(one.values))
    return None


def _sights(term: PodAffinityTerm) -> Iterable[Sight]:
    spaces = dict.fromkeys(term.namespaces) if term.namespace_selector is None else (_ANY,)
    labels = selected_labels(term.selector)
    return product(spaces, (None,) if labels is None else labels)


def _is_notable(shape: PodShape) -> bool:
    return bool(
        shape.host_ports
        or shape.exclusive_disks
        or shape.shared_volumes
        or shape.volume_attach_counts
    )


def _more(
    known: Kept[H], shapes: Iterable[PodShape], common: Callable[[PodShape], Iterable[H]]
) -> Kept[H]:
    added: dict[H, list[int]] = defaultdict(list)
    for shape in shapes:
        for one in dict.fromkeys(common(shape)):
            added[one].append(shape.id)
    return _joined(known, added)


K = TypeVar("K")
V = TypeVar("V")


def _joined(known: Mapping[K, Sequence[V]], added: Mapping[K, list[V]]) -> Mapping[K, Sequence[V]]:
    return {**known, **{key: (*known.get(key, ()), *more) for key, more in added.items()}}
