"""`ClaimClass`: claims that are alike in what they may still become.

Apart because this is why packing is fast: a claim never holds a list of types while it is packed.
It has a class (pool, requirements, what its pods have for themselves), of which the kernel knows
the frontier of room. Narrowing a class by what a pod asks is remembered, so that thousands of pods
of one shape narrow it once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import ANYTHING, Requirements
from services.solver.core.domains import ABSENT, Domains, apart_from_hostname, is_single, members
from services.solver.core.exclusion import Exclusive, conflict
from services.solver.core.offers.template import Template
from services.solver.core.vectors import Bools, Ints, covering

Bounds = tuple[tuple[str, int], ...]
"""Topology domains that a pod may use, by key."""

MOST_EXCLUDED = 2_000
MOST_TAKEN = 1_000
"""Values of one key that pods of one claim exclude together, and ports and disks that they have for
themselves; a pod alone may have more. Each pod that joins makes a class with all that those before
it say, so that without a bound memory is their number squared, and an object in Kubernetes could
not hold it."""


@dataclass(slots=True, kw_only=True, eq=False)
class ClaimClass:
    """What some claims of a pool may still become; immutable but for what it remembers."""

    id: int
    template: Template
    requirements: Requirements
    taken: frozenset[Exclusive]
    """What its pods have for themselves."""
    offerings: Bools
    """(n_offerings,): what could still be bought, room apart."""
    _rows: Bools | None = None
    _domains: dict[str, int] = field(default_factory=dict)
    _narrowed: dict[object, "ClaimClass | None"] = field(default_factory=dict)
    _prices: dict[tuple[str, bytes], dict[int, int]] = field(default_factory=dict)

    def sold_by(self, template: Template, offerings: Bools) -> "ClaimClass":
        """Return the class by the room of another template, and with these offerings only."""
        return ClaimClass(
            id=self.id,
            template=template,
            requirements=self.requirements,
            taken=self.taken,
            offerings=offerings,
        )

    @property
    def rows(self) -> Bools:
        """(n_rows,): rows with an offering that could still be bought."""
        if self._rows is None:
            self._rows = np.zeros(len(self.template.columns.rows), np.bool_)
            self._rows[self.template.columns.row[self.offerings]] = True
        return self._rows

    def rows_for(self, used: Ints) -> Bools:
        """Return (n_rows,): rows that could still be bought and have this much room."""
        return self.rows & covering(self.template.room, used)

    def narrowed_rows(self, rows: Bools) -> Bools:
        """Return (n_offerings,): the offerings of these rows that could still be bought."""
        return self.offerings & rows[self.template.columns.row]


class ClaimClasses:
    """All classes of one solve, each once."""

    __slots__ = ("_by_content", "_domains", "_stated", "all")

    def __init__(self, domains: Domains) -> None:
        self._domains = domains
        self._by_content: dict[object, ClaimClass] = {}
        self._stated: dict[tuple[str, tuple[Requirement | None, ...]], int] = {}
        self.all: list[ClaimClass] = []

    def root(self, template: Template, rows: Bools | None) -> ClaimClass:
        """Return the class of an empty claim of a pool, on these rows only."""
        offerings = template.offerings
        if rows is not None:
            offerings = offerings & rows[template.columns.row]
        return self._class(template, template.requirements, frozenset(), offerings)

    def narrow(
        self,
        known: ClaimClass,
        asked: Requirements,
        own: tuple[Exclusive, ...] = (),
        bounds: Bounds = (),
    ) -> ClaimClass | None:
        """Return what the class becomes if a pod moves in; None if it cannot.

        Args:
            known: the class before.
            asked: labels that the pod asks for.
            own: what the pod takes for itself.
            bounds: topology domains that the pod may use.
        """
        key = (asked, own, bounds)
        if key not in known._narrowed:
            known._narrowed[key] = self._narrow(known, asked, own, bounds)
        return known._narrowed[key]

    def restrict(self, known: ClaimClass, offerings: Bools) -> ClaimClass:
        """Return the class with these offerings, (n_offerings,), only."""
        return self._class(
            known.template, known.requirements, known.taken, known.offerings & offerings
        )

    def domains(self, known: ClaimClass, key: str) -> int:
        """Return the topology domains in which a claim of this class may still end up."""
        found = known._domains.get(key)
        if found is None:
            found = known._domains[key] = self._find_domains(known, key)
        return found

    def prices(self, known: ClaimClass, key: str, request: Ints) -> dict[int, int]:
        """Return the least price, in nano-dollars, of a claim with this room, by domain."""
        rows = known.rows_for(request)
        memo = key, rows.tobytes()
        if memo not in known._prices:
            known._prices[memo] = self._find_prices(known, key, rows)
        return known._prices[memo]

    def _find_prices(self, known: ClaimClass, key: str, rows: Bools) -> dict[int, int]:
        columns = known.template.columns
        column = columns.key(key)
        # The cheapest of each pair comes last, and stays.
        ranked = columns.ranked[::-1]
        there = ranked[known.narrowed_rows(rows)[ranked]]
        cheapest = np.full(len(column.distinct), -1, np.int64)
        cheapest[column.index[there]] = there
        pairs = np.flatnonzero(cheapest >= 0)
        found: dict[int, int] = {}
        least_of = columns.price[cheapest[pairs]]
        for number, least in zip(pairs.tolist(), least_of.tolist(), strict=True):
            for domain in members(self.domains_of(known, key, column.distinct[number]) & ~ABSENT):
                found[domain] = min(found.get(domain, least), least)
        return found

    def split(self, known: ClaimClass, key: str, request: Ints) -> Iterator[ClaimClass]:
        """Yield the class in one domain of a key each, that with the cheapest offering first."""
        prices = self.prices(known, key, request)
        values = {domain: self._domains.value(key, domain) for domain in prices}
        for domain in sorted(prices, key=lambda one: (prices[one], values[one])):
            narrower = self.narrow(known, ANYTHING, (), ((key, 1 << domain),))
            if narrower is not None and narrower is not known:
                yield narrower

    def pinned(self, known: ClaimClass, keys: Sequence[str], request: Ints) -> ClaimClass | None:
        """Return the class in one domain of each key: that of the cheapest offering with room."""
        for key in keys:
            bits = self.domains(known, key)
            if is_single(bits) and self.awaited(known, key) is None:
                continue
            memo = ("pin", key, request.tobytes())
            if memo not in known._narrowed:
                known._narrowed[memo] = self._pin(known, key, bits, request)
            narrower = known._narrowed[memo]
            if narrower is None:
                return None
            known = narrower
        return known

    def _pin(self, known: ClaimClass, key: str, bits: int, request: Ints) -> ClaimClass | None:
        template = known.template
        mask = known.narrowed_rows(known.rows_for(request))
        if not mask.any():
            return None
        found = np.flatnonzero(mask)
        cheapest = found[template.columns.rank[found].argmin()]
        column = template.columns.key(key)
        pair = column.distinct[column.index[cheapest]]
        there = self.domains_of(known, key, pair) & bits
        lowest = self._domains.values(key, there)
        one = self._domains.bits(key, lowest[:1]) if lowest else ABSENT
        return self.narrow(known, ANYTHING, (), ((key, one),))

    def _narrow(
        self, known: ClaimClass, asked: Requirements, own: tuple[Exclusive, ...], bounds: Bounds
    ) -> ClaimClass | None:
        narrower = self._by_requirements(known, asked)
        for key, bits in bounds:
            if narrower is None:
                return None
            narrower = self._by_domains(narrower, key, bits)
        if narrower is None or not own:
            return narrower
        if narrower.taken and len(narrower.taken) + len(own) > MOST_TAKEN:
            return None
        if conflict(narrower.taken, own):
            return None
        offerings = narrower.offerings
        for daemon in narrower.template.daemon_ports:
            if conflict(daemon.ports, own):
                offerings = offerings & ~daemon.rows[narrower.template.columns.row]
        if not offerings.any():
            return None
        taken = narrower.taken | frozenset(own)
        return self._class(narrower.template, narrower.requirements, taken, offerings)

    def _by_requirements(self, known: ClaimClass, asked: Requirements) -> ClaimClass | None:
        left = apart_from_hostname(asked)
        if left is None or not len(left):
            return None if left is None else known
        asked, template = left, known.template
        if not known.requirements.is_compatible(asked, allow_undefined=template.columns.well_known):
            return None
        return self._intersect(known, asked)

    def _intersect(self, known: ClaimClass, asked: Requirements) -> ClaimClass | None:
        template = known.template
        if any(_is_too_much(known, one) for one in asked):
            return None
        requirements = known.requirements.intersection(asked)
        if requirements == known.requirements:
            return known
        offerings = known.offerings
        for key in [one.key for one in asked]:
            one = requirements.get(key)
            if one is not None and one != known.requirements.get(key):
                lenient = key in template.requirements
                offerings = offerings & template.columns.mask(one, lenient=lenient)
        if not offerings.any():
            return None
        return self._class(template, requirements, known.taken, offerings)

    def _by_domains(self, known: ClaimClass, key: str, bits: int) -> ClaimClass | None:
        there = self.domains(known, key)
        wanted = self.awaited(known, key)
        left = there & bits
        if not left and wanted is not None:
            left = self._met(wanted) & bits
        # Of an open key only one value is in sight, but others may still ask for another.
        if not left or (left == there and wanted is None):
            return known if left else None
        values = self._domains.values(key, left)
        # Domains with the key win over none: no requirement says "these or absent".
        one = Requirement(key=key, complement=False, values=frozenset(values), absent=not values)
        return self._intersect(known, Requirements((one,)))

    def awaited(self, known: ClaimClass, key: str) -> Requirement | None:
        """Return what is required of a key that a claim gets with any value somebody asks for.

        Until somebody does, it gets the first value, or none where it may be absent.
        """
        own = known.requirements.get(key)
        if own is None or not own.complement or key not in known.template.requirements:
            return None
        return None if known.template.columns.states(key, known.offerings) else own

    def is_closed(
        self,
        known: ClaimClass,
        key: str,
        pairs: Sequence[tuple[Requirement | None, Requirement | None]],
    ) -> bool:
        """Tell whether claims never leave the domains of now, whoever moves in.

        Args:
            known: the class.
            key: the topology key.
            pairs: what its types and offerings say of the key.
        """
        own = known.requirements.get(key)
        return all(any(map(_is_listed, (own, *pair))) for pair in pairs)

    def _met(self, wanted: Requirement) -> int:
        """Return the domains that are met elsewhere and that this requirement accepts."""
        values = self._domains.values(wanted.key, (1 << self._domains.count(wanted.key)) - 1)
        return self._domains.bits(wanted.key, [value for value in values if wanted.has(value)])

    def _find_domains(self, known: ClaimClass, key: str) -> int:
        column = known.template.columns.key(key)
        bits = 0
        for number in np.flatnonzero(np.bincount(column.index[known.offerings])).tolist():
            bits |= self.domains_of(known, key, column.distinct[number])
        return bits

    def domains_of(
        self, known: ClaimClass, key: str, pair: tuple[Requirement | None, Requirement | None]
    ) -> int:
        """Return the domains of those offerings of a class of which a key says this.

        Args:
            known: the class.
            key: the topology key.
            pair: what the type and what the offering says.
        """
        statements = key, (*pair, known.requirements.get(key))
        found = self._stated.get(statements)
        if found is None:
            found = self._stated[statements] = self._by_all(*statements)
        return found

    def _by_all(self, key: str, statements: tuple[Requirement | None, ...]) -> int:
        """Return the domains that all statements about a key leave."""
        stated = [one for one in statements if one is not None]
        if not stated:
            return ABSENT
        all_of_it = stated[0]
        for one in stated[1:]:
            all_of_it = all_of_it.intersection(one)
        if all_of_it.absent:
            # What may be absent, as all that NotIn accepts, is: nobody has asked for a value.
            return ABSENT
        values = all_of_it.values if not all_of_it.complement else _any(all_of_it)
        return self._domains.bits(key, sorted(values)) or ABSENT

    def _class(
        self,
        template: Template,
        requirements: Requirements,
        taken: frozenset[Exclusive],
        offerings: Bools,
    ) -> ClaimClass:
        content = (template.index, requirements, taken, offerings.tobytes())
        found = self._by_content.get(content)
        if found is None:
            found = ClaimClass(
                id=len(self.all),
                template=template,
                requirements=requirements,
                taken=taken,
                offerings=offerings,
            )
            self._by_content[content] = found
            self.all.append(found)
        return found


def _is_too_much(known: ClaimClass, asked: Requirement) -> bool:
    """Tell whether a claim would exclude too many values for its pods and one more together."""
    own = known.requirements.get(asked.key)
    if own is None or not (own.complement and asked.complement):
        return False
    if len(own.values) + len(asked.values) <= MOST_EXCLUDED or asked.values <= own.values:
        return False
    given = known.template.requirements.get(asked.key)
    # What the pool itself excludes is no other pod's.
    return given is None or not given.complement or own.values != given.values


def _is_listed(requirement: Requirement | None) -> bool:
    return requirement is not None and requirement.operator is Operator.IN


def _any(requirement: Requirement) -> tuple[str, ...]:
    value = requirement.any_value()
    return () if value is None else (value,)
