"""What a kubelet says about a pod: its status, from how its containers fare. Pure.

Source: Kubernetes documentation, "Pod Lifecycle: Pod phase, Pod conditions, Container states";
kubelet's words (1.36).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from services.simulator.core.kubelet import resizing
from services.simulator.core.kubelet.container import Container, End, State
from services.simulator.core.kubelet.pod_run import PodRun
from services.simulator.core.objects import Object, is_true, stamp, with_condition

_OURS = frozenset(
    {
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
        "PodResizePending",
        "PodResizeInProgress",
    }
)


_OF_RESIZES = frozenset({"resources", "allocatedResources"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pod runs."""

    host: str
    """Address of its node."""
    address: str
    """Its own address; empty while it has none."""


def status_of(pod: Mapping[str, Any], run: PodRun, place: Place, now: datetime) -> Object:
    """Return the status of a pod on its node."""
    status: Object = {
        key: value
        for key, value in pod["status"].items()
        if key not in ("reason", "message", "initContainerStatuses", "containerStatuses")
    }
    status |= {
        "observedGeneration": pod["metadata"].get("generation", 1),
        "phase": _phase(run),
        "hostIP": place.host,
        "hostIPs": [{"ip": place.host}],
        "startTime": status.get("startTime") or stamp(run.started or now),
    }
    if place.address:
        status |= {"podIP": place.address, "podIPs": [{"ip": place.address}]}
    status |= {
        key: text for key, text in (("reason", run.reason), ("message", run.message)) if text
    }
    if run.init:
        known = pod["status"].get("initContainerStatuses") or ()
        status["initContainerStatuses"] = [_container(run, one, known, now) for one in run.init]
    known = pod["status"].get("containerStatuses") or ()
    status["containerStatuses"] = [_container(run, one, known, now) for one in run.main]
    status["conditions"] = _conditions(pod, run, now, has_network=bool(place.address))
    return status


def rejected_status(pod: Mapping[str, Any], reason: str, message: str, now: datetime) -> Object:
    """Return the status of a pod that the kubelet does not take."""
    return {
        "phase": "Failed",
        "reason": reason,
        "message": f"Pod was rejected: {message}",
        "qosClass": pod["status"].get("qosClass", "BestEffort"),
        "startTime": stamp(now),
        "observedGeneration": pod["metadata"].get("generation", 1),
        "conditions": list(pod["status"].get("conditions") or ()),
    }


def readiness_is_stale(pod: Mapping[str, Any]) -> bool:
    """Tell whether a pod's Ready condition contradicts its containers and gates."""
    ready = is_true(pod, "ContainersReady") and not _missing_gates(pod)
    return is_true(pod, "Ready") != ready


def _phase(run: PodRun) -> str:
    if run.phase:
        return run.phase
    return "Running" if run.is_initialized else "Pending"


# Conditions


def _conditions(
    pod: Mapping[str, Any], run: PodRun, now: datetime, *, has_network: bool
) -> list[Object]:
    before = list(pod["status"].get("conditions") or ())
    observed = {
        "lastProbeTime": None,
        "observedGeneration": pod["metadata"].get("generation", 1),
    }
    containers_ready = _containers_ready(run, now)
    running = has_network and not run.phase
    wanted = [
        {"type": "PodReadyToStartContainers", "status": "True" if running else "False"},
        _initialized(run, now),
        _ready(pod, containers_ready),
        {"type": "ContainersReady", **containers_ready},
        {"type": "PodScheduled", "status": "True"},
    ]
    resizes = [] if run.phase else resizing.conditions_of(run.resizing)
    kept = [one for one in before if one["type"] not in _OURS]
    mine = [_dated(before, one, now, observed) for one in (*resizes, *wanted)]
    return kept + mine


def _dated(
    before: list[Object], condition: Object, now: datetime, observed: Mapping[str, Any]
) -> Object:
    """Return a condition with the time of its last transition."""
    old = [one for one in before if one["type"] == condition["type"]]
    return with_condition(old, condition, now, extra=observed)[0]


def _containers_ready(run: PodRun, now: datetime) -> Object:
    if run.phase:
        return {
            "status": "False",
            "reason": "PodCompleted" if run.phase == "Succeeded" else "PodFailed",
        }
    watched = [one for one in run.everyone if not one.is_init or one.is_sidecar]
    unready = [one.name for one in watched if not one.is_ready(now)]
    if not unready:
        return {"status": "True"}
    return {
        "status": "False",
        "reason": "ContainersNotReady",
        "message": f"containers with unready status: [{' '.join(unready)}]",
    }


