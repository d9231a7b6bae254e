"""Changes of prices, apart because overlays and what-ifs change them alike.

Prices are in nano-dollars per hour, shares in millionths.
"""

from libs.domain.objective import PPM

HIGHEST_NANOS_PER_HOUR = 10**15
"""A million dollars; no sum of prices leaves 64 bits."""

LEAST_DELTA_PPM, MOST_DELTA_PPM = -PPM, 10_000 * PPM
"""What a what-if may add to prices: as much as makes them nothing, or ten thousand times as much.
"""


def bounded(nanos: int) -> int:
    """Return the price, neither below nothing nor above the highest."""
    return min(max(nanos, 0), HIGHEST_NANOS_PER_HOUR)


def changed(nanos: int, delta_ppm: int) -> int:
    """Return the price with a share of it added, rounded half up."""
    return bounded((nanos * (PPM + delta_ppm) + PPM // 2) // PPM)
