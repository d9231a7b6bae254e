"""Which shapes a selector matches, found by label without asking all of them.

Apart because tallies count by it, and companions are found by it before there is anything to count.

Source: kube-scheduler's PodTopologySpread and InterPodAffinity: a spread constraint with an empty
selector counts nobody; an affinity is about pods that match all its terms.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from libs.domain.pod import PodShape
from libs.domain.selector import LabelSelector
from libs.domain.topology import PodAffinityTerm, TopologySpread
from libs.domain.workload import Namespace

ByLabel = Mapping[tuple[str, str], Sequence[int]]
"""Ids of shapes, in the order of the shapes, by a label that their pods have."""


def by_label(shapes: Iterable[PodShape]) -> ByLabel:
    """Return the ids of the shapes by each of their labels."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for shape in shapes:
        for item in shape.labels:
            found[item].append(shape.id)
    return found


class ShapeIndex:
    """Shapes, by id, that are found by label.

    Args:
        shapes: by id.
        namespaces: as selectors see them.
        by_label: gives what is known of these shapes and others; None: of nothing it is.
    """

    def __init__(
        self,
        shapes: Mapping[int, PodShape],
        namespaces: Mapping[str, Namespace],
        by_label: Callable[[], ByLabel] | None = None,
    ) -> None:
        self._shapes = shapes
        self._make = by_label
        self._namespaces = namespaces
        self._known: dict[tuple[PodAffinityTerm, ...], frozenset[int]] = {}

    def spread(self, constraint: TopologySpread, namespace: str) -> frozenset[int]:
        """Return the ids of the shapes that a spread constraint counts."""
        selector = constraint.selector
        if selector is None or not selector.requirements:
            return frozenset()
        return frozenset(
            number
            for number in self._selected(selector)
            if self._shapes[number].namespace == namespace
        )

    def matching_all(self, terms: tuple[PodAffinityTerm, ...]) -> frozenset[int]:
        """Return the ids of the shapes that match every one of the terms."""
        known = self._known.get(terms)
        if known is None:
            known = self._matching(terms[0])
            for term in terms[1:]:
                known &= self._matching(term)
            self._known[terms] = known
        return known

    @cached_property
    def _by_label(self) -> ByLabel:
        """Made when first asked for: where nothing selects pods it never is."""
        return by_label(self._shapes.values()) if self._make is None else self._make()

    def _matching(self, term: PodAffinityTerm) -> frozenset[int]:
        if term.selector is None:
            return frozenset()
        return frozenset(
            number
            for number in self._selected(term.selector)
            if self._covers(term, self._shapes[number].namespace)
        )

    def _covers(self, term: PodAffinityTerm, namespace: str) -> bool:
        if namespace in term.namespaces:
            return True
        if term.namespace_selector is None:
            return False
        known = self._namespaces.get(namespace)
        return term.namespace_selector.matches(dict(known.labels) if known is not None else {})

    def _selected(self, selector: LabelSelector) -> Iterable[int]:
        return [
            number
            for number in self._candidates(selector)
            if selector.matches(dict(self._shapes[number].labels))
        ]

    def _candidates(self, selector: LabelSelector) -> Iterable[int]:
        for one in selector.requirements:
            if not one.complement and not one.absent:
                return [
                    number
                    for value in sorted(one.values)
                    for number in self._by_label.get((one.key, value), ())
                    if number in self._shapes
                ]
        return self._shapes.keys()
