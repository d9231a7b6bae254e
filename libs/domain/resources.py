"""`Resources`: an immutable vector of amounts by resource name, in integer base units.

Apart because every fit, limit and sum of the system goes through it.
Units: `cpu` in millicores, everything else in whole units (bytes, pods, devices).

Laws:
    - Equal content means equal and equally hashed, whatever the order it was built in.
    - A missing name reads as zero. An explicit zero is kept all the same: `subtract` keeps only
      names that its left side knows, so a resource used up to zero must stay known (a second
      subtraction goes below zero). Parsed requests drop zeros, since asking for nothing is not
      asking.
    - Addition commutes and associates; `maximum` and `minimum` too.

Source: `docs/sources.md` A6.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from libs.domain import quantity
from libs.domain.errors import InvalidRequest
from libs.domain.labels import qualified_name_problem

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"
NODES = "nodes"
"""Karpenter's pseudo resource that counts nodes in pool limits."""
BYTES = frozenset({MEMORY, EPHEMERAL_STORAGE})
"""Resources that are counted in bytes."""
WELL_KNOWN = frozenset({CPU, MEMORY, EPHEMERAL_STORAGE, PODS})

HUGEPAGES = "hugepages-"
"""Prefix of the resources that hold pages of one size."""


class Resources:
    """Amounts by resource name; build it from a mapping of integers in base units."""

    __slots__ = ("_amounts", "_hash")

    def __init__(self, amounts: Mapping[str, int] | Iterable[tuple[str, int]] = ()) -> None:
        self._amounts: dict[str, int] = dict(sorted(dict(amounts).items()))
        self._hash = hash(tuple(self._amounts.items()))

    @classmethod
    def from_requests(cls, quantities: Mapping[str, object], *, field: str = "") -> "Resources":
        """Parse a Kubernetes map of requests, rounding up; zeros are dropped.

        Args:
            quantities: resource name → quantity string or number.
            field: path of the map, put before the resource name in errors.

        Raises:
            InvalidRequest: a bad name, a bad quantity or a negative one.
        """
        amounts = _parsed(quantities, field, quantity.millicores, quantity.units)
        return cls({name: amount for name, amount in amounts.items() if amount})

    @classmethod
    def from_allocatable(cls, quantities: Mapping[str, object], *, field: str = "") -> "Resources":
        """Parse a Kubernetes map of capacity, allocatable or limits, rounding down; zeros are kept.

        Raises:
            InvalidRequest: a bad name, a bad quantity or a negative one.
        """
        return cls(_parsed(quantities, field, quantity.floor_millicores, quantity.floor_units))

    def to_quantities(self) -> dict[str, str]:
        """Return the Kubernetes quantity map, in canonical form and order."""
        return {name: format_amount(name, amount) for name, amount in self._amounts.items()}

    def get(self, name: str) -> int:
        """Return the amount, zero if the name is missing."""
        return self._amounts.get(name, 0)

    def items(self) -> Iterable[tuple[str, int]]:
        """Return (name, amount) pairs in order of the name."""
        return self._amounts.items()

    def add(self, other: "Resources") -> "Resources":
        """Return the sum; names of both sides."""
        total = dict(self._amounts)
        for name, amount in other._amounts.items():
            total[name] = total.get(name, 0) + amount
        return Resources(total)

    def subtract(self, other: "Resources") -> "Resources":
        """Return what is left of `self`: only its own names, below zero where `other` has more."""
        taken = other._amounts
        return Resources({name: have - taken.get(name, 0) for name, have in self._amounts.items()})

    def overlaid(self, top: "Resources") -> "Resources":
        """Return the amounts of both sides, those of `top` where both have a name."""
        return Resources(self._amounts | top._amounts) if top._amounts else self

    def maximum(self, other: "Resources") -> "Resources":
        """Return the larger amount of each name that either side has."""
        larger = dict(self._amounts)
        for name, amount in other._amounts.items():
            larger[name] = max(larger.get(name, amount), amount)
        return Resources(larger)

    def minimum(self, other: "Resources") -> "Resources":
        """Return the smaller amount of each name that both sides have."""
        theirs = other._amounts
        return Resources({n: min(a, theirs[n]) for n, a in self._amounts.items() if n in theirs})

    def multiply(self, count: int) -> "Resources":
        """Return the amounts of `count` equal requests."""
        return Resources({name: amount * count for name, amount in self._amounts.items()})

    def fits(self, available: "Resources") -> bool:
        """Tell whether each amount is there; nothing fits where an available amount is negative."""
        there = available._amounts
        if any(amount < 0 for amount in there.values()):
            return False
        return all(amount <= there.get(name, 0) for name, amount in self._amounts.items())

    def shortage(self, available: "Resources") -> "Resources":
        """Return what is missing of each name whose amount is not there; empty if none is."""
        missing = {n: amount - available.get(n) for n, amount in self._amounts.items()}
        return Resources({name: amount for name, amount in missing.items() if amount > 0})

    def __contains__(self, name: object) -> bool:
        return name in self._amounts

    def __iter__(self) -> Iterator[str]:
        return iter(self._amounts)

    def __len__(self) -> int:
        return len(self._amounts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Resources):
            return NotImplemented
        return self._hash == other._hash and self._amounts == other._amounts

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Resources({self._amounts!r})"

    def __str__(self) -> str:
        return ", ".join(f"{text} {name}" for name, text in self.to_quantities().items())


