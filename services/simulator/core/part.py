"""What runs on top of the API server: parts, each stepped whenever something may have changed.

A part is level-triggered: it reads what changed, does what follows, and says when it wants to be
called even if nothing changes. Laws: a step waits for nothing and takes time only from its
argument; stepping twice at one instant does nothing more than stepping once, unless there was so
much to do that it wants to be stepped again at that instant; a refusal by the API stops only the
object it is about.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from libs.domain.errors import JoinerError


@dataclass(frozen=True, slots=True)
class Refusal:
    """Work on one object that could not be done; it is tried again later."""

    subject: str
    """Key of the object that was worked on."""
    error: JoinerError


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a step leaves behind."""

    again: datetime | None = None
    """When to step again if nothing changes before; None if only changes matter."""
    refusals: tuple[Refusal, ...] = ()


class Part(Protocol):
    """One of the simulated cluster's programs."""

    @property
    def name(self) -> str:
        """Short name for logs and metrics."""

    def step(self, now: datetime) -> Outcome:
        """Do what is due at `now`."""


def earliest(*instants: datetime | None) -> datetime | None:
    """Return the first of the instants, None if there is none."""
    known = [instant for instant in instants if instant is not None]
    return min(known) if known else None
