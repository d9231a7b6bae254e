"""Resources as integer columns: which column is which resource, and values that cannot overflow.

Apart because every matrix of the solver has these columns. Only resources that some pod or daemon
asks for have a column: nothing else can refuse anybody.

Laws:
    - Requests saturate at `MOST`, room one below it: a request that large never fits, and sums of a
      few such values stay within int64.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from libs.domain.resources import CPU, MEMORY, PODS, Resources

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

MOST = 2**60
UNBOUNDED = 2**40
"""A number of pods that no node reaches."""
_MANY_COLUMNS = 16


@dataclass(frozen=True, slots=True)
class Dimensions:
    """Resource names in the order of the columns; `cpu`, `memory` and `pods` come first."""

    names: tuple[str, ...]
    _places: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        places = {name: place for place, name in enumerate(self.names)}
        object.__setattr__(self, "_places", places)

    @classmethod
    def of(cls, many: Iterable[Resources]) -> "Dimensions":
        """Return the dimensions that these requests span."""
        names = {name for one in many for name in one}
        first = (CPU, MEMORY, PODS)
        return cls((*first, *sorted(names.difference(first))))

    def requests(self, resources: Resources) -> Ints:
        """Return a request as a vector (n_resources,)."""
        return self._vector({name: min(amount, MOST) for name, amount in resources.items()})

    def room(self, resources: Resources) -> Ints:
        """Return what a node offers as a vector (n_resources,); missing is none."""
        return self._vector({name: as_room(amount) for name, amount in resources.items()})

    def _vector(self, amounts: Mapping[str, int]) -> Ints:
        found = [0] * len(self.names)
        for name, amount in amounts.items():
            place = self._places.get(name)
            if place is not None:
                found[place] = amount
        return np.array(found, np.int64)

    def resources(self, vector: Ints) -> Resources:
        """Return the vector as resources, zeros left out."""
        return Resources(
            {
                name: amount
                for name, amount in zip(self.names, vector.tolist(), strict=True)
                if amount
            }
        )


def as_room(amount: int) -> int:
    """Return what a node offers of a resource so that it does not overflow."""
    return max(-MOST, min(amount, MOST - 1))


def covering(room: Ints, request: Ints | int) -> Bools:
    """Return for each row of `room` whether it has as much as `request` in every column."""
    enough = np.greater_equal(room, request)
    if not enough.shape[-1]:
        return np.ones(enough.shape[:-1], np.bool_)
    if enough.shape[-1] > _MANY_COLUMNS:
        return np.asarray(enough.all(axis=-1), np.bool_)
    # Column by column: numpy is slow at many short rows.
    found: Bools = enough[..., 0]
    for column in range(1, enough.shape[-1]):
        found = found & enough[..., column]
    return found


def most_that_fit(room: Ints, request: Ints) -> Ints:
    """Return how often `request`, all of it positive, fits into each row of `room`, at least 0.

    A request without columns fits without bound.
    """
    found: Ints = np.full(room.shape[:-1], UNBOUNDED, np.int64)
    for column, amount in enumerate(request.tolist()):
        np.minimum(found, room[..., column] // amount, out=found)
    return np.maximum(found, 0, out=found)
