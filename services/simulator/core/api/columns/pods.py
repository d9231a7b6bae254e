"""The columns of pods.

Source: what `kubectl get` shows of a Kubernetes 1.36 cluster.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from services.simulator.core.api.columns.column import (
    AGE,
    NAME,
    NONE,
    Object,
    age,
    at,
    column,
)

_ENDED = ("Succeeded", "Failed")


@dataclass(slots=True)
class _Seen:
    """What the containers of a pod come to."""

    reason: str
    ready: int = 0
    restarts: int = 0
    last: str = ""
    """When a container ended that was started again, the last one."""

    def count(self, status: Object) -> None:
        """Add the restarts of a container."""
        self.restarts += status.get("restartCount", 0)
        ended = (status.get("lastState") or {}).get("terminated") or {}
        self.last = max(self.last, ended.get("finishedAt") or "")


def _seen(pod: Object) -> _Seen:
    status = pod.get("status") or {}
    found = _Seen(reason=status.get("reason") or status.get("phase") or "")
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            found.reason = "SchedulingGated"
    begun = _Seen(reason=found.reason)
    if _is_initializing(pod, begun, found) and not _is_true(status, "Initialized"):
        return begun
    found.ready = begun.ready
    _look_at_containers(status.get("containerStatuses") or (), found, _is_true(status, "Ready"))
    return found


def _is_initializing(pod: Object, begun: _Seen, sidecars: _Seen) -> bool:
    """Tell whether a pod still starts; count all init containers, and sidecars by themselves."""
    own = {one["name"]: one for one in pod["spec"].get("initContainers") or ()}
    for number, status in enumerate(pod.get("status", {}).get("initContainerStatuses") or ()):
        is_sidecar = own.get(status["name"], {}).get("restartPolicy") == "Always"
        begun.count(status)
        if is_sidecar:
            sidecars.count(status)
        state = status.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if ended is not None and not ended.get("exitCode"):
            continue
        if is_sidecar and status.get("started"):
            begun.ready += bool(status.get("ready"))
            continue
        if ended is not None:
            begun.reason = f"Init:{_why_ended(ended)}"
        elif waiting.get("reason") not in (None, "", "PodInitializing"):
            begun.reason = f"Init:{waiting['reason']}"
        else:
            begun.reason = f"Init:{number}/{len(own)}"
        return True
    return False


def _look_at_containers(statuses: Sequence[Object], found: _Seen, pod_is_ready: bool) -> None:
    is_running, failed = False, ""
    for status in reversed(statuses):
        found.count(status)
        state = status.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if waiting.get("reason"):
            found.reason = waiting["reason"]
        elif ended is not None:
            found.reason = _why_ended(ended)
            failed = found.reason if ended.get("exitCode") else failed
        elif status.get("ready") and "running" in state:
            is_running = True
            found.ready += 1
    if found.reason == "Completed":
        if is_running and pod_is_ready:
            found.reason = "Running"
        elif failed or is_running:
            found.reason = failed or "NotReady"


def _why_ended(ended: Object) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    if ended.get("signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _is_true(status: Object, kind: str) -> bool:
    return any(
        one["type"] == kind and one["status"] == "True" for one in status.get("conditions") or ()
    )


def _ready(pod: Object, _now: datetime) -> str:
    sidecars = [
        one
        for one in pod["spec"].get("initContainers") or ()
        if one.get("restartPolicy") == "Always"
    ]
    of = len(pod["spec"].get("containers") or ()) + len(sidecars)
    return f"{_seen(pod).ready}/{of}"


def _status(pod: Object, _now: datetime) -> str:
    status = pod.get("status") or {}
    if "deletionTimestamp" in pod["metadata"]:
        if status.get("reason") == "NodeLost":
            return "Unknown"
        if status.get("phase") not in _ENDED:
            return "Terminating"
    return _seen(pod).reason


def _restarts(pod: Object, now: datetime) -> str:
    found = _seen(pod)
    if not found.restarts or not found.last:
        return str(found.restarts)
    return f"{found.restarts} ({age(found.last, now)} ago)"


def _ip(pod: Object, _now: datetime) -> str:
    addresses: Sequence[Object] = pod.get("status", {}).get("podIPs") or ({},)
    return addresses[0].get("ip") or NONE


def _readiness_gates(pod: Object, _now: datetime) -> str:
    gates = pod["spec"].get("readinessGates") or ()
    status = pod.get("status") or {}
    true = sum(1 for gate in gates if _is_true(status, gate["conditionType"]))
    return f"{true}/{len(gates)}" if gates else NONE


PODS = (
    NAME,
    column("Ready", _ready),
    column("Status", _status),
    column("Restarts", _restarts),
    AGE,
    column("IP", _ip, priority=1),
    column("Node", at("spec.nodeName"), priority=1),
    column("Nominated Node", at("status.nominatedNodeName"), priority=1),
    column("Readiness Gates", _readiness_gates, priority=1),
)
