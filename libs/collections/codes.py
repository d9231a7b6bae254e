"""Small numbers for names, so that columns of names can be columns of integers."""

from collections.abc import Sequence
from itertools import count


class Codes:
    """Numbers of names: 0 for the empty one, else one that no other name has.

    Several threads may share them: a number may be left out, but none is given twice. Who gets
    which one depends on who came first, so that nothing may be ordered by them.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}
        self._spare = count(1)

    def of(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of names; new ones get theirs."""
        try:
            return list(map(self._numbers.__getitem__, names))
        except KeyError:
            for name in names:
                if name not in self._numbers:
                    self._numbers.setdefault(name, next(self._spare))
        return list(map(self._numbers.__getitem__, names))

    def __len__(self) -> int:
        return len(self._numbers)
