"""By which rule each standing bin refuses a pod, as one array.

Apart because a plan finds this out of every pod that is left over, for thousands of bins: what is
counted and looked for is so in the array, and a rule is named only where it is told.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from libs.domain.reason import Rule
from services.solver.core.vectors import Bools, Ints

_RULES: tuple[Rule, ...] = tuple(Rule)
_NUMBERS: Mapping[Rule, int] = {rule: number for number, rule in enumerate(_RULES)}
_NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Refusals:
    """The first rule that refuses, per bin."""

    numbers: Ints
    """(n,): of the rule, or -1 where none refuses."""

    @classmethod
    def of(cls, bins: int, rule: Rule | None = None) -> "Refusals":
        """Return that so many bins all refuse by one rule, or that none does."""
        return cls(np.full(bins, _NONE if rule is None else _NUMBERS[rule], np.int64))

    def with_rule(self, bins: Ints | Bools, rule: Rule | None) -> "Refusals":
        """Return the same but for these bins, which refuse by this rule, or by none."""
        numbers = self.numbers.copy()
        numbers[bins] = _NONE if rule is None else _NUMBERS[rule]
        return Refusals(numbers)

    def by(self, rule: Rule | None) -> Ints:
        """Return the positions of the bins that refuse by a rule, or by none."""
        return np.flatnonzero(self.numbers == (_NONE if rule is None else _NUMBERS[rule]))

    def counted(self) -> dict[Rule | None, int]:
        """Return how many bins refuse by each rule, and by none, sorted."""
        numbers, counts = np.unique(self.numbers, return_counts=True)
        return dict(zip(map(_rule, numbers.tolist()), counts.tolist(), strict=True))

    def __getitem__(self, position: int) -> Rule | None:
        return _rule(int(self.numbers[position]))

    def __iter__(self) -> Iterator[Rule | None]:
        return map(_rule, self.numbers.tolist())

    def __len__(self) -> int:
        return len(self.numbers)


def _rule(number: int) -> Rule | None:
    return None if number == _NONE else _RULES[number]
