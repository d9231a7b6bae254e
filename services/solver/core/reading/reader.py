"""What is read of clusters: pods, nodes and claims in columns, known by the identity of each.

Apart from what is decided because it outlives a decision: one reader for all revisions and what-ifs
that share blocks, nodes and claims.
"""

import numpy as np

from libs.collections.codes import Codes
from libs.domain import labels as label_keys
from libs.domain.resources import WELL_KNOWN
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.reading.claim_columns import ClaimReader
from services.solver.core.reading.node_columns import NodeReader
from services.solver.core.reading.pod_columns import PodReader

_MOST = 2**18
"""More names and kinds than this are forgotten together with all that was made of them."""


class Reader:
    """Makes columns, and remembers them as long as what they are made of lives."""

    def __init__(self) -> None:
        self._codes = Codes()
        self.pods = PodReader(self._codes)
        self.nodes = NodeReader(self._codes)
        self.claims = ClaimReader(self._codes)

    def look_over(self, snapshot: ClusterSnapshot) -> None:
        """Read of a cluster what most decisions ask for, so that they find it read."""
        self.pods.of(snapshot.pods, snapshot.shapes)
        nodes = self.nodes.of(snapshot.nodes)
        nodes.kinds(label_keys.WELL_KNOWN, np.arange(len(nodes.names)))
        for resource in sorted(WELL_KNOWN):
            nodes.room(resource)

    @property
    def full(self) -> bool:
        """Return whether so much was met that it is better to start anew."""
        return max(len(self._codes), len(self.nodes.kinds)) > _MOST
