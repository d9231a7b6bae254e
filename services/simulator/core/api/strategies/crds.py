"""CustomResourceDefinitions: defaults and what the server sets itself."""

from typing import Any

from libs.apiserver.crd.definition import definition_errors
from services.simulator.core.api.strategies.strategy import Object, Stored, Strategy


def default(crd: Object) -> None:
    """Fill in the defaults of a definition."""
    spec = crd["spec"]
    names = spec["names"]
    if names.get("kind"):
        names.setdefault("singular", names["kind"].lower())
        names.setdefault("listKind", f"{names['kind']}List")
    spec.setdefault("conversion", {"strategy": "None"})


def prepare_create(crd: Object, _now: str) -> None:
    """Start counting generations; note which version is stored."""
    crd["metadata"]["generation"] = 1
    stored = [version["name"] for version in crd["spec"]["versions"] or () if version["storage"]]
    names: dict[str, Any] = {"plural": "", "kind": ""}
    crd["status"] = {"conditions": None, "acceptedNames": names, "storedVersions": stored}


def prepare_update(crd: Object, old: Stored) -> None:
    """Count changes of the spec."""
    if crd["spec"] != old["spec"]:
        crd["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


DEFINITION = Strategy(
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    validate=definition_errors,
    plain_metadata=True,
)
