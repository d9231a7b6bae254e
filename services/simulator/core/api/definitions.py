"""Custom resources: from a stored CustomResourceDefinition to a served resource and back.

Kubernetes' controllers that accept names, establish and clean up definitions run inside its API
server; here they run at once, in the same call. Laws: a kind is served exactly while its definition
is established; its objects go before it.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from libs.apiserver.crd.admission import CompiledCrd, CompiledVersion, compile_crd
from services.simulator.core.api import jsonpath
from services.simulator.core.api.columns.column import Column, age
from services.simulator.core.api.frozen import thaw
from services.simulator.core.api.resources import Catalogue, Resource
from services.simulator.core.api.storage import Storage

Object = dict[str, Any]

BUCKET = "customresourcedefinitions.apiextensions.k8s.io"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


class Definitions:
    """The compiled definitions and the resources that they serve."""

    def __init__(
        self, catalogue: Catalogue, storage: Storage, timestamp: Callable[[], str]
    ) -> None:
        self._catalogue = catalogue
        self._storage = storage
        self._timestamp = timestamp
        self._compiled: dict[str, CompiledCrd] = {}

    def version_of(self, resource: Resource) -> CompiledVersion:
        """Return the compiled schema of a custom resource."""
        return self._compiled[resource.qualified].versions[resource.version]

    def follow(self, key: str) -> None:
        """Establish a definition that was written, and serve it as it is now."""
        current = self._storage.read(BUCKET, key)
        assert current is not None
        crd = current.object
        if "deletionTimestamp" in crd["metadata"]:
            self.clean_up(key)
            return
        conflict = self.conflicts(crd)
        settled = established(crd, self._timestamp(), conflict)
        if settled != crd:
            crd = self._storage.write(BUCKET, key, settled).object
        if not conflict:
            self.serve(crd)

    def clean_up(self, name: str) -> None:
        """Delete what is left of a definition that is going; take its finalizer when nothing is."""
        crd = self._storage.read(BUCKET, name)
        if crd is None or "deletionTimestamp" not in crd.object["metadata"]:
            return
        for version in self._storage.scan(name):
            meta = version.object["metadata"]
            if not meta.get("finalizers"):
                self._storage.remove(name, version.key)
            elif "deletionTimestamp" not in meta:
                marked = {
                    **meta,
                    "deletionTimestamp": self._timestamp(),
                    "deletionGracePeriodSeconds": 0,
                }
                self._storage.write(name, version.key, {**version.object, "metadata": marked})
        if self._storage.scan(name):
            return
        left = [held for held in crd.object["metadata"]["finalizers"] if held != CLEANUP]
        if left:
            released = {**crd.object["metadata"], "finalizers": left}
            self._storage.write(BUCKET, name, {**crd.object, "metadata": released})
        else:
            self.withdraw(self._storage.remove(BUCKET, name).object)

    def serve(self, crd: Object) -> None:
        """Serve the versions of an established definition, instead of those before."""
        spec = crd["spec"]
        compiled = compile_crd(crd)
        self._catalogue.drop(spec["group"], spec["names"]["plural"])
        self._compiled[f"{spec['names']['plural']}.{spec['group']}"] = compiled
        for version in sorted(spec["versions"], key=lambda entry: _version_rank(entry["name"])):
            if version["served"]:
                self._catalogue.add(_resource(spec, version, compiled))

    def withdraw(self, crd: Object) -> None:
        """Stop serving a definition."""
        spec = crd["spec"]
        self._catalogue.drop(spec["group"], spec["names"]["plural"])
        self._compiled.pop(f"{spec['names']['plural']}.{spec['group']}", None)

    def conflicts(self, crd: Object) -> str:
        """Return why the names of a definition cannot be accepted, empty if they can."""
        spec = crd["spec"]
        names = spec["names"]
        for other in self._catalogue:
            if other.group != spec["group"] or other.plural == names["plural"]:
                continue
            if names["kind"] in (other.kind, other.listing):
                return f'"{names["kind"]}" is already in use'
            if names["singular"] in (other.singular, *other.short_names):
                return f'"{names["singular"]}" is already in use'
        return ""


def established(crd: Object, now: str, conflict: str) -> Object:
    """Return a definition with its names accepted and itself established."""
    changed: Object = thaw(crd)
    status = changed["status"]
    accepted = {
        "type": "NamesAccepted",
        "status": "True",
        "reason": "NoConflicts",
        "message": "no conflicts found",
    }
    ready = {
        "type": "Established",
        "status": "True",
        "reason": "InitialNamesAccepted",
        "message": "the initial names have been accepted",
    }
    if conflict:
        accepted.update(status="False", reason="NamesConflict", message=conflict)
        ready.update(status="False", reason="NotAccepted", message="not all names are accepted")
    for condition in (accepted, ready):
        _set_condition(status, condition, now)
    if not conflict:
        status["acceptedNames"] = changed["spec"]["names"]
    storage = next(entry["name"] for entry in changed["spec"]["versions"] if entry["storage"])
    stored = status.get("storedVersions") or []
    status["storedVersions"] = stored if storage in stored else [*stored, storage]
    return changed


def terminating(crd: Object, now: str) -> Object:
    """Return a definition marked for deletion, held until its objects are gone."""
    changed: Object = thaw(crd)
    changed["metadata"]["deletionTimestamp"] = now
    finalizers = changed["metadata"].setdefault("finalizers", [])
    if CLEANUP not in finalizers:
        finalizers.append(CLEANUP)
    condition = {
        "type": "Terminating",
        "status": "True",
        "reason": "InstanceDeletionPending",
        "message": (
            "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
        ),
    }
    _set_condition(changed["status"], condition, now)
    return changed


def _set_condition(status: Object, condition: Mapping[str, str], now: str) -> None:
    conditions = status["conditions"] = list(status.get("conditions") or ())
    for index, old in enumerate(conditions):
        if old["type"] == condition["type"]:
            if old["status"] != condition["status"]:
                conditions[index] = _condition(condition, now)
            return
    conditions.append(_condition(condition, now))


def _condition(condition: Mapping[str, str], now: str) -> dict[str, str]:
    return {
        "type": condition["type"],
        "status": condition["status"],
        "lastTransitionTime": now,
        "reason": condition["reason"],
        "message": condition["message"],
    }


def _resource(spec: Object, version: Object, compiled: CompiledCrd) -> Resource:
    names, group = spec["names"], spec["group"]
    subresources = version.get("subresources") or {}
    storage = next(entry["name"] for entry in spec["versions"] if entry["storage"])
    scale = subresources.get("scale")
    return Resource(
        group=group,
        version=version["name"],
        kind=names["kind"],
        plural=names["plural"],
        singular=names.get("singular") or names["kind"].lower(),
        namespaced=spec["scope"] == "Namespaced",
        short_names=tuple(names.get("shortNames", ())),
        categories=tuple(names.get("categories", ())),
        subresources=frozenset(name for name in ("status", "scale") if name in subresources),
        verbs=_VERBS,
        has_generation=True,
        unconditional_update=False,
        list_kind=names.get("listKind", ""),
        custom=True,
        selectable=tuple(
            entry["jsonPath"].removeprefix(".") for entry in version.get("selectableFields", ())
        ),
        columns=tuple(_column(entry) for entry in version.get("additionalPrinterColumns") or _AGE),
        scale=(
            scale["specReplicasPath"],
            scale["statusReplicasPath"],
            scale.get("labelSelectorPath", ""),
        )
        if scale
        else None,
        deprecation=_deprecation(spec, version),
        stored_version=storage,
        from_storage=None
        if storage == version["name"]
        else _viewer(compiled, version["name"], group),
        schema=version["schema"]["openAPIV3Schema"],
    )


_AGE = ({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},)


def _viewer(compiled: CompiledCrd, version: str, group: str) -> Callable[[Object], Object]:
    """Return how a stored object looks in another version: renamed and pruned to its schema."""

    def view(obj: Object) -> Object:
        prepared, _unknown = compiled.versions[version].prepare(
            {**obj, "apiVersion": f"{group}/{version}"}
        )
        return prepared

    return view


def _deprecation(spec: Object, version: Object) -> str:
    if not version.get("deprecated"):
        return ""
    if warning := version.get("deprecationWarning"):
        return str(warning)
    group, kind = spec["group"], spec["names"]["kind"]
    served = [
        entry["name"]
        for entry in spec["versions"]
        if entry["served"] and not entry.get("deprecated")
    ]
    better = min(served, key=_version_rank, default="")
    instead = f"; use {group}/{better} {kind}" if better else ""
    return f"{group}/{version['name']} {kind} is deprecated{instead}"


def _column(entry: Object) -> Column:
    path, kind = entry["jsonPath"], entry["type"]

    def cell(obj: Object, now: datetime) -> Any:
        found = jsonpath.read(obj, path)
        if not found:
            return None
        if kind == "date":
            return age(str(found[0]), now)
        if kind == "string":
            return ",".join(value if isinstance(value, str) else str(value) for value in found)
        return found[0]

    return Column(
        name=entry["name"],
        cell=cell,
        type=kind,
        format=entry.get("format", ""),
        priority=entry.get("priority", 0),
    )


def _version_rank(name: str) -> tuple[int, int, int, str]:
    """Order versions as Kubernetes prefers them: v2, v1, v1beta1, v1alpha1, others by name."""
    for rank, mark in ((1, "beta"), (2, "alpha")):
        major, found, minor = name.removeprefix("v").partition(mark)
        if name.startswith("v") and found and major.isdecimal() and minor.isdecimal():
            return rank, -int(major), -int(minor), name
    if name.startswith("v") and name[1:].isdecimal():
        return 0, -int(name[1:]), 0, name
    return 3, 0, 0, name
