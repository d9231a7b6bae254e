"""CustomResourceDefinitions: defaults and what the server sets itself."""

from typing import Any

from libs.apiserver.crd.structural import schema_errors
from libs.apiserver.field_errors import FieldError, not_supported, required, wrong
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


def validate(crd: Object) -> list[FieldError]:
    """Check a definition: its names, its versions, and that every schema is structural."""
    found = _validate_names(crd)
    versions = crd["spec"]["versions"] or ()
    if sum(1 for version in versions if version["storage"]) != 1:
        names = [version["name"] for version in versions]
        found.append(
            wrong("spec.versions", names, "must have exactly one version marked as storage version")
        )
    found += schema_errors(crd)
    return found


def _validate_names(crd: Object) -> list[FieldError]:
    spec = crd["spec"]
    plural, group, kind = spec["names"]["plural"], spec["group"], spec["names"]["kind"]
    found: list[FieldError] = []
    if crd["metadata"].get("name") != f"{plural}.{group}":
        found.append(
            wrong(
                "metadata.name",
                crd["metadata"].get("name", ""),
                'must be spec.names.plural+"."+spec.group',
            )
        )
    if not group:
        found.append(required("spec.group"))
    elif "." not in group:
        found.append(wrong("spec.group", group, "should be a domain with at least one dot"))
    if spec["scope"] not in ("Cluster", "Namespaced"):
        found.append(not_supported("spec.scope", spec["scope"], ("Cluster", "Namespaced")))
    if not plural:
        found.append(required("spec.names.plural"))
    if not kind:
        found.append(required("spec.names.kind"))
    return found


DEFINITION = Strategy(
    default=default, prepare_create=prepare_create, prepare_update=prepare_update, validate=validate
)
