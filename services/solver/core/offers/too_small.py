"""What the nearest type of a pool lacks for a pod, in words and numbers.

Apart from the other reasons of pools because it is the one that comes in crowds: a pod that is too
large is so for every pool. Pools that sell the same lack the same, so that it is found out once for
all of them, however many there are.
"""

from dataclasses import replace
from hashlib import blake2b

import numpy as np

from libs.domain.reason import Rejection, Rule, TargetKind
from libs.domain.resources import Resources, named_amount, readable_amount
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.offers.template import Template
from services.solver.core.offers.unsold import unsold, wanted
from services.solver.core.vectors import Ints


class TooSmall:
    """What was found out in one solve."""

    __slots__ = ("_found", "_likeness", "_room")

    def __init__(self) -> None:
        self._found: dict[object, Rejection] = {}
        self._likeness: dict[ClaimClass, object] = {}
        self._room: dict[int, bytes] = {}
        """What tells the room of pools apart, by index of the pool."""

    def rejection(self, known: ClaimClass, request: Ints) -> Rejection:
        """Return why no new node of a class has room for a request, (n_resources,)."""
        name = self._likeness_of(known), request.tobytes()
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = _rejection(known, request)
        pool = known.template.pool.name
        return found if found.target == pool else replace(found, target=pool)

    def _likeness_of(self, known: ClaimClass) -> object:
        """Return what all classes have in common that lack the same."""
        found = self._likeness.get(known)
        if found is None:
            by_type, by_offering = wanted(known)
            found = self._likeness[known] = (
                id(known.template.columns),
                self._room_of(known.template),
                known.offerings.tobytes(),
                by_type.tobytes(),
                tuple((one, mask.tobytes()) for one, mask in by_offering),
            )
        return found

    def _room_of(self, template: Template) -> bytes:
        found = self._room.get(template.index)
        if found is None:
            both = template.room.tobytes() + template.overhead.tobytes()
            found = self._room[template.index] = blake2b(both).digest()
        return found


def _rejection(known: ClaimClass, request: Ints) -> Rejection:
    """Name the type that misses least, and what it misses."""
    template = known.template
    columns, names = template.columns, template.dimensions.names
    rows = np.flatnonzero(known.rows)
    nearest = int(rows[nearness(request, template.room[rows], _row_rank(known)[rows])[0]])
    kind = columns.types[int(columns.row_type[nearest])].name
    overhead = template.overhead[nearest]
    asked, offered = request + overhead, template.room[nearest] + overhead
    short = shortages(names, asked, offered)
    taken = dict(zip(names, overhead.tolist(), strict=True))
    message = ", ".join(_asked(name, want, taken[name]) for name, want, _ in short)
    offers = ", ".join(named_amount(name, there) for name, _, there in short)
    found = Rejection(
        target_kind=TargetKind.NODEPOOL,
        target=template.pool.name,
        rule=Rule.RESOURCES,
        message=f"{message}; the nearest instance type {kind} offers {offers}",
        nearest_instance_type=kind,
        asked=Resources({name: want for name, want, _ in short}),
        offered=Resources({name: max(there, 0) for name, _, there in short}),
        overhead=Resources({name: taken[name] for name, _, _ in short if taken[name]}),
        suggestion="; ".join(
            f"lower the request of {name} by {readable_amount(name, want - there, up=True)}"
            for name, want, there in short
            # Whoever asks for what is not there at all is not helped by asking for none of it.
            if there > 0
        ),
    )
    other = unsold(known, request)
    if other is None:
        return found
    message = f"{message}; {other.message}; the nearest that is, {kind}, offers {offers}"
    found = replace(found, rule=Rule.OFFERINGS, message=message, key=other.key)
    change = f"ask for another {other.key}"
    return replace(found, suggestion=change) if other.key else found


def _asked(name: str, want: int, by_daemons: int) -> str:
    daemons = (
        f", {readable_amount(name, by_daemons, up=True)} of it by daemons" if by_daemons else ""
    )
    return f"{named_amount(name, want, up=True)} asked{daemons}"


def nearness(asked: Ints, room: Ints, ties: Ints) -> Ints:
    """Return the rows of `room`, (n, n_resources), by how little they miss, nearest first.

    First those that miss fewest resources, then those that miss the smallest share of what is
    asked, then by `ties`, (n,).
    """
    missing = np.maximum(asked - room, 0)
    share = (missing / np.maximum(asked, 1)).max(axis=1, initial=0)
    order: Ints = np.lexsort((ties, share, (missing > 0).sum(axis=1)))
    return order


def shortages(names: tuple[str, ...], asked: Ints, offered: Ints) -> list[tuple[str, int, int]]:
    """Return (resource, asked, offered) of what does not suffice."""
    numbers = zip(names, asked.tolist(), offered.tolist(), strict=True)
    return [(name, want, there) for name, want, there in numbers if want > there]


def _row_rank(known: ClaimClass) -> Ints:
    """Return (n_rows,): the rank of each row's cheapest offering."""
    columns = known.template.columns
    best = np.full(len(columns.rows), len(columns.offerings), np.int64)
    np.minimum.at(best, columns.row, columns.rank)
    return best
