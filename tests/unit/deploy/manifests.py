"""What the tests of `deploy/` read: kustomizations, and the objects of the overlay for KWOK."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.unit.deploy.kustomize import Object, build, documents

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"

SERVICES = ("watcher", "solver", "disruption", "lifecycle", "provider-kwok")


def kustomizations() -> Iterator[Path]:
    """Yield every folder that `kubectl apply -k` takes; components are no such folders."""
    for file in sorted(DEPLOY.rglob("kustomization.yaml")):
        if documents(file)[0]["kind"] == "Kustomization":
            yield file.parent


@cache
def everything() -> tuple[Object, ...]:
    """Return all objects that we can deploy; read only."""
    return tuple(build(DEPLOY / "overlays" / "tests" / "kwok-cert-manager"))


def of_kind(kind: str) -> dict[str, Object]:
    """Return the objects of a kind by name."""
    return {one["metadata"]["name"]: one for one in everything() if one["kind"] == kind}


def container(service: str) -> Object:
    """Return the container of a service's pods."""
    found: Object = pod(service)["containers"][0]
    return found


def pod(service: str) -> Object:
    """Return the spec of a service's pods."""
    spec: Object = of_kind("Deployment")[f"joiner-{service}"]["spec"]["template"]["spec"]
    return spec


def environment(service: str) -> dict[str, str]:
    """Return the variables that a service's container gets from us."""
    found: dict[str, str] = {}
    for source in container(service)["envFrom"]:
        found |= of_kind("ConfigMap")[source["configMapRef"]["name"]]["data"]
    for variable in container(service).get("env", ()):
        found[variable["name"]] = variable.get("value", "from-the-pod")
    return found
