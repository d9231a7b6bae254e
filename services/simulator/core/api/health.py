"""Health checks as a Kubernetes API server answers them; all of them pass.

Source: Kubernetes documentation, "Kubernetes API health endpoints".
"""

from services.simulator.core.api.messages import Request, Response

_CHECKS = {
    "healthz": ("ping", "log", "etcd"),
    "livez": ("ping", "log", "etcd"),
    "readyz": ("ping", "log", "etcd", "etcd-readiness", "informer-sync", "shutdown"),
}
PATHS = tuple(
    path
    for endpoint, checks in _CHECKS.items()
    for path in (f"/{endpoint}", *(f"/{endpoint}/{check}" for check in checks))
)
_TEXT = "text/plain; charset=utf-8"


def answer(request: Request, path: str) -> Response | None:
    """Return the answer of a health check, None if the path is none."""
    if path not in PATHS:
        return None
    endpoint, _, check = path[1:].partition("/")
    if "verbose" not in request.query or check:
        return Response(body=b"ok", content_type=_TEXT)
    lines = [f"[+]{name} ok" for name in _CHECKS[endpoint]]
    told = "\n".join([*lines, f"{endpoint} check passed", ""])
    return Response(body=told.encode(), content_type=_TEXT)
