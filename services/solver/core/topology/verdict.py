"""`Verdict`: where the next pods of an ask may go, given where all others are, for who explains it.

Apart from packing, for which the kernel judges and never tells.
"""

from dataclasses import dataclass

from services.solver.core.offers.claim_class import Bounds
from services.solver.core.vectors import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Where the next pods of an ask may go."""

    bounds: Bounds
    """Allowed domains by key."""
    pins: tuple[str, ...]
    """Keys of which a node must be in one domain, since the pod is counted there."""
    caps: Ints | None
    """(n_bins,): most pods per bin; None where there is no bound."""
    new_cap: int
    """Most pods on a bin that is still to be opened."""
