"""minValues: how many distinct values of a key the types of a claim must offer.

Source: `docs/sources.md` A5: values are those of the instance types, whatever the claim's own
requirement on the key.
"""

from collections.abc import Mapping

import numpy as np

from libs.domain.solution import MinValuesPolicy
from services.solver.core.catalogue import CatalogueColumns
from services.solver.core.claim_class import ClaimClass
from services.solver.core.vectors import Bools, Ints


def wanted(known: ClaimClass) -> Mapping[str, int]:
    """Return how many values each key has to offer; empty for most pools."""
    return {one.key: one.min_values for one in known.requirements if one.min_values is not None}


def achieved(columns: CatalogueColumns, rows: Bools, key: str) -> int:
    """Return how many distinct values of the key the types of these rows, (n_rows,), have."""
    values: set[str] = set()
    for kind in np.unique(columns.row_type[rows]).tolist():
        own = columns.types[kind].requirements.get(key)
        if own is not None and not own.complement:
            values |= own.values
    return len(values)


def to_keep(known: ClaimClass, used: Ints, policy: MinValuesPolicy) -> Mapping[str, int]:
    """Return how many values of each key a claim has to keep as it fills.

    Under best effort those that it can have anyhow: what is lowered for a first pod is not lowered
    further for others, which get another node.

    Args:
        known: the class of the claim.
        used: (n_resources,): what its pods ask for; of a new one, what its first pod does.
        policy: what to do where the values wanted are out of reach.
    """
    least = wanted(known)
    if policy is MinValuesPolicy.STRICT or not least:
        return least
    columns, rows = known.template.columns, known.rows_for(used)
    return {key: min(count, achieved(columns, rows, key)) for key, count in least.items()}


def met(known: ClaimClass, used: Ints, least: Mapping[str, int] | None = None) -> bool:
    """Tell whether the types with room for `used`, (n_resources,), offer values enough.

    Args:
        known: the class of a claim.
        used: (n_resources,): what its pods ask for.
        least: how many values of each key are enough; None: as many as are wanted.
    """
    template = known.template
    rows = known.rows_for(used)
    enough = wanted(known) if least is None else least
    return all(achieved(template.columns, rows, key) >= count for key, count in enough.items())


def shortfall(known: ClaimClass, used: Ints) -> str:
    """Return in words which minValues the types with room for `used` do not reach; else empty."""
    columns, rows = known.template.columns, known.rows_for(used)
    for key, least in wanted(known).items():
        there = achieved(columns, rows, key)
        if there < least:
            return f"minValues {least} of {key} is not met: types that fit have {there} values"
    return ""


def most_that_keep(
    known: ClaimClass, used: Ints, request: Ints, most: int, least: Mapping[str, int]
) -> int:
    """Return how many more pods, up to `most`, leave values enough, `least`, to choose from."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if met(known, used + middle * request, least):
            low = middle
        else:
            high = middle - 1
    return low