def _ready(pod: Mapping[str, Any], containers_ready: Object) -> Object:
    missing = _missing_gates(pod)
    if containers_ready["status"] != "True" or not missing:
        return {"type": "Ready", **containers_ready}
    return {
        "type": "Ready",
        "status": "False",
        "reason": "ReadinessGatesNotReady",
        "message": ", ".join(_about_gate(pod, gate) for gate in missing),
    }


def _missing_gates(pod: Mapping[str, Any]) -> list[str]:
    gates = [gate["conditionType"] for gate in pod["spec"].get("readinessGates") or ()]
    return [gate for gate in gates if not is_true(pod, gate)]


def _about_gate(pod: Mapping[str, Any], gate: str) -> str:
    for condition in pod["status"].get("conditions") or ():
        if condition["type"] == gate:
            return (
                f'the status of pod readiness gate "{gate}" is not "True", '
                f"but {condition['status']}"
            )
    return f'corresponding condition of pod readiness gate "{gate}" does not exist.'


def _initialized(run: PodRun, now: datetime) -> Object:
    condition: Object = {"type": "Initialized", "status": "True"}
    if run.phase == "Succeeded":
        return {**condition, "reason": "PodCompleted"}
    if run.is_initialized:
        return condition
    incomplete = [one.name for one in run.init if not _is_through(one, now)]
    if not incomplete:
        return condition
    return {
        "type": "Initialized",
        "status": "False",
        "reason": "ContainersNotInitialized",
        "message": f"containers with incomplete status: [{' '.join(incomplete)}]",
    }


def _is_through(container: Container, now: datetime) -> bool:
    return container.is_started(now) if container.is_sidecar else container.is_done


# Containers


def _container(
    run: PodRun, container: Container, known: Iterable[Mapping[str, Any]], now: datetime
) -> Object:
    name, image = container.name, container.spec.get("image", "")
    state, last = _state(run, container)
    before = next((one for one in known if one["name"] == name), {})
    told: Object = {
        **{key: value for key, value in before.items() if key not in _OF_RESIZES},
        "name": name,
        "image": image,
        "ready": container.is_ready(now),
        "started": container.is_started(now),
        "restartCount": container.runs,
        "state": state,
        "lastState": last,
    }
    has_run = container.since is not None or container.last is not None
    if has_run and not before.get("containerID"):
        told |= {"imageID": image, "containerID": _container_id(run, name)}
    told.setdefault("imageID", "")
    if name in run.resizing.in_force:
        told["resources"] = _without_claims(run.resizing.in_force[name])
        told["allocatedResources"] = dict(run.resizing.given[name].get("requests") or {})
    return told


def _container_id(run: PodRun, name: str) -> str:
    """Return the id of a container; one of another runtime keeps that which it came with."""
    return f"simulated://{run.uid}/{name}"


def _without_claims(resources: Mapping[str, Any]) -> Object:
    return {side: dict(resources[side]) for side in ("limits", "requests") if side in resources}


def _state(run: PodRun, container: Container) -> tuple[Object, Object]:
    """Return the state of a container, and the one before."""
    ended = container.last
    told = {"terminated": _terminated(run, container, ended)} if ended is not None else {}
    match container.state:
        case State.WAITING:
            if run.phase and not told:
                return _waiting("ContainerCreating" if not run.init else "PodInitializing"), {}
            reason = "PodInitializing" if run.init else "ContainerCreating"
            return _waiting(reason), told
        case State.RUNNING:
            assert container.since is not None
            return {"running": {"startedAt": stamp(container.since)}}, told
        case State.ENDED:
            if run.phase or not container.is_restarted(run.restart_policy):
                return told, {}
            return _waiting("CrashLoopBackOff", crash_message(run, container)), told


def crash_message(run: PodRun, container: Container) -> str:
    """Return what is said of a container that waits to be restarted."""
    return (
        f"back-off {go_duration(container.backoff)} restarting failed "
        f"container={container.name} pod={run.title}"
    )


def go_duration(span: timedelta) -> str:
    """Return a span of whole seconds as Go writes it (`10s`, `2m40s`, `5m0s`)."""
    minutes, seconds = divmod(int(span.total_seconds()), 60)
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"


def _waiting(reason: str, message: str = "") -> Object:
    return {"waiting": {"reason": reason, **({"message": message} if message else {})}}


def _terminated(run: PodRun, container: Container, end: End) -> Object:
    return {
        "exitCode": end.code,
        "reason": end.reason,
        "startedAt": stamp(end.started),
        "finishedAt": stamp(end.finished),
        "containerID": _container_id(run, container.name),
    }


def unready_names(pod: Mapping[str, Any]) -> Iterable[str]:
    """Return the containers that the pod's status tells to run without being ready."""
    for entry in pod["status"].get("containerStatuses") or ():
        if "running" in (entry.get("state") or {}) and entry.get("started") and not entry["ready"]:
            yield entry["name"]
