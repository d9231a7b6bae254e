"""What a kubelet says about its pods, running or ended: pure functions of the Pod object.

Source: Kubernetes documentation, "Pod Lifecycle", "Sidecar Containers".
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from libs.domain.errors import InvalidRequest
from services.simulator.core.api.frozen import thaw
from services.simulator.core.objects import Object, condition_of, is_true, stamp, with_condition

RUN_ANNOTATION = "simulator.joiner.io/run-seconds"
"""On a pod: after how many seconds its containers end well."""


def run_time(pod: Mapping[str, Any], default: timedelta) -> timedelta | None:
    """Return how long the pod's containers run, None for ever.

    Pods that restart always never end; of the others those end that have the annotation or belong
    to a Job.

    Raises:
        InvalidRequest: the annotation is no number of seconds.
    """
    if pod["spec"].get("restartPolicy", "Always") == "Always":
        return None
    wish = (pod["metadata"].get("annotations") or {}).get(RUN_ANNOTATION)
    if wish is not None:
        return _seconds(wish)
    owners = pod["metadata"].get("ownerReferences") or ()
    return default if any(owner["kind"] == "Job" for owner in owners) else None


def _seconds(text: str) -> timedelta:
    try:
        span = timedelta(seconds=float(text))
    except (ValueError, OverflowError):
        span = timedelta(-1)
    if span < timedelta():
        field = f"metadata.annotations[{RUN_ANNOTATION}]"
        raise InvalidRequest(f'"{text}" is no number of seconds', field=field)
    return span


def running_status(pod: Mapping[str, Any], host: str, address: str, now: datetime) -> Object:
    """Return the status of a pod whose containers all run."""
    status: Object = thaw(pod["status"])
    status |= {
        "phase": "Running",
        "hostIP": host,
        "hostIPs": [{"ip": host}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": stamp(now),
    }
    running = {"running": {"startedAt": stamp(now)}}
    first = pod["spec"].get("initContainers") or ()
    if first:
        done = {"terminated": _ended(0, "Completed", now, now)}
        status["initContainerStatuses"] = [
            _container(spec, pod, running if is_sidecar(spec) else done) for spec in first
        ]
    status["containerStatuses"] = [
        _container(spec, pod, running) for spec in pod["spec"]["containers"]
    ]
    return _with_readiness(pod, status, now)


def readiness_is_stale(pod: Mapping[str, Any]) -> bool:
    """Tell whether a running pod's readiness gates contradict its Ready condition."""
    return is_true(pod, "Ready") != (not _missing_gates(pod))


def with_readiness(pod: Mapping[str, Any], now: datetime) -> Object:
    """Return the status of a running pod with the readiness that its gates allow."""
    return _with_readiness(pod, thaw(pod["status"]), now)


def _with_readiness(pod: Mapping[str, Any], status: Object, now: datetime) -> Object:
    missing = _missing_gates(pod)
    ready = {"type": "Ready", "status": "False" if missing else "True"}
    if missing:
        listed = ", ".join(f'"{gate}"' for gate in missing)
        message = (
            f"corresponding condition of pod readiness gate {listed} does not exist or is not True"
        )
        ready |= {"reason": "ReadinessGatesNotReady", "message": message}
    plain = [
        {"type": type_, "status": "True"}
        for type_ in ("PodReadyToStartContainers", "Initialized", "ContainersReady")
    ]
    return _with_conditions(status, [*plain, ready], now)


def _missing_gates(pod: Mapping[str, Any]) -> list[str]:
    gates = [gate["conditionType"] for gate in pod["spec"].get("readinessGates") or ()]
    return [gate for gate in gates if not is_true(pod, gate)]


def ended_status(pod: Mapping[str, Any], phase: str, now: datetime) -> Object:
    """Return the status of a pod whose containers ended or were stopped (`Failed`)."""
    status: Object = thaw(pod["status"])
    status["phase"] = phase
    code, reason = (0, "Completed") if phase == "Succeeded" else (137, "Error")
    for container in status.get("containerStatuses") or ():
        started = (container.get("state", {}).get("running") or {}).get("startedAt", stamp(now))
        end = _ended(code, reason, now, now) | {"startedAt": started}
        container |= {"ready": False, "started": False, "state": {"terminated": end}}
    why = "PodCompleted" if phase == "Succeeded" else "PodFailed"
    changed = [
        {"type": type_, "status": "False", "reason": why} for type_ in ("Ready", "ContainersReady")
    ]
    changed += [
        {"type": "PodReadyToStartContainers", "status": "False"},
        *([] if condition_of(pod, "Initialized") is None else [_completed_initialization(why)]),
    ]
    return _with_conditions(status, changed, now)


def _completed_initialization(why: str) -> Object:
    condition = {"type": "Initialized", "status": "True"}
    return condition | ({"reason": why} if why == "PodCompleted" else {})


def _with_conditions(status: Object, changed: Iterable[Object], now: datetime) -> Object:
    conditions = status.get("conditions") or []
    for condition in changed:
        conditions = with_condition(conditions, condition, now, extra={"lastProbeTime": None})
    return {**status, "conditions": conditions}


def is_sidecar(container: Mapping[str, Any]) -> bool:
    """Tell whether an init container runs beside the others."""
    return container.get("restartPolicy") == "Always"


def _container(spec: Mapping[str, Any], pod: Mapping[str, Any], state: Object) -> Object:
    uid, name, image = pod["metadata"]["uid"], spec["name"], spec.get("image", "")
    return {
        "name": name,
        "image": image,
        "imageID": image,
        "containerID": f"simulated://{uid}/{name}",
        "ready": True,
        "started": "running" in state,
        "restartCount": 0,
        "state": state,
        "lastState": {},
    }


def _ended(code: int, reason: str, started: datetime, now: datetime) -> Object:
    return {
        "exitCode": code,
        "reason": reason,
        "startedAt": stamp(started),
        "finishedAt": stamp(now),
    }
