"""Reserved capacity: how many instances of each reservation this plan may count on.

Source: `docs/sources.md` D12, strict mode: a claim takes one instance of every reservation that it
may become until it is narrowed; a pod that could use a reservation waits for the next solve rather
than buy on-demand beside it while all instances are promised. Only where minValues are strict and
want more of a choice than a reservation is, the claim is bought beside it.
"""

from collections.abc import Iterable, Mapping

from services.solver.core.offers.template import Template


def instances_left(templates: Iterable[Template]) -> Mapping[str, int]:
    """Return the instances of each reservation that the catalogues of these pools offer."""
    left: dict[str, int] = {}
    for template in templates:
        for name, count in template.columns.reservations.items():
            left[name] = min(left.get(name, count), count)
    return left
