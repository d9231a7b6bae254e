"""Which shapes a selector matches, found by label without asking all of them.

Apart because tallies count by it, and companions are found by it before there is anything to count.

Source: kube-scheduler's PodTopologySpread and InterPodAffinity: a spread constraint with an empty
selector counts nobody; an affinity is about pods that match all its terms.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

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
        self._by_label: dict[tuple[str, tuple[str, str]], list[int]] = defaultdict(list)
        self._by_namespace: dict[str, list[int]] = defaultdict(list)
        for shape in self._own.values():
            self._by_namespace[shape.namespace].append(shape.id)
            for label in shape.labels:
                self._by_label[shape.namespace, label].append(shape.id)
        self._bound = bound
        self._namespaces = namespaces
        self._known: dict[tuple[PodAffinityTerm, ...], frozenset[int]] = {}
        self._everyone: dict[str, frozenset[int]] = {}
        self._covered: dict[object, tuple[str, ...]] = {}

    def __contains__(self, number: int) -> bool:
        """Tell whether there is a shape of an id."""
        running = {} if self._bound is None else self._bound.residents.by_id
        return number in self._own or number in running

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
        return frozenset(self._selected(selector, namespace))

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

    def most_spread(self, constraint: TopologySpread, namespace: str) -> int:
        """Return how many shapes a spread constraint counts at most, without finding them."""
        selector = constraint.selector
        if selector is None or not selector.requirements:
            return 0
        return self._most(selector, namespace)

    def most_matching(self, term: PodAffinityTerm) -> int:
        """Return how many shapes match a term at most, without finding them."""
        selector = term.selector
        return 0 if selector is None else sum(self._most(selector, one) for one in self._of(term))

    def _matching(self, term: PodAffinityTerm) -> frozenset[int]:
        selector = term.selector
        if selector is None:
            return frozenset()
        return frozenset(
            chain.from_iterable(self._selected(selector, one) for one in self._of(term))
        )

    def _of(self, term: PodAffinityTerm) -> tuple[str, ...]:
        """Return the namespaces in which a term looks for pods."""
        if term.namespace_selector is None:
            return tuple(dict.fromkeys(term.namespaces))
        name = term.namespaces, term.namespace_selector
        if name not in self._covered:
            there = () if self._bound is None else self._bound.residents.by_namespace
            every = dict.fromkeys((*self._by_namespace, *there))
            self._covered[name] = tuple(one for one in every if self._covers(term, one))
        return self._covered[name]

    def _covers(self, term: PodAffinityTerm, namespace: str) -> bool:
        if namespace in term.namespaces:
            return True
        if term.namespace_selector is None:
            return False
        known = self._namespaces.get(namespace)
        return term.namespace_selector.matches(dict(known.labels) if known is not None else {})

    def _selected(self, selector: LabelSelector, namespace: str) -> Iterable[int]:
        if all(one.complement and one.absent for one in selector.requirements):
            # Most are selected; only those that are not are looked up.
            return self._all(namespace).difference(
                *(
                    self._labelled(namespace, (one.key, value))
                    for one in selector.requirements
                    for value in one.values
                )
            )
        known: dict[int, bool] = {}  # shapes of one kind have the same labels

        def matches(shape: PodShape) -> bool:
            found = known.get(id(shape.labels))
            if found is None:
                found = known[id(shape.labels)] = selector.matches(dict(shape.labels))
            return found

        candidates = self._candidates(selector, namespace)
        return [number for number in candidates if matches(self.shape(number))]

    def _all(self, namespace: str) -> frozenset[int]:
        found = self._everyone.get(namespace)
        if found is None:
            bound = self._bound
            there = () if bound is None else bound.residents.by_namespace.get(namespace, ())
            running = (one for one in there if bound is not None and one in bound.by_shape)
            own = self._by_namespace.get(namespace, ())
            found = self._everyone[namespace] = frozenset((*own, *running))
        return found

    def _labelled(self, namespace: str, label: tuple[str, str]) -> Iterator[int]:
        """Yield the shapes with a label, some of them twice."""
        yield from self._by_label.get((namespace, label), ())
        if self._bound is not None:
            there = self._bound.residents.by_label.get((namespace, label), ())
            yield from (one for one in there if one in self._bound.by_shape)

    def _candidates(self, selector: LabelSelector, namespace: str) -> Iterator[int]:
        """Yield the shapes that may be selected, some of them twice."""
        labels = selected_labels(selector)
        if labels is None:
            yield from self._all(namespace)
            return
        for label in labels:
            yield from self._labelled(namespace, label)

    def _most(self, selector: LabelSelector, namespace: str) -> int:
        labels = selected_labels(selector)
        if labels is None:
            return len(self._all(namespace))
        there = {} if self._bound is None else self._bound.residents.by_label
        names = [(namespace, label) for label in labels]
        return sum(len(self._by_label.get(one, ())) + len(there.get(one, ())) for one in names)
