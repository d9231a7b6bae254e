"""`Possible`: what a claim in flight may become that is not launched yet.

Apart because nothing about it is given, unlike all else that stands: a label is what it is on every
node that the claim may become, or it is not known.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from libs.domain.nodeclaim import NodeClaim
from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from services.solver.core.offers.catalogue import CatalogueColumns
from services.solver.core.vectors import Bools


@dataclass(frozen=True, slots=True, kw_only=True)
class Possible:
    """Nodes by what is required of their labels, and by what is sold."""

    requirements: Requirements
    columns: CatalogueColumns | None
    """None where no catalogue is known; then there are no offerings either."""
    offerings: Bools | None
    """(n_offerings,): those that are available, or all that the claim allows if none is."""

    def meets(self, asked: Requirement, labels: Mapping[str, str]) -> bool:
        """Tell whether the requirement holds whatever the claim becomes.

        Args:
            asked: the requirement.
            labels: labels that its node will have in any case.
        """
        value = labels.get(asked.key)
        if value is not None:
            return asked.has(value)
        own = self.requirements.get(asked.key)
        if own is not None and asked.contains(own):
            return True
        if self.columns is None or self.offerings is None:
            return own is None and asked.absent
        return all(
            asked.absent if there is None else asked.contains(there)
            for there in self.outcomes(asked.key)
        )

    def may_meet(self, asked: Requirements) -> bool:
        """Tell whether the requirements may hold: what nobody has said of a label could be."""
        if not self.requirements.has_intersection(asked):
            return False
        if self.columns is None or self.offerings is None:
            return True
        mask = self.offerings.copy()
        for one in self.requirements.intersection(asked):
            if one.key in asked:
                mask &= self.columns.mask(one, lenient=True)
        return bool(mask.any())

    def outcomes(self, key: str) -> Iterator[Requirement | None]:
        """Yield what is known of a label on each kind of node that the claim may become."""
        if self.columns is None or self.offerings is None:
            return
        own = self.requirements.get(key)
        column = self.columns.key(key)
        for number in np.unique(column.index[self.offerings]).tolist():
            there = own
            for one in column.distinct[number]:
                if one is not None:
                    there = one if there is None else there.intersection(one)
            yield there


def may_become(
    claim: NodeClaim, labels: Mapping[str, str], columns: CatalogueColumns | None
) -> Possible:
    """Return what the claim may become.

    Args:
        claim: not launched yet.
        labels: labels that its node will have in any case.
        columns: what it was chosen from.
    """
    requirements = claim.requirements.intersection(Requirements.from_labels(labels))
    if columns is None:
        return Possible(requirements=requirements, columns=None, offerings=None)
    mask = np.ones(len(columns.offerings), np.bool_)
    for one in requirements:
        mask &= columns.mask(one, lenient=True)
    still = mask & columns.available
    return Possible(
        requirements=requirements, columns=columns, offerings=still if still.any() else mask
    )
