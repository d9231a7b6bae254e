"""`Algebra`: what the kernel asks of Python, and the numbers in which both speak.

Apart because this is the seam: rules about labels, ports, volumes and devices are in Python and
asked once per solve and question; counting, fitting and choosing are in the kernel. Nobody else
hands it anything.
"""

from collections.abc import Iterable, Mapping, Sequence

import joiner_kernel
import numpy as np

from libs.domain import labels as label_keys
from libs.domain.capacity import CapacityType
from libs.domain.pod import PodShape
from libs.domain.requirements import ANYTHING
from services.solver.core.domains import members
from services.solver.core.exclusion import Exclusive, conflict, exclusives
from services.solver.core.offers.catalogue import CatalogueColumns
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.offers.limits import Allowance
from services.solver.core.offers.min_values import values_by_offering
from services.solver.core.offers.template import Template
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.bearing import bears
from services.solver.core.standing.holdings import Holdings
from services.solver.core.topology.arrivals import Arrivals, either, reached
from services.solver.core.topology.grants import Grants, needs_grant
from services.solver.core.topology.ground import Ground
from services.solver.core.topology.rules import Rules
from services.solver.core.topology.sites import Sites
from services.solver.core.topology.tally import Admission, Tally, admission_key, may_count
from services.solver.core.vectors import Bools, Ints

_NEVER = -1
"""Stands for a class, or a reservation, that there is not."""


