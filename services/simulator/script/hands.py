"""What a script writes to the API: objects applied, deleted and scaled, watches' history dropped.

Each function does it at once, through the same admission as everybody, and returns what was done in
words; a refusal is raised.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.domain.errors import InvalidRequest, NotFound
from libs.domain.spelling import nearest
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.patching import merge
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.store import Object, Store
from services.simulator.script.schema import Objects, Scale


class Hands:
    """A script's own access to the cluster."""

    def __init__(self, store: Store, api: DirectApi) -> None:
        self._store = store
        self._api = api

    def apply(self, document: Object) -> tuple[str, str]:
        """Create an object, or merge what is given into the one that is there.

        Returns:
            The object, and what was done with it.
        """
        resource = self._of_type(document["apiVersion"], document["kind"])
        name, namespace = _address(document, resource)
        subject = _subject(resource.kind, name, namespace)
        there = self._store.find(resource, name, namespace) if name else None
        if there is None:
            made = self._store.create(resource, document, namespace).object
            return _subject(resource.kind, made["metadata"]["name"], namespace), "created"
        changed = merge.apply(there, _without_revision(document))
        done = self._store.update(resource, changed)
        same = done.object["metadata"]["resourceVersion"] == there["metadata"]["resourceVersion"]
        return subject, "unchanged" if same else "configured"

    def delete(self, objects: Objects) -> Iterator[tuple[str, str]]:
        """Delete objects; yield each with what was done."""
        resource = self.of_kind(objects.kind)
        namespace = objects.namespace if resource.namespaced else ""
        if objects.name:
            names = [objects.name]
        else:
            labels = ",".join(f"{key}={value}" for key, value in sorted(objects.labels.items()))
            found = self._store.list(resource, namespace or None, labels=labels)
            names = [one["metadata"]["name"] for one in found]
        for name in names:
            gone = self._api.delete(resource.qualified, name, namespace).gone
            told = "deleted" if gone else "is being deleted"
            yield _subject(resource.kind, name, namespace), told

    def replicas(self, scale: Scale) -> int:
        """Return how many pods a workload asks for now."""
        path = self._path(scale)
        value: Any = self._workload(scale)
        for name in path:
            value = value.get(name, {})
        return value if isinstance(value, int) else 1

    def scale(self, scale: Scale, replicas: int) -> tuple[str, str]:
        """Let a workload ask for so many pods; return it, and before and after."""
        before = self.replicas(scale)
        change: Any = replicas
        for name in reversed(self._path(scale)):
            change = {name: change}
        resource = self.of_kind(scale.kind)
        self._api.patch(resource.qualified, scale.name, change, scale.namespace)
        return subject_of(scale), f"{before} → {replicas} replicas"

    def _path(self, scale: Scale) -> list[str]:
        """Return where in a workload its replicas are.

        Raises:
            InvalidRequest: its kind has none.
        """
        resource = self.of_kind(scale.kind)
        if resource.scale is None:
            raise InvalidRequest(f"{resource.kind} has no replicas")
        return resource.scale[0].strip(".").split(".")

    def forget_history(self) -> None:
        """Drop the history of all resources, as a compaction does."""
        self._store.storage.forget()

    def of_kind(self, kind: str) -> Resource:
        """Return the resource of a kind, or of `plural.group`.

        Raises:
            InvalidRequest: there is none, or more than one of another group.
        """
        found = self._store.resources.named(kind)
        if found is not None:
            return found
        named = [one for one in self._store.resources if one.kind == kind]
        groups = sorted({one.qualified for one in named})
        if len(groups) > 1:
            raise InvalidRequest(f'kind "{kind}" is one of {", ".join(groups)}; write which')
        if not named:
            close = nearest(kind, {one.kind for one in self._store.resources})
            guess = f'; perhaps "{close[0]}"' if close else ""
            raise InvalidRequest(f'there is no kind "{kind}"{guess}')
        return self._store.resource(groups[0])

    def _of_type(self, api_version: str, kind: str) -> Resource:
        for one in self._store.resources:
            if one.kind == kind and one.group_version == api_version:
                return one
        raise InvalidRequest(f'there is no kind "{kind}" of {api_version}; apply its CRD first')

    def _workload(self, scale: Scale) -> Object:
        resource = self.of_kind(scale.kind)
        found = self._store.find(resource, scale.name, scale.namespace)
        if found is None:
            raise NotFound(f"{subject_of(scale)} is not there")
        return found


def subject_of(scale: Scale) -> str:
    """Return kind and name of what is scaled."""
    return _subject(scale.kind, scale.name, scale.namespace)


def _address(document: Mapping[str, Any], resource: Resource) -> tuple[str, str]:
    metadata = document["metadata"]
    namespace = metadata.get("namespace") or "default" if resource.namespaced else ""
    return metadata.get("name", ""), namespace


def _without_revision(document: Object) -> Object:
    metadata = {k: v for k, v in document["metadata"].items() if k != "resourceVersion"}
    return {**document, "metadata": metadata}


def _subject(kind: str, name: str, namespace: str) -> str:
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
