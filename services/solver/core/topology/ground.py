"""What bins and pools are, whatever is placed on them: their domains, who could get a node where.

Apart from counting because nothing here changes during a solve: each answer is found once.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from libs.domain.taint import HARD_EFFECTS
from services.solver.core.domains import ABSENT, Domains, members
from services.solver.core.exclusion import Exclusive, exclusives
from services.solver.core.offers.claim_class import ClaimClass, ClaimClasses
from services.solver.core.offers.template import Template
from services.solver.core.pods.ask import Ask, Place
from services.solver.core.pods.bearing import bears
from services.solver.core.standing.class_index import ClassIndex
from services.solver.core.standing.standing import Standing
from services.solver.core.topology.tally import Admission
from services.solver.core.vectors import Bools, Dimensions, Ints

_OPEN = -1
"""Domain number of a bin whose domain is not decided yet."""


class Ground:
    """Standing bins and templates, asked about topology."""

    def __init__(
        self,
        standing: Standing,
        templates: tuple[Template, ...],
        classes: ClaimClasses,
        domains: Domains,
        dimensions: Dimensions,
    ) -> None:
        self.standing = standing
        self.dimensions = dimensions
        self.templates = templates
        self.classes = classes
        self.domains = domains
        self._domain_of: dict[str, Ints] = {}
        self._within: dict[tuple[str, int], Bools] = {}
        self.class_index = ClassIndex(standing.classes)
        self._positions: dict[str, list[int]] = {}

    def domain_of(self, key: str) -> Ints:
        """Return (n_standing,): the number of the bin's domain, 0 without the key, -1 if open."""
        found = self._domain_of.get(key)
        if found is None:
            by_class = []
            for one in self.standing.classes:
                bits = one.domain(self.domains, key)
                by_class.append(_OPEN if bits is None else members(bits)[0])
            found = np.array(by_class, np.int64)[self.standing.class_of]
            self._domain_of[key] = found
        return found

    def within(self, key: str, bits: int) -> Bools:
        """Return (n_standing,): bins in one of these domains, and in no other whatever they become.

        A negative set is all domains but some, those that nobody has met included.
        """
        found = self._within.get((key, bits))
        if found is None:
            numbers = self.domain_of(key)
            decided = numbers != _OPEN
            found = self.domains.mask(key, bits)[np.where(decided, numbers, 0)] & decided
            asked = Requirements([self._requirement(key, bits)])
            for number in np.unique(self.standing.class_of[~decided]).tolist():
                if self.standing.classes[number].allows(asked):
                    found |= self.standing.class_of == number
            self._within[key, bits] = found
        return found

    def _requirement(self, key: str, bits: int) -> Requirement:
        named = ~bits if bits < 0 else bits
        return Requirement(
            key=key,
            complement=bits < 0,
            values=frozenset(self.domains.values(key, named)),
            absent=bool(bits & ABSENT),
        )

    def compatible(self, ask: Ask) -> Bools:
        """Return (n_standing,): bins whose labels, name and taints suit, features, too."""
        index, class_of = self.class_index, self.standing.class_of
        tolerated = index.tolerated(ask.shape, ask.effects)
        found = np.zeros(len(class_of), np.bool_)
        for place in ask.places:
            here = (tolerated & index.allowing(place.requirements))[class_of]
            found |= self._named(place, here)
        if ask.lacking:
            found[self._of_names(ask.lacking)] = False
        return found

    def _named(self, place: Place, suits: Bools) -> Bools:
        """Return which bins of some have a name that a place allows."""
        found = suits
        if place.node_names is not None:
            found = np.zeros_like(suits)
            named = self._of_names(place.node_names)
            found[named] = suits[named]
        if place.excluded_node_names:
            found = found.copy()
            found[self._of_names(place.excluded_node_names)] = False
        return found

    def _of_names(self, names: Iterable[str]) -> list[int]:
        """Return the positions of the bins that have these names."""
        if not self._positions:
            for position, name in enumerate(self.standing.names):
                self._positions.setdefault(name, []).append(position)
        return [position for name in names for position in self._positions.get(name, ())]

    def new_nodes(self, ask: Ask) -> Iterator[ClaimClass]:
        """Yield what a new node for this pod would be, by labels and taints."""
        for template in self.templates:
            yield from self.new_nodes_of(template, ask)

    def new_nodes_of(self, template: Template, ask: Ask) -> Iterator[ClaimClass]:
        """Yield what a new node of one pool for this pod would be, by labels and taints."""
        return self._narrowed(template, ask, ask.node_places, ())

    def new_nodes_by_all(self, ask: Ask) -> Iterator[ClaimClass]:
        """Yield the same, by its volumes and by what it takes for itself, too."""
        for template in self.templates:
            yield from self._narrowed(template, ask, ask.places, exclusives(ask.shape))

    def _narrowed(
        self,
        template: Template,
        ask: Ask,
        places: tuple[Place, ...],
        own: tuple[Exclusive, ...],
    ) -> Iterator[ClaimClass]:
        if not bears(ask.shape, template.pool.template.taints, ask.effects):
            return
        root = self.classes.root(template, None)
        for place in places:
            if place.node_names is None:
                narrower = self.classes.narrow(root, place.requirements, own)
                if narrower is not None:
                    yield narrower

    def admitted_bins(self, rule: Admission) -> Bools:
        """Return (n_standing,): which bins a spread constraint looks at."""
        standing, index = self.standing, self.class_index
        found = np.ones(len(standing), np.bool_)
        if rule.asker is not None:
            found = index.tolerated(rule.asker, HARD_EFFECTS, cordons=False)[standing.class_of]
        if rule.places is not None:
            placed = np.zeros(len(standing), np.bool_)
            for place in rule.places:
                placed |= self._named(place, index.allowing(place.requirements)[standing.class_of])
            found &= placed
        for key in rule.keys:
            if key == label_keys.HOSTNAME:
                found &= standing.hostnames
            else:
                found &= self.domain_of(key) != 0
        return found
