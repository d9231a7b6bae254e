"""One container of a pod in time: waiting, running, ended, started again with back-off.

Laws: an instant is compared, never a clock read; the back-off begins with the second crash, doubles
from ten seconds to five minutes, and is forgotten after ten minutes in peace.

Source: Kubernetes documentation, "Pod Lifecycle: Container states, Container restarts", "Liveness,
Readiness and Startup Probes".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from services.simulator.core.kubelet.script import Script
from services.simulator.core.part import earliest

KILLED = 137
_FIRST_BACKOFF = timedelta(seconds=10)
_LAST_BACKOFF = timedelta(minutes=5)
_PEACE = timedelta(minutes=10)


class State(Enum):
    """The states of a container, as its status names them."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "terminated"


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a run ended."""

    code: int
    reason: str
    started: datetime
    finished: datetime


@dataclass(slots=True, kw_only=True)
class Container:
    """What is remembered of a container."""

    spec: Mapping[str, Any]
    script: Script
    is_init: bool = False
    state: State = State.WAITING
    since: datetime | None = None
    """When the present run began."""
    runs: int = 0
    """How many runs began before the present one."""
    last: End | None = None
    backoff: timedelta = timedelta()
    backed_off: datetime | None = None
    """When the back-off was last set."""
    is_stopped: bool = False
    """It is not started again, whatever its policy says."""

    @property
    def name(self) -> str:
        """Return its name."""
        return str(self.spec["name"])

    @property
    def is_sidecar(self) -> bool:
        """Tell whether it is an init container that runs beside the others."""
        return self.is_init and self.spec.get("restartPolicy") == "Always"

    @property
    def is_done(self) -> bool:
        """Tell whether it has ended well and begins no more."""
        return self.state is State.ENDED and self.last is not None and self.last.code == 0

    def start(self, now: datetime) -> None:
        """Begin a run."""
        if self.last is not None:
            self.runs += 1
        self.state, self.since = State.RUNNING, now

    def end(self, code: int, now: datetime, reason: str = "") -> None:
        """End the present run."""
        words = reason or ("Completed" if code == 0 else "Error")
        started = self.since or now
        self.last = End(code=code, reason=words, started=started, finished=now)
        self.state = State.ENDED

    def kill(self, code: int, now: datetime) -> None:
        """End it for good; what never ran has not ended."""
        self.is_stopped = True
        if self.state is State.RUNNING:
            self.end(code, now)

    def is_started(self, now: datetime) -> bool:
        """Tell whether it runs and its startup probe has succeeded."""
        return self.state is State.RUNNING and _is_past(self.since, self.script.starts, now)

    def is_ready(self, now: datetime) -> bool:
        """Tell whether it serves; an init container that is done counts as ready."""
        if self.is_init and not self.is_sidecar:
            return self.is_done
        if not self.is_started(now) or self.since is None:
            return False
        if not _is_past(self.since, self.script.ready, now):
            return False
        age = now - self.since
        return not any(
            first <= age and (last is None or age < last) for first, last in self.script.unready
        )

    def is_restarted(self, policy: str) -> bool:
        """Tell whether it is started again after the end of its last run."""
        if self.is_stopped or self.last is None:
            return False
        if self.is_sidecar:
            return True
        own = self.spec.get("restartPolicy")
        for rule in self.spec.get("restartPolicyRules") or ():
            if rule.get("action") == "Restart" and _matches(rule.get("exitCodes"), self.last.code):
                return True
        wanted = own or policy
        if self.is_init:  # an init container that ended well is done
            return wanted != "Never" and self.last.code != 0
        return wanted == "Always" or (wanted == "OnFailure" and self.last.code != 0)

    def restart_at(self) -> datetime | None:
        """Return when an ended container may be started again; None if it has not ended."""
        if self.last is None or self.state is not State.ENDED:
            return None
        return self.last.finished + self.backoff

    def back_off(self) -> None:
        """Lengthen the wait before the restart after the next one."""
        assert self.last is not None
        ended = self.last.finished
        if self.backed_off is None or ended - self.backed_off > _PEACE:
            self.backoff = _FIRST_BACKOFF
        else:
            self.backoff = min(self.backoff * 2, _LAST_BACKOFF)
        self.backed_off = ended

    def failed_probe(self, now: datetime) -> str | None:
        """Return which probe has failed for good, None if none has."""
        if self.state is not State.RUNNING:
            return None
        if _is_past(self.since, self.script.start_fails, now):
            return "startup"
        return "liveness" if _is_past(self.since, self.script.dies, now) else None

    def ends_at(self) -> datetime | None:
        """Return when the present run ends by itself, None if it does not."""
        span = self.script.run(self.runs)
        running = self.state is State.RUNNING and self.since is not None
        return self.since + span if running and self.since and span is not None else None

    def next(self, now: datetime) -> datetime | None:
        """Return when something about a running container changes, None if never."""
        if self.state is not State.RUNNING or self.since is None:
            return None
        script = self.script
        spans = [script.starts, script.ready, script.start_fails, script.dies]
        spans += [edge for span in script.unready for edge in span]
        ahead = [self.since + span for span in spans if span is not None]
        return earliest(self.ends_at(), *(instant for instant in ahead if instant > now))


def _is_past(since: datetime | None, span: timedelta | None, now: datetime) -> bool:
    return since is not None and span is not None and since + span <= now


def _matches(wanted: Mapping[str, Any] | None, code: int) -> bool:
    if wanted is None:
        return False
    listed = code in (wanted.get("values") or ())
    return listed if wanted.get("operator") == "In" else not listed