class Algebra:
    """Answers the kernel; `packing` is the kernel's side of the same solve."""

    def __init__(
        self,
        ground: Ground,
        allowances: Sequence[Allowance],
        grants: Grants,
        *,
        reservations: Mapping[str, int],
        strict_min_values: bool,
        wary: frozenset[int] = frozenset(),
    ) -> None:
        standing = ground.standing
        self.ground = ground
        self.holdings = Holdings(standing, wary)
        self.grants = grants
        self._registered = 0
        self._keys: dict[int, str] = {}
        self._shapes: dict[int, int] = {}
        self._shape_of: list[PodShape] = []
        self._asks: dict[int, int] = {}
        self._kept: list[Ask] = []
        """All asks that are known by their identity, so that none is used twice."""
        self._known_rules: dict[int, tuple[int, Rules]] = {}
        """Numbers of rules by their identity, which nothing else gets while they are here."""
        self._admissions: dict[object, int] = {}
        self._admission_of: list[Admission] = []
        self._claims_in_use: dict[str, int] = {}
        self._users: dict[str, list[Tally]] = {}
        """Who counts the users of a claim that have to be together, by the claim."""
        self._arrivals: list[tuple[Arrivals, ...]] = []
        self._reservations = {name: number for number, name in enumerate(sorted(reservations))}
        self.packing = joiner_kernel.Packing(
            self,
            ground.domains.native,
            standing.free,
            standing.hostnames,
            standing.nodes,
            [reservations[name] for name in self._reservations],
            strict_min_values,
        )
        self._sites = Sites(self.packing)
        for template, allowance in zip(ground.templates, allowances, strict=True):
            self._add_template(template, allowance)

    # What the packing is about.

    def _add_template(self, template: Template, allowance: Allowance) -> None:
        columns = template.columns
        self.packing.add_template(
            template.room,
            columns.row,
            columns.price,
            self._reservations_of(columns),
            columns.ranked,
            template.capacities,
            list(allowance.left),
            allowance.nodes,
        )

    def _reservations_of(self, columns: CatalogueColumns) -> Ints:
        """Return (n_offerings,): the number of each offering's reservation, -1 for none."""
        found = np.full(len(columns.offerings), _NEVER, np.int64)
        if self._reservations and columns.reservations:
            for position, one in enumerate(columns.offerings):
                if one.capacity_type == CapacityType.RESERVED:
                    found[position] = self._reservations.get(one.reservation_id, _NEVER)
        return found

    def key(self, key: str) -> int:
        """Return the number of a topology key."""
        number = self.ground.domains.key(key)
        self._keys[number] = key
        return number

    def key_name(self, number: int) -> str:
        """Return the topology key of a number."""
        return self._keys[number]

    def shape(self, shape: PodShape) -> int:
        """Return the number of a shape."""
        found = self._shapes.get(shape.id)
        if found is None:
            own = exclusives(shape)
            found = self.packing.add_shape(
                _is_limited(shape) or self.holdings.is_wary(shape),
                bool(own) and conflict(own, own),
                needs_grant(shape),
                [self.volume_claim(one.claim) for one in shape.shared_volumes if one.exclusive],
            )
            self._shapes[shape.id] = found
            self._shape_of.append(shape)
        return found

    def volume_claim(self, claim: str) -> int:
        """Return the number of a volume claim that one pod at a time may use."""
        return self._claims_in_use.setdefault(claim, len(self._claims_in_use))

    def add_tally(self, tally: Tally, shapes: Iterable[PodShape]) -> None:
        """Let a tally count pods of these shapes from now on."""
        admission = None if tally.admission is None else self._admission(tally.admission)
        number = self.packing.add_tally(
            None if tally.key == label_keys.HOSTNAME else self.key(tally.key),
            admission,
            tally.admitted,
        )
        self.packing.counts(number, [self.shape(one) for one in shapes])
        tally.register(self.packing, number)

    def tie(self, claim: str, users: Tally) -> None:
        """Let users of a claim follow the first of them, unless its volume is there already."""
        self._users.setdefault(claim, []).append(users)

    def _admission(self, rule: Admission) -> int:
        name = admission_key(rule)
        found = self._admissions.get(name)
        if found is None:
            found = self._admissions[name] = len(self._admission_of)
            self._admission_of.append(rule)
        return found

    def known(self, ask: Ask) -> int | None:
        """Return the number of an ask; None if it is not known yet."""
        return self._asks.get(id(ask))

    def add_ask(self, ask: Ask, rules: Rules) -> int:
        """Make an ask known, and return its number."""
        site = self._sites.number(ask)
        number = self.packing.add_ask(
            self.shape(ask.shape),
            site,
            self._sites.places(site),
            bool(ask.places),
            self.ground.dimensions.requests(ask.shape.requests),
            self._rules(rules),
        )
        self._asks[id(ask)] = number
        self._kept.append(ask)
        return number

    def _rules(self, rules: Rules) -> int:
        """Return the number of what other pods mean for some asks."""
        known = self._known_rules.get(id(rules))
        if known is not None:
            return known[0]
        number = self.packing.add_rules(
            [
                (
                    rule.tally.number,
                    rule.constraint.max_skew,
                    rule.constraint.min_domains or 0,
                    rule.own,
                )
                for rule in rules.spread
            ],
            [([tally.number for tally in rule.tallies], rule.own) for rule in rules.affinity],
            [(tally.number, own) for tally, own in rules.apart],
            [tally.number for tally in rules.together],
            [self.volume_claim(claim) for claim in rules.exclusive],
            sorted(map(self.key, rules.pins)),
        )
        self._known_rules[id(rules)] = number, rules
        return number

    def set_arrivals(self, by_pool: Sequence[tuple[Arrivals, ...]]) -> None:
        """Take in which daemons that others look at come to new nodes of each pool."""
        self._arrivals = list(by_pool)
        self.packing.set_arrivals([self._coming(one) for one in by_pool])

    def _coming(self, kinds: tuple[Arrivals, ...]) -> list[tuple[list[int], bool, int, list[int]]]:
        settled = list(dict.fromkeys(one.settled for one in kinds))
        return [
            (
                [self.shape(shape) for shape in one.shapes],
                one.offerings is not None,
                settled.index(one.settled),
                sorted(map(self.key, one.pins)),
            )
            for one in kinds
        ]

    def become(self, claim: int, known: ClaimClass) -> None:
        """Let a claim be of another class, of fewer types, that has room for its pods."""
        self.packing.become(claim, self._number(known))

    def keeps_values(self, claim: int, known: ClaimClass) -> bool:
        """Tell whether a claim that becomes another class keeps the minValues that it has to."""
        return self.packing.keeps_values_as(claim, self._number(known))

    # What the kernel asks about classes.

    def _number(self, known: ClaimClass | None) -> int:
        """Return the number of a class; all that were met on the way are made known first."""
        self.make_known()
        return _NEVER if known is None else known.id

    def make_known(self) -> None:
        """Make all classes known to the kernel that were met."""
        for one in self.ground.classes.all[self._registered :]:
            self.packing.add_class(one.template.index, one.offerings, values_by_offering(one))
            if few := self._sites.few_values(one.requirements):
                self.packing.class_leaves(one.id, few)
        self._registered = len(self.ground.classes.all)

    def _class(self, number: int) -> ClaimClass:
        return self.ground.classes.all[number]

    def narrow(self, known: int, place: int, bounds: Sequence[tuple[int, int]]) -> int:
        """Return what a class becomes if a pod moves in that asks for a place, if for any."""
        one, asked = self._class(known), ANYTHING
        own: tuple[Exclusive, ...] = ()
        if place >= 0:
            ask, where = self._sites.place(place)
            if not bears(ask.shape, one.template.pool.template.taints, ask.effects):
                return _NEVER
            asked, own = where.requirements, exclusives(ask.shape)
        within = tuple((self._keys[key], bits) for key, bits in bounds)
        return self._number(self.ground.classes.narrow(one, asked, own, within))

    def root(self, pool: int, rows: Bools | None) -> int:
        """Return the class of an empty claim of a pool, on these rows only."""
        return self._number(self.ground.classes.root(self.ground.templates[pool], rows))

    def reached(self, known: int, pool: int, kinds: Sequence[int]) -> int:
        """Return of a class what some of a pool's arrivals come to, and no others."""
        coming = [self._arrivals[pool][kind] for kind in kinds]
        who = coming[0] if len(coming) == 1 else either(coming)
        return self._number(reached(self.ground.classes, self._class(known), who))

    def restrict(self, known: int, offerings: Bools) -> int:
        """Return the class with these offerings only."""
        return self._number(self.ground.classes.restrict(self._class(known), offerings))

    def view(self, known: int, key: int) -> tuple[Ints, list[list[int]], bool, bool]:
        """Return a key over a class: groups of offerings, their domains, if open, if closed."""
        one, name = self._class(known), self._keys[key]
        classes, domains = self.ground.classes, self.ground.domains
        column = one.template.columns.key(name)
        index = column.index
        there = np.flatnonzero(np.bincount(index[one.offerings]))
        place = np.zeros(len(column.distinct), np.int64)
        place[there] = np.arange(len(there))
        group = np.where(one.offerings, place[index], -1)
        numbers = []
        for pair in there.tolist():
            bits = classes.domains_of(one, name, column.distinct[pair])
            places = [number for number in members(bits) if number]
            places.sort(key=lambda number: domains.value(name, number))
            numbers.append(places or [0])
        closed = classes.is_closed(one, name, [column.distinct[pair] for pair in there.tolist()])
        return group, numbers, classes.awaited(one, name) is not None, closed

    # What it asks about places.

    def new_nodes(self, site: int) -> list[int]:
        """Return what new nodes for a pod would be, by labels and taints."""
        return [self._number(one) for one in self.ground.new_nodes(self._sites.ask(site))]

    def admitted(self, admission: int, known: int) -> list[int]:
        """Return what claims of a class may become of all that a spread constraint looks at."""
        rule = self._admission_of[admission]
        found = may_count(rule, self._class(known), self.ground.classes)
        return [self._number(one) for one in found]

    def compatible(self, site: int) -> Bools:
        """Return (n_standing,): bins whose labels, name and taints suit."""
        return self.ground.compatible(self._sites.ask(site))

    def domain_of(self, key: int) -> Ints:
        """Return (n_standing,): the domain of each standing bin."""
        return self.ground.domain_of(self._keys[key])

    def within(self, key: int, bits: int) -> Bools:
        """Return (n_standing,): bins that are in these domains whatever they become."""
        return self.ground.within(self._keys[key], bits)

    # What pods have for themselves.

    def limit(self, shape: int, bins: Ints, counts: Ints) -> Ints:
        """Return how many of so many pods each standing bin takes, ports and volumes considered."""
        one = self._shape_of[shape]
        found = np.minimum(counts, self.holdings.room(one, bins))
        if one.unbound_claims:
            found[~self.grants.volumes.available(one, bins)] = 0
        return found

    def took(self, shape: int, bins: Ints, counts: Ints) -> None:
        """Write down that pods are on standing bins now."""
        self.holdings.take(self._shape_of[shape], bins, counts)

    def grant(self, shape: int, position: int) -> bool:
        """Give the next pod of a shape devices and volumes on a standing bin, if there are any."""
        one = self._shape_of[shape]
        given = self.grants.give_on_standing(one, position)
        self._release(one)
        return given

    def grant_planned(self, shape: int, claim: int, known: int, total: Ints) -> int:
        """Find them for the next pod of a shape on a claim, and return what that becomes."""
        one, number = self._shape_of[shape], None if claim < 0 else claim
        return self._number(self.grants.find_on_planned(one, number, self._class(known), total))

    def hand_over(self, shape: int, claim: int) -> None:
        """Give what was found last to a pod on a claim."""
        one = self._shape_of[shape]
        self.grants.hand_over(one, claim)
        self._release(one)

    def _release(self, shape: PodShape) -> None:
        """Let users of claims that got volumes which were there go wherever those can be used."""
        for one in shape.unbound_claims:
            if self.grants.volumes.was_there(one.claim):
                for users in self._users.pop(one.claim, ()):
                    self.packing.release(users.number)

    def became(self, claim: int, known: int, total: Ints) -> None:
        """Give back the devices of types that a claim cannot become any more."""
        self.grants.became(claim, self._class(known), total)


def _is_limited(shape: PodShape) -> bool:
    """Tell whether more than requests decides how many such pods a standing bin takes."""
    return bool(
        exclusives(shape)
        or shape.volume_attach_counts
        or shape.shared_volumes
        or shape.unbound_claims
    )