NOTHING = Resources()


def total(many: Iterable[Resources]) -> Resources:
    """Return the sum of many vectors."""
    amounts: dict[str, int] = {}
    for one in many:
        for name, amount in one.items():
            amounts[name] = amounts.get(name, 0) + amount
    return Resources(amounts)


def format_amount(name: str, amount: int) -> str:
    """Return an amount of a resource as a canonical Kubernetes quantity, exactly."""
    if name == CPU:
        return quantity.format_millicores(amount)
    if name in BYTES or name.startswith(HUGEPAGES):
        return quantity.format_bytes(amount)
    return quantity.format_units(amount)


def readable_amount(name: str, amount: int, *, up: bool = False) -> str:
    """Return an amount of a resource for people; bytes are rounded.

    Args:
        name: the resource.
        amount: in its base unit; below zero where a node holds more than it has.
        up: round up, as for what is asked; otherwise down, as for what there is.
    """
    if amount < 0:
        return f"-{readable_amount(name, -amount, up=not up)}"
    if name == CPU:
        return quantity.format_millicores(amount)
    in_bytes = name in BYTES or name.startswith(HUGEPAGES)
    return quantity.readable_bytes(amount, up=up) if in_bytes else str(amount)


def named_amount(name: str, amount: int, *, up: bool = False) -> str:
    """Return an amount and what it is of, for people: `500m cpu`, `1 pod`; `readable_amount`."""
    noun = name.removesuffix("s") if amount == 1 and name in (PODS, NODES) else name
    return f"{readable_amount(name, amount, up=up)} {noun}"


def _parsed(
    quantities: Mapping[str, object],
    field: str,
    cpu: Callable[[str | int | float], int],
    other: Callable[[str | int | float], int],
) -> dict[str, int]:
    amounts: dict[str, int] = {}
    for name, text in quantities.items():
        path = f"{field}.{name}" if field else str(name)
        if problem := qualified_name_problem(name) if isinstance(name, str) else "not a string":
            raise InvalidRequest(f"bad resource name {name!r}: {problem}", field=field)
        if not isinstance(text, str | int | float):
            raise InvalidRequest(f"{text!r} is not a quantity", field=path)
        try:
            amounts[name] = (cpu if name == CPU else other)(text)
        except InvalidRequest as error:
            raise error.under(path) from None
        if amounts[name] < 0:
            raise InvalidRequest(f"{text!r} is negative", field=path)
    return amounts
