"""The solver, whichever of its replicas holds what is asked about."""

import logging
from collections.abc import Iterator
from datetime import timedelta

from libs.clients.solver import SolverClient
from libs.domain.errors import JoinerError, NotFound, RevisionGone, Unavailable
from libs.domain.question import SnapshotReference, SolveQuestion
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution, SolveOptions
from libs.runtime.network import Network
from services.watcher.adapters.sinks import Sinks

logger = logging.getLogger(__name__)

_REACHED_WITHIN = timedelta(seconds=10)
_SOLVE_WITHIN = timedelta(minutes=1)

_ASK_ANOTHER = (Unavailable, RevisionGone, NotFound)


class HoldingSolvers:
    """Asks a replica that holds the revision; then the others; then any, about what it holds."""

    def __init__(self, name: str, sinks: Sinks, network: Network) -> None:
        self._name = name
        self._sinks = sinks
        self._network = network

    async def solve(self, snapshot: ClusterSnapshot, options: SolveOptions) -> Solution:
        """Return a plan; it names the snapshot that it was made from.

        Raises:
            Unavailable: no replica answers now.
        """
        await self._sinks.wait_reached(self._name, snapshot.id, _REACHED_WITHIN)
        last: JoinerError = Unavailable(f"nobody is behind {self._name}")
        for address, reference in self._attempts(snapshot):
            question = SolveQuestion(snapshot=reference, options=options)
            client = SolverClient(self._network.channel(address))
            try:
                return await client.solve(question, deadline=_SOLVE_WITHIN)
            except _ASK_ANOTHER as error:
                logger.info("asking another solver", extra={"solver": address, "error": str(error)})
                last = error
        raise Unavailable(f"no solver answers: {last}") from last

    def _attempts(self, snapshot: ClusterSnapshot) -> Iterator[tuple[str, SnapshotReference]]:
        exactly = SnapshotReference(cluster_id=snapshot.id.cluster_id, id=snapshot.id)
        reached = self._sinks.reached(self._name, snapshot.id)
        behind = self._sinks.behind(self._name)
        everybody = (*reached, *(one for one in behind if one not in reached))
        for address in everybody:
            yield address, exactly
        latest = SnapshotReference(cluster_id=snapshot.id.cluster_id)
        for address in everybody:
            yield address, latest
