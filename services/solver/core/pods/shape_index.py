"""Which shapes a selector matches, found by label without asking all of them.

Apart because tallies count by it, and companions are found by it before there is anything to count.

Source: kube-scheduler's PodTopologySpread and InterPodAffinity: a spread constraint with an empty
selector counts nobody; an affinity is about pods that match all its terms.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from libs.domain.pod import PodShape
from libs.domain.selector import LabelSelector
from libs.domain.topology import PodAffinityTerm, TopologySpread
from libs.domain.workload import Namespace
from services.solver.core.reading.bound_pods import BoundPods
from services.solver.core.reading.residents import selected_labels


class ShapeIndex:
    """Shapes, by id, that are found by label.

    Args:
        shapes: of pods that wait, or are yet to come.
        namespaces: as selectors see them.
        bound: pods that run, whose shapes are found, too.
    """

    def __init__(
        self,
        shapes: Iterable[PodShape],
        namespaces: Mapping[str, Namespace],
        bound: BoundPods | None = None,
    ) -> None:
        self._own = {shape.id: shape for shape in shapes}
        self._by_label: dict[tuple[str, str], list[int]] = defaultdict(list)
        for shape in self._own.values():
            for label in shape.labels:
                self._by_label[label].append(shape.id)
        self._bound = bound
        self._namespaces = namespaces
        self._known: dict[tuple[PodAffinityTerm, ...], frozenset[int]] = {}

    def shape(self, number: int) -> PodShape:
        """Return the shape of an id."""
        found = self._own.get(number)
        if found is None and self._bound is not None:
            found = self._bound.residents.by_id[number]
        if found is None:
            raise KeyError(number)
        return found

    def spread(self, constraint: TopologySpread, namespace: str) -> frozenset[int]:
        """Return the ids of the shapes that a spread constraint counts."""
        selector = constraint.selector
        if selector is None or not selector.requirements:
            return frozenset()
        return frozenset(
            number
            for number in self._selected(selector)
            if self.shape(number).namespace == namespace
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

    def matches(self, term: PodAffinityTerm, shape: PodShape) -> bool:
        """Tell whether a term is about pods of a shape."""
        return (
            term.selector is not None
            and self._covers(term, shape.namespace)
            and term.selector.matches(dict(shape.labels))
        )

    def _matching(self, term: PodAffinityTerm) -> frozenset[int]:
        if term.selector is None:
            return frozenset()
        return frozenset(
            number
            for number in self._selected(term.selector)
            if self._covers(term, self.shape(number).namespace)
        )

    def _covers(self, term: PodAffinityTerm, namespace: str) -> bool:
        if namespace in term.namespaces:
            return True
        if term.namespace_selector is None:
            return False
        known = self._namespaces.get(namespace)
        return term.namespace_selector.matches(dict(known.labels) if known is not None else {})

    def _selected(self, selector: LabelSelector) -> Iterable[int]:
        if all(one.complement and one.absent for one in selector.requirements):
            # Most are selected; only those that are not are looked up.
            return self._everyone.difference(
                *(
                    self._labelled((one.key, value))
                    for one in selector.requirements
                    for value in one.values
                )
            )
        return [
            number
            for number in self._candidates(selector)
            if selector.matches(dict(self.shape(number).labels))
        ]

    @cached_property
    def _everyone(self) -> frozenset[int]:
        return frozenset((*self._own, *(() if self._bound is None else self._bound.by_shape)))

    def _labelled(self, label: tuple[str, str]) -> Iterator[int]:
        """Yield the shapes with a label, some of them twice."""
        yield from self._by_label.get(label, ())
        if self._bound is not None:
            there = self._bound.residents.by_label.get(label, ())
            yield from (one for one in there if one in self._bound.by_shape)

    def _candidates(self, selector: LabelSelector) -> Iterator[int]:
        """Yield the shapes that may be selected, some of them twice."""
        labels = selected_labels(selector)
        if labels is None:
            yield from self._everyone
            return
        for label in labels:
            yield from self._labelled(label)
