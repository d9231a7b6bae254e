"""Sites: the labels, names and taints that asks are about, and the numbers by which they go.

Apart from the seam because asks of one site are told from each other by nothing that is said here:
what suits a site is asked once for all of them.
"""

import joiner_kernel

from libs.domain import labels as label_keys
from libs.domain.requirement import Operator
from libs.domain.requirements import Requirements
from services.solver.core.exclusion import exclusives
from services.solver.core.pods.ask import Ask, Place

_FEW = 64
"""Values of one key that the kernel is told, so that it need not ask whether any is in common."""


class Sites:
    """The sites of one solve, and the places that each of them names."""

    def __init__(self, packing: joiner_kernel.Packing) -> None:
        self._packing = packing
        self._numbers: dict[object, int] = {}
        self._of_kinds: dict[tuple[int, ...], int] = {}
        """The same by the kind of an ask and the identities of what it says."""
        self._asks: list[Ask] = []
        self._places: list[tuple[Ask, Place]] = []
        self._places_of: dict[int, list[int]] = {}
        self._told: dict[object, int] = {}
        """Numbers of label keys, and of pairs of key and value."""

    def number(self, ask: Ask) -> int:
        """Return the number of the labels, names and taints that an ask is about.

        Args:
            ask: nobody lets go of it before the sites, so that its identity stays its own.
        """
        alike = ask.kind, id(ask.places), id(ask.node_places), id(ask.effects), id(ask.lacking)
        found = self._of_kinds.get(alike)
        if found is None:
            found = self._of_kinds[alike] = self._find(ask)
        return found

    def ask(self, site: int) -> Ask:
        """Return the first ask of a site."""
        return self._asks[site]

    def places(self, site: int) -> list[int]:
        """Return the numbers of the places that a site names."""
        return self._places_of[site]

    def place(self, number: int) -> tuple[Ask, Place]:
        """Return the place of a number, and who named it first."""
        return self._places[number]

    def few_values(self, asked: Requirements) -> list[tuple[int, int]]:
        """Return the numbers of keys of which few values are left, and of these, sorted.

        Not of the hostname: what a new node is called is decided elsewhere.
        """
        return sorted(
            (self._number_of(one.key), self._number_of((one.key, value)))
            for one in asked
            if one.operator is Operator.IN
            and len(one.values) <= _FEW
            and one.key != label_keys.HOSTNAME
            for value in one.values
        )

    def _find(self, ask: Ask) -> int:
        shape = ask.shape
        rules = shape.tolerations, ask.effects, exclusives(shape), ask.lacking
        name = ask.places, ask.node_places, rules
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = len(self._asks)
            self._asks.append(ask)
            places = [place for place in ask.places if place.node_names is None]
            first = len(self._places)
            self._places += [(ask, place) for place in places]
            for number, place in enumerate(places, first):
                if few := self.few_values(place.requirements):
                    self._packing.place_leaves(number, few)
            self._places_of[found] = list(range(first, len(self._places)))
        return found

    def _number_of(self, one: object) -> int:
        return self._told.setdefault(one, len(self._told))
