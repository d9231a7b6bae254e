"""Validation of probes and of what runs when a container starts or stops.

Source: Kubernetes API reference, Probe, Lifecycle, LifecycleHandler; wordings as recorded from
kube-apiserver 1.36.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import Stored, between, formed, not_negative, one_of, present
from libs.apiserver.field_errors import FieldError, not_allowed, not_supported, required, wrong

PORTS = (1, 65535)
_COUNTS = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)
_WINDOWS_SIGNALS = ("SIGKILL", "SIGTERM")
_NAMES = (
    *("ABRT", "ALRM", "BUS", "CHLD", "CLD", "CONT", "FPE", "HUP", "ILL", "INT", "IO", "IOT"),
    *("KILL", "PIPE", "POLL", "PROF", "PWR", "QUIT", "SEGV", "STKFLT", "STOP", "SYS", "TERM"),
    *("TRAP", "TSTP", "TTIN", "TTOU", "URG", "USR1", "USR2", "VTALRM", "WINCH", "XCPU", "XFSZ"),
    *("RTMIN", "RTMAX"),
    *(f"RTMIN+{number}" for number in range(1, 16)),
    *(f"RTMAX-{number}" for number in range(1, 15)),
)
_LINUX_SIGNALS = tuple(sorted(f"SIG{name}" for name in _NAMES))


def validate_probes(container: Stored, at: str, grace: int | None) -> Iterator[FieldError]:
    """Yield what is wrong with the probes of a container.

    Args:
        container: it may have none.
        at: its path.
        grace: seconds that the pod gives its containers to end.
    """
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if name not in container:
            continue
        probe, where = container[name], f"{at}.{name}"
        yield from _validate_probe(probe, where, grace)
        if name == "readinessProbe":
            if "terminationGracePeriodSeconds" in probe:
                period = probe["terminationGracePeriodSeconds"]
                why = "must not be set for readinessProbes"
                yield wrong(f"{where}.terminationGracePeriodSeconds", period, why)
        elif probe.get("successThreshold", 0) != 1:
            yield wrong(f"{where}.successThreshold", probe.get("successThreshold", 0), "must be 1")


def _validate_probe(probe: Stored, at: str, grace: int | None) -> Iterator[FieldError]:
    yield from _validate_handler(probe, at, grace)
    yield from not_negative(probe, at, *_COUNTS)
    period = probe.get("terminationGracePeriodSeconds")
    if period is not None and period <= 0:
        yield wrong(f"{at}.terminationGracePeriodSeconds", period, "must be greater than 0")


def validate_lifecycle(
    container: Stored, at: str, grace: int | None, system: str
) -> Iterator[FieldError]:
    """Yield what is wrong with what runs at a container's start and end, and with its signal."""
    lifecycle = container.get("lifecycle") or {}
    for name in ("postStart", "preStop"):
        if name in lifecycle:
            yield from _validate_handler(lifecycle[name], f"{at}.lifecycle.{name}", grace)
    if signal := lifecycle.get("stopSignal"):
        where = f"{at}.lifecycle.stopSignal"
        known = {"linux": _LINUX_SIGNALS, "windows": _WINDOWS_SIGNALS}.get(system)
        if not system:
            yield not_allowed(where, "may not be set for containers with empty `spec.os.name`")
        elif known and signal not in known:
            yield not_supported(where, signal, known)


def _validate_handler(holder: Stored, at: str, grace: int | None) -> Iterator[FieldError]:
    found = [name for name in _HANDLERS if name in holder]
    for name in found[:1]:
        yield from _HANDLERS[name](holder[name], f"{at}.{name}")
        if name == "sleep":
            yield from _validate_sleep(holder[name], f"{at}.{name}", grace)
    for name in found[1:]:
        yield not_allowed(f"{at}.{name}", "may not specify more than 1 handler type")
    if not found:
        yield required(at, "must specify a handler type")


def _validate_exec(action: Stored, at: str) -> Iterator[FieldError]:
    return present(action, at, "command")


def _validate_get(action: Stored, at: str) -> Iterator[FieldError]:
    yield from present(action, at, "path")
    yield from validate_port(action.get("port", 0), f"{at}.port")
    yield from one_of(action, at, "scheme", ("HTTP", "HTTPS"))
    for header in action.get("httpHeaders") or ():
        yield from formed(header.get("name", ""), f"{at}.httpHeaders", names.header)


def _validate_port_of(action: Stored, at: str) -> Iterator[FieldError]:
    return validate_port(action.get("port", 0), f"{at}.port")


def _validate_sleep(action: Stored, at: str, grace: int | None) -> Iterator[FieldError]:
    seconds = action.get("seconds", 0)
    if grace is not None and not 0 <= seconds <= grace:
        why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
        yield wrong(at, seconds, why)


def _nothing(_action: Stored, _at: str) -> Iterator[FieldError]:
    yield from ()


def validate_port(port: Any, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with a port given by its number or its name."""
    if isinstance(port, str):
        yield from formed(port, at, names.port_name)
    elif not PORTS[0] <= port <= PORTS[1]:
        yield wrong(at, port, between(PORTS))


_HANDLERS: Mapping[str, Callable[[Stored, str], Iterator[FieldError]]] = MappingProxyType(
    {
        "exec": _validate_exec,
        "httpGet": _validate_get,
        "tcpSocket": _validate_port_of,
        "grpc": _validate_port_of,
        "sleep": _nothing,
    }
)
"""Kinds of handlers in the order in which they are looked at, with their check."""
