"""A pod on its node in time: init containers in order, sidecars beside, the others together.

Pure: `advance` moves everything that is due and says when to come again; how that looks in a
status is `pod_report`'s. Laws: advancing twice at one instant does nothing more than once; the
next instant is later than the present one.

Source: Kubernetes documentation, "Pod Lifecycle", "Init Containers", "Sidecar Containers".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from services.simulator.core.kubelet.container import KILLED, Container, End, State
from services.simulator.core.kubelet.policy import KubeletPolicy
from services.simulator.core.kubelet.resizing import Resizing, resumed
from services.simulator.core.kubelet.script import script_of
from services.simulator.core.objects import (
    read_stamp,
    span_of,
)
from services.simulator.core.part import earliest

_NONE = timedelta()
TERMINATED = 143
"""The exit code of a process that a request to end has ended."""


@dataclass(frozen=True, slots=True)
class Happening:
    """Something worth an event: a reason, and what it says."""

    reason: str
    message: str
    is_warning: bool = False


@dataclass(slots=True, kw_only=True)
class PodRun:
    """What a kubelet remembers of a pod."""

    uid: str
    title: str
    """Name, namespace and uid, as kubelets write them in sentences."""
    init: list[Container]
    main: list[Container]
    is_taken: bool = False
    """Whether the kubelet is known to take it."""
    begins: datetime
    """When its first container may start."""
    restart_policy: str
    started: datetime | None = None
    """When the kubelet took the pod on."""
    ends: datetime | None = None
    """When its deadline is over."""
    phase: str = ""
    """Set once it has ended: Succeeded or Failed."""
    reason: str = ""
    message: str = ""
    happenings: list[Happening] = field(default_factory=list)
    resizing: Resizing = field(default_factory=Resizing)

    @property
    def everyone(self) -> Iterator[Container]:
        """Yield all containers."""
        yield from self.init
        yield from self.main

    @property
    def is_initialized(self) -> bool:
        """Tell whether every init container is done or, if a sidecar, runs."""
        return any(one.state is not State.WAITING for one in self.main)


def begin(pod: Mapping[str, Any], policy: KubeletPolicy, now: datetime) -> PodRun:
    """Return the run of a pod: a new one, or what its status says of one that is under way."""
    meta, spec, status = pod["metadata"], pod["spec"], pod["status"]
    told = {
        entry["name"]: entry
        for kind in ("initContainerStatuses", "containerStatuses")
        for entry in status.get(kind) or ()
    }
    init = [
        _resumed(
            Container(
                spec=one,
                script=script_of(pod, one, policy, is_init=True),
                is_init=True,
            ),
            told.get(one["name"]),
        )
        for one in spec.get("initContainers") or ()
    ]
    main = [
        _resumed(
            Container(spec=one, script=script_of(pod, one, policy, is_init=False)),
            told.get(one["name"]),
        )
        for one in spec["containers"]
    ]
    started = read_stamp(status["startTime"]) if status.get("startTime") else None
    run = PodRun(
        uid=meta["uid"],
        title=f"{meta['name']}_{meta['namespace']}({meta['uid']})",
        init=init,
        main=main,
        begins=now if told else now + policy.start,
        restart_policy=spec.get("restartPolicy", "Always"),
        started=started,
        resizing=resumed(status),
    )
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None:
        run.ends = (started or now) + span_of(deadline)
    return run


def _resumed(container: Container, told: Mapping[str, Any] | None) -> Container:
    """Return a container in the state that its status tells."""
    if told is None:
        return container
    state, last = told.get("state") or {}, (told.get("lastState") or {}).get("terminated")
    container.runs = told.get("restartCount", 0)
    if last is not None:
        container.last = _end(last)
    if "running" in state:
        container.state = State.RUNNING
        container.since = read_stamp(state["running"].get("startedAt"))
    elif "terminated" in state:
        container.state, container.last = State.ENDED, _end(state["terminated"])
        container.since = container.last.started
    elif last is not None:
        container.state = State.ENDED
    return container


def _end(told: Mapping[str, Any]) -> End:
    return End(
        code=told.get("exitCode", 0),
        reason=told.get("reason", ""),
        started=read_stamp(told.get("startedAt")),
        finished=read_stamp(told.get("finishedAt")),
    )


def advance(run: PodRun, now: datetime) -> datetime | None:
    """Do what is due; return when to come again if nothing else happens before."""
    if run.phase:
        return None
    if run.started is None:
        run.started = now
    if run.ends is not None and run.ends <= now:
        _end_all(run, now, "Failed")
        run.reason = "DeadlineExceeded"
        run.message = "Pod was active on the node longer than the specified deadline"
        return None
    if now < run.begins:
        return earliest(run.begins, run.ends)
    while not run.phase and _move(run, now):
        pass
    if run.phase:
        return None
    due = earliest(*(_due(run, one, now) for one in run.everyone))
    return earliest(due, run.ends)


def _move(run: PodRun, now: datetime) -> bool:
    """Take one step that is due; return whether there was one."""
    for container in run.everyone:
        if _end_one(run, container, now):
            return True
    failed = next((one for one in run.init if _is_over(run, one) and not one.is_done), None)
    if failed is not None and not failed.is_sidecar:
        _end_all(run, now, "Failed")
        return True
    if all(_is_over(run, one) for one in run.main):
        _end_all(run, now, "Succeeded" if all(one.is_done for one in run.main) else "Failed")
        return True
    return _start_one(run, now)


def _end_one(run: PodRun, container: Container, now: datetime) -> bool:
    ends = container.ends_at()
    if (probe := container.failed_probe(now)) is not None:
        name = container.name
        run.happenings += [
            Happening("Unhealthy", f"{probe.capitalize()} probe failed: simulated", True),
            Happening("Killing", f"Container {name} failed {probe} probe, will be restarted"),
        ]
        container.end(KILLED, now)
        return True
    if ends is not None and ends <= now:
        code = container.script.code(container.runs)
        container.end(code, now, container.script.reason if code else "")
        return True
    return False


def _is_over(run: PodRun, container: Container) -> bool:
    return container.state is State.ENDED and not container.is_restarted(run.restart_policy)


def _start_one(run: PodRun, now: datetime) -> bool:
    """Start the first container that may: those that wait for their turn, those to run again."""
    blocked = False
    for container in run.init:
        if _starts(run, container, now, in_turn=not blocked and not run.is_initialized):
            return True
        if container.is_sidecar:
            blocked = blocked or not container.is_started(now)
        else:
            blocked = blocked or not container.is_done
    in_turn = not blocked or run.is_initialized
    return any(_starts(run, container, now, in_turn=in_turn) for container in run.main)


def _starts(run: PodRun, container: Container, now: datetime, *, in_turn: bool) -> bool:
    """Start a container that waits for its turn or has waited long enough; tell whether it was."""
    if container.state is State.WAITING and in_turn:
        container.start(now)
        return True
    if container.state is not State.ENDED or not container.is_restarted(run.restart_policy):
        return False
    at = container.restart_at()
    if at is None or at > now:
        return False
    container.back_off()
    container.start(now)
    return True


def _due(run: PodRun, container: Container, now: datetime) -> datetime | None:
    if container.state is State.ENDED and container.is_restarted(run.restart_policy):
        return container.restart_at()
    return container.next(now)


def stop_time(run: PodRun) -> timedelta:
    """Return how long the pod takes to end once it is asked to."""
    running = (one.script.stop for one in run.everyone if one.state is State.RUNNING)
    return max(running, default=_NONE)


def stop(run: PodRun, now: datetime, *, killed: bool) -> None:
    """End what still runs of a pod that was asked to end, in time or because it took too long."""
    _end_all(run, now, "", code=KILLED if killed else TERMINATED)
    ended_well = all(one.is_done for one in run.main)
    run.phase = run.phase or ("Succeeded" if ended_well else "Failed")


def _end_all(run: PodRun, now: datetime, phase: str, *, code: int = KILLED) -> None:
    run.phase = run.phase or phase
    for container in run.main:
        container.kill(code, now)
    for container in run.init:
        container.kill(0 if container.is_sidecar and phase == "Succeeded" else code, now)
