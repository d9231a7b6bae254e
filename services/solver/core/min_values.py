"""minValues: how many distinct values of a key the types of a claim must offer.

Source: `docs/sources.md` A5: values are those of the instance types, whatever the claim's own
requirement on the key.
"""

from collections.abc import Mapping

import numpy as np

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


def met(known: ClaimClass, used: Ints) -> bool:
    """Tell whether the types with room for `used`, (n_resources,), offer values enough."""
    template = known.template
    rows = known.rows_for(used)
    return all(
        achieved(template.columns, rows, key) >= least for key, least in wanted(known).items()
    )


def most_that_keep(known: ClaimClass, used: Ints, request: Ints, most: int) -> int:
    """Return how many more pods, up to `most`, leave values enough to choose from."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if met(known, used + middle * request):
            low = middle
        else:
            high = middle - 1
    return low
