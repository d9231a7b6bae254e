"""What a container is going to do: read once from its probes and its pod's annotations.

An annotation `simulator.joiner.io/WHAT` holds for all containers of a pod that are no init
containers, `CONTAINER.simulator.joiner.io/WHAT` for one of either kind, and goes first:

- `run-seconds`: after how long it ends; `never`; one number for each run, the last for all others.
- `exit-code`: how it ends (0), one number for each run; `exit-reason`: the reason, as `OOMKilled`.
- `start-seconds`, `ready-seconds`: from when on its startup and readiness probes succeed; `never`.
- `unready-seconds`: from when until when its readiness fails, as `60-120,300-`.
- `live-seconds`: from when on its liveness probe fails.
- `stop-seconds`: how long it takes to end when asked.

Law: who misspells an annotation gets what holds without it, and for `run-seconds` a container that
runs for ever.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from services.simulator.core.kubelet.policy import KubeletPolicy
from services.simulator.core.objects import span_of

ROOT = "simulator.joiner.io"
NEVER = "never"

_NOW = timedelta()
_LONGEST_PERIOD, _MOST_TRIES = 10**5, 10**4
T = TypeVar("T")

Span = tuple[timedelta, timedelta | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """How a container fares; spans count from the start of each run."""

    runs: tuple[timedelta | None, ...]
    """How long each run lasts, None for ever; the last is that of all further runs."""
    codes: tuple[int, ...] = (0,)
    reason: str = ""
    starts: timedelta | None = _NOW
    """When the startup probe has succeeded; None if it never does."""
    start_fails: timedelta | None = None
    """When it has failed for good."""
    ready: timedelta | None = _NOW
    unready: tuple[Span, ...] = ()
    dies: timedelta | None = None
    """When the liveness probe has failed for good."""
    stop: timedelta = _NOW

    def run(self, number: int) -> timedelta | None:
        """Return how long a run lasts; the first is 0."""
        return self.runs[min(number, len(self.runs) - 1)]

    def code(self, number: int) -> int:
        """Return the exit code of a run."""
        return self.codes[min(number, len(self.codes) - 1)]


def script_of(
    pod: Mapping[str, Any], container: Mapping[str, Any], policy: KubeletPolicy, *, is_init: bool
) -> Script:
    """Return what a container of a pod does."""
    notes = _Notes(pod["metadata"].get("annotations") or {}, container["name"], is_init)
    is_sidecar = is_init and container.get("restartPolicy") == "Always"
    usual = None if is_sidecar else _usual_run(pod, policy, is_init=is_init)
    starts, start_fails = _startup(container.get("startupProbe"), notes)
    return Script(
        runs=notes.read("run-seconds", _runs, (None,)) or (usual,),
        codes=notes.read("exit-code", _codes, (0,)) or (0,),
        reason=notes.text("exit-reason") or "",
        starts=starts,
        start_fails=start_fails,
        ready=_readiness(container.get("readinessProbe"), notes),
        unready=notes.read("unready-seconds", _spans, ()) or (),
        dies=_liveness(container.get("livenessProbe"), notes),
        stop=_stop(container, notes, policy),
    )


class _Notes:
    """The annotations that speak of one container."""

    def __init__(self, annotations: Mapping[str, str], name: str, is_init: bool) -> None:
        self._annotations = annotations
        self._prefixes = (f"{name}.{ROOT}/",) if is_init else (f"{name}.{ROOT}/", f"{ROOT}/")

    def text(self, what: str) -> str | None:
        if not self._annotations:
            return None
        found = (self._annotations.get(f"{prefix}{what}") for prefix in self._prefixes)
        return next((text for text in found if text is not None), None)

    def read(self, what: str, parse: Callable[[str], T], misspelt: T) -> T | None:
        """Return what an annotation says, `misspelt` if nobody can read it, None without it."""
        text = self.text(what)
        if text is None:
            return None
        try:
            return parse(text)
        except (ValueError, OverflowError):
            return misspelt

    def seconds(self, what: str) -> tuple[bool, timedelta | None]:
        """Return whether an annotation says something, and the span; None for never."""
        unread = (False, None)
        return self.read(what, lambda text: (True, _span(text)), unread) or unread


def _span(text: str) -> timedelta | None:
    """Read a number of seconds, None for `never`; raises ValueError."""
    if text.strip() == NEVER:
        return None
    span = span_of(float(text))
    if span < _NOW:
        raise ValueError(text)
    return span


def _runs(text: str) -> tuple[timedelta | None, ...]:
    return tuple(map(_span, text.split(",")))


def _codes(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _spans(text: str) -> tuple[Span, ...]:
    spans = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        begin = _span(first)
        if begin is None:
            raise ValueError(text)
        spans.append((begin, _span(last) if last.strip() else None))
    return tuple(sorted(spans, key=lambda span: span[0]))


def _usual_run(pod: Mapping[str, Any], policy: KubeletPolicy, *, is_init: bool) -> timedelta | None:
    """Init containers are done at once, those of Jobs after a while; all others run for ever."""
    if is_init:
        return _NOW
    if pod["spec"].get("restartPolicy", "Always") == "Always":
        return None
    owners = pod["metadata"].get("ownerReferences") or ()
    return policy.run if any(owner["kind"] == "Job" for owner in owners) else None


def _startup(
    probe: Mapping[str, Any] | None, notes: _Notes
) -> tuple[timedelta | None, timedelta | None]:
    """Return when the startup probe has succeeded, and when it has failed for good."""
    if probe is None:
        return _NOW, None
    first, period = _timing(probe)
    fails = first + period * (_count(probe, "failureThreshold", 3) - 1)
    said, wanted = notes.seconds("start-seconds")
    if not said:
        return first, None
    if wanted is None or (starts := _at_probe(wanted, first, period)) > fails:
        return None, fails
    return starts, None


def _timing(probe: Mapping[str, Any]) -> tuple[timedelta, timedelta]:
    """Return when a probe is made first, and every how often."""
    return (
        span_of(probe.get("initialDelaySeconds", 0)),
        span_of(min(probe.get("periodSeconds", 10), _LONGEST_PERIOD)),
    )


def _count(probe: Mapping[str, Any], name: str, usual: int) -> int:
    return min(int(probe.get(name, usual)), _MOST_TRIES)


def _at_probe(wanted: timedelta, first: timedelta, period: timedelta) -> timedelta:
    """Return the first instant of a probe at or after another."""
    return first + period * max(0, -((first - wanted) // period))


def _readiness(probe: Mapping[str, Any] | None, notes: _Notes) -> timedelta | None:
    said, wanted = notes.seconds("ready-seconds")
    if said:
        return wanted
    if probe is None:
        return _NOW
    first, period = _timing(probe)
    successes = _count(probe, "successThreshold", 1)
    return first + period * (successes - 1)


def _liveness(probe: Mapping[str, Any] | None, notes: _Notes) -> timedelta | None:
    if probe is None:
        return None
    _said, wanted = notes.seconds("live-seconds")
    if wanted is None:
        return None
    first, period = _timing(probe)
    failures = _count(probe, "failureThreshold", 3)
    return _at_probe(wanted, first, period) + period * (failures - 1)


def _stop(container: Mapping[str, Any], notes: _Notes, policy: KubeletPolicy) -> timedelta:
    said, wanted = notes.seconds("stop-seconds")
    if said:
        return timedelta.max if wanted is None else wanted
    hook = (container.get("lifecycle") or {}).get("preStop") or {}
    return policy.stop + span_of((hook.get("sleep") or {}).get("seconds", 0))
