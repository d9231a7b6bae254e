"""Where a local search begins, and what it is.

Apart from `refine`, which runs one, since a search knows nothing of that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from services.solver.core.packed import Packed
from services.solver.core.packing.encode import Encoded


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a local search begins."""

    encoded: Encoded
    packed: Packed
    """A valid answer and its state, which stays as it is."""
    worth: Mapping[int, float]
    """What a pod of a shape costs at least by `columns.price`, in nano-dollars per hour, by id."""
    least: int
    """Nano-dollars per hour, by the same price: no answer costs less."""
    seed: int


class Search(Protocol):
    """A local search under way.

    Laws:
        - `advance(a)` then `advance(b)` is `advance(a + b)`: nothing but the start and the number
          of iterations decides where it is.
        - `best` is valid by every hard rule, places the pods that the start places, and is no
          dearer than the start.
    """

    def advance(self, iterations: int) -> int:
        """Try so many changes; return how many were tried, fewer where no more is to be gained."""

    def best(self) -> Packed:
        """Return the best answer so far."""
