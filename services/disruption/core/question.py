"""`Question`: all that a pass decides on, as data.

Apart because everything below is a function of it: the same question gives the same verdict.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from libs.domain.nodeclaim import NodeClaim
from libs.domain.snapshot import ClusterSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A cluster at an instant."""

    snapshot: ClusterSnapshot
    now: datetime
    id: str = ""
    """Ids of commands begin with it, so it differs with every question that may start one."""
    in_flight: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Commands that were accepted and that the snapshot does not show yet: id by claim uid."""

    def command_of(self, claim: NodeClaim) -> str:
        """Return the id of the command that a claim is under, empty if there is none."""
        if claim.command is not None:
            return claim.command.id
        return self.in_flight.get(claim.uid, "")
