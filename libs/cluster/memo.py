"""Values that are computed anew only when their inputs change.

Apart because a snapshot is built from everything, while little changes from one to the next.
"""

from collections.abc import Callable, Container, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Memo(Generic[T]):
    """One value per key, kept as long as its inputs are the very same objects."""

    def __init__(self) -> None:
        self._held: dict[Hashable, tuple[tuple[object, ...], T]] = {}

    def get(self, key: Hashable, inputs: tuple[object, ...], compute: Callable[[], T]) -> T:
        """Return the value of a key; what `compute` raises is not kept."""
        held = self._held.get(key)
        if held is not None and _same(held[0], inputs):
            return held[1]
        value = compute()
        self._held[key] = inputs, value
        return value

    def retain(self, keys: Container[Hashable]) -> None:
        """Forget all other keys."""
        self._held = {key: held for key, held in self._held.items() if key in keys}


def _same(left: tuple[object, ...], right: tuple[object, ...]) -> bool:
    return len(left) == len(right) and all(
        one is other or (isinstance(one, str | bool | int) and one == other)
        for one, other in zip(left, right, strict=True)
    )
