"""`CommandRecord`: what this process has sent, for people and until snapshots show it.

Lost with the process, and nothing is lost by that: lifecycle refuses a second command on a node.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from libs.collections.ring_buffer import RingBuffer
from libs.domain.execution import SentCommand
from libs.domain.plan import Candidate, Command
from libs.domain.snapshot import ClusterSnapshot

_SHOWN = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Accepted:
    candidate: Candidate
    command_id: str
    at: datetime


class CommandRecord:
    """Commands sent lately, and claims under those that are not in the snapshot yet."""

    def __init__(self, forget_after: timedelta) -> None:
        self._forget_after = forget_after
        self._sent: RingBuffer[SentCommand] = RingBuffer(_SHOWN)
        self._accepted: dict[str, _Accepted] = {}
        """By uid of the claim."""

    def accepted(self, command: Command, now: datetime) -> None:
        """Note that lifecycle has started a command."""
        self._sent.insert(SentCommand(command=command, sent_at=now))
        for one in command.candidates:
            self._accepted[one.nodeclaim_uid] = _Accepted(
                candidate=one, command_id=command.id, at=now
            )

    def refused(self, command: Command, now: datetime, why: str) -> None:
        """Note that lifecycle has not started a command, as far as is known."""
        self._sent.insert(SentCommand(command=command, sent_at=now, refusal=why))

    def latest(self) -> tuple[SentCommand, ...]:
        """Return the last commands, oldest first."""
        return tuple(self._sent)

    def in_flight(self, snapshot: ClusterSnapshot, now: datetime) -> Mapping[str, str]:
        """Return the commands that a snapshot does not show yet: id by uid of the claim.

        What it shows is forgotten, since from then on snapshots tell how the command goes; so is
        what none has shown for long: the command was over before anybody looked.
        """
        self._accepted = {
            uid: one
            for uid, one in self._accepted.items()
            if now - one.at < self._forget_after and not _shows(snapshot, one.candidate)
        }
        return {uid: one.command_id for uid, one in self._accepted.items()}


def _shows(snapshot: ClusterSnapshot, candidate: Candidate) -> bool:
    claim = snapshot.nodeclaims.get(candidate.nodeclaim)
    if claim is None or claim.uid != candidate.nodeclaim_uid:
        return True
    return claim.command is not None or claim.deleting_at is not None
