"""What disruption needs of the outside."""

from typing import Protocol

from libs.domain.execution import CommandRequest, DecisionReport


class Lifecycle(Protocol):
    """The one hand on the cluster.

    Laws: a repeated command, known by its id, is started once; what was refused has changed
    nothing or was taken back.
    """

    async def execute_command(self, request: CommandRequest) -> tuple[str, ...]:
        """Start a command; return the names of its replacements.

        Raises:
            StaleRevision: the premise is gone.
            NotReady: nobody leads, or the leader is not synced.
            Unavailable: nobody answers; the command may have been started.
        """

    async def report_decisions(self, report: DecisionReport) -> None:
        """Have decisions about all nodes published; raises as above."""
