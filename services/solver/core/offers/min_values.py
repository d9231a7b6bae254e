"""minValues: how many distinct values of a key the types of a claim must leave to choose from.

Source: `docs/sources.md` A5. Difference on purpose: only values that the claim's own requirement
still allows count, and only those of offerings that it can still be bought as. The NodeClaim says
`In` these values, and the API refuses `In` with fewer values than minValues.
"""

from collections.abc import Mapping

import numpy as np

from libs.domain.requirement import Requirement
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.vectors import Bools, Ints


def wanted(known: ClaimClass) -> Mapping[str, int]:
    """Return how many values each key has to offer; empty for most pools."""
    return {one.key: one.min_values for one in known.requirements if one.min_values is not None}


def values_by_offering(known: ClaimClass) -> list[tuple[int, Ints, list[list[int]], int]]:
    """Return for each wanted key how many values it has to offer, and which ones there are.

    Returns:
        Per key: how many are wanted; (n_offerings,) an index; by that index the numbers of the
        values that such offerings have; how many numbers there are.
    """
    found = []
    for key, least in wanted(known).items():
        column = known.template.columns.key(key)
        numbers: dict[str, int] = {}
        by_pair = []
        for pair in column.distinct:
            values = sorted(value for value in _stated(pair) if _is_allowed(known, key, value))
            by_pair.append([numbers.setdefault(value, len(numbers)) for value in values])
        found.append((least, column.index, by_pair, len(numbers)))
    return found


def _is_allowed(known: ClaimClass, key: str, value: str) -> bool:
    own = known.requirements.get(key)
    return own is None or own.has(value)


def achieved(known: ClaimClass, rows: Bools, key: str) -> int:
    """Return how many values of the key are to choose from on these rows, (n_rows,)."""
    return sum(_is_allowed(known, key, value) for value in _values(known, rows, key))


def _values(known: ClaimClass, rows: Bools, key: str) -> set[str]:
    column = known.template.columns.key(key)
    values: set[str] = set()
    for number in np.unique(column.index[known.narrowed_rows(rows)]).tolist():
        values |= _stated(column.distinct[number])
    return values


def _stated(pair: tuple[Requirement | None, Requirement | None]) -> frozenset[str]:
    """Return the values that an offering states, which are narrower than what its type does."""
    stated = [one for one in pair if one is not None]
    return stated[-1].values if stated and not stated[-1].complement else frozenset()


def shortfall(known: ClaimClass, used: Ints) -> str:
    """Return in words which minValues the types with room for `used` do not reach; else empty."""
    rows = known.rows_for(used)
    for key, least in wanted(known).items():
        there = achieved(known, rows, key)
        if there < least:
            values = f"{there} value{'' if there == 1 else 's'}"
            return f"minValues {least} of {key} is not met: types that fit have {values}"
    return ""
