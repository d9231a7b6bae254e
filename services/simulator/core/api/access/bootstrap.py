"""The roles and bindings that every cluster with RBAC begins with.

`bootstrap.json` holds them as kube-apiserver 1.36 makes them, for users and for Kubernetes' own
components.
"""

import json
from importlib import resources
from typing import Any

from services.simulator.core.api.access.rbac import GROUP
from services.simulator.core.api.store import Store
from services.simulator.core.api.writing import WriteOptions

_LABEL = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_ANNOTATION = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
_AS_ITSELF = WriteOptions(manager="kube-apiserver")


def install(store: Store) -> None:
    """Store the first roles and bindings, where there are none of the same name."""
    for plural, entries in json.loads(_data()).items():
        resource = f"{plural}.{GROUP}"
        for entry in entries:
            obj = _object(entry)
            namespace = obj["metadata"].get("namespace", "")
            if store.find(resource, entry["name"], namespace) is None:
                store.create(resource, obj, namespace, _AS_ITSELF)


def _data() -> str:
    return resources.files(__package__).joinpath("bootstrap.json").read_text("utf-8")


def _object(entry: dict[str, Any]) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "name": entry["name"],
        "labels": {**_LABEL, **entry.get("labels", {})},
        "annotations": _ANNOTATION,
    }
    if "namespace" in entry:
        meta["namespace"] = entry["namespace"]
    parts = ("rules", "aggregationRule", "roleRef", "subjects")
    return {"metadata": meta, **{part: entry[part] for part in parts if part in entry}}
