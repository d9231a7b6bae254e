"""What the demonstration asks of the cluster: create, scale, list, and why a pod waits."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from cli.run.workload import Kind, Manifest, Workload
from libs.domain.errors import AlreadyExists
from libs.kube import api as kinds
from libs.kube import documents
from libs.kube.api import KubeApi, Resource
from libs.kube.documents import Target

MANIFESTS = Path(__file__).parents[2] / "deploy" / "demo"

_RESOURCES = {
    one.kind: one
    for one in (
        kinds.NAMESPACES,
        kinds.STORAGE_CLASSES,
        kinds.KWOK_NODE_CLASSES,
        kinds.NODE_POOLS,
        kinds.POD_DISRUPTION_BUDGETS,
        kinds.DEPLOYMENTS,
        kinds.STATEFUL_SETS,
        kinds.DAEMON_SETS,
    )
}
_JUDGED = (
    kinds.NODES,
    kinds.NAMESPACES,
    kinds.PERSISTENT_VOLUMES,
    kinds.PERSISTENT_VOLUME_CLAIMS,
    kinds.STORAGE_CLASSES,
    kinds.CSI_DRIVERS,
    kinds.CSI_NODES,
    kinds.CSI_STORAGE_CAPACITIES,
    kinds.NODE_CLAIMS,
    kinds.PODS,
)
_COMPONENT = "joiner"


def read_manifests() -> list[Manifest]:
    """Return what is to be there before any workload: classes and pools."""
    texts = [file.read_text() for file in sorted(MANIFESTS.glob("*.yaml"))]
    return [found for text in texts for found in yaml.safe_load_all(text)]


def namespace(name: str) -> Manifest:
    """Return a namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


async def create(api: KubeApi, manifests: Iterable[Manifest]) -> None:
    """Create objects, all at once; those that are there already stay as they are."""
    async with asyncio.TaskGroup() as group:
        for manifest in manifests:
            group.create_task(_create(api, manifest), name=f"create {manifest['metadata']['name']}")


async def scale(api: KubeApi, replicas: Mapping[Workload, int]) -> None:
    """Set the replicas of workloads, all at once."""
    async with asyncio.TaskGroup() as group:
        for workload, count in replicas.items():
            resource = kinds.DEPLOYMENTS
            if workload.kind is Kind.STATEFUL_SET:
                resource = kinds.STATEFUL_SETS
            target = Target(resource, workload.name, workload.namespace)
            patch = {"spec": {"replicas": count}}
            group.create_task(
                documents.merge_patch(api, target, patch, subresource="scale"),
                name=f"scale {workload.name}",
            )


async def judged_objects(api: KubeApi) -> list[tuple[str, dict[str, Any]]]:
    """Return kind and object of everything that a state is judged by.

    Pods of nodes that are gone are garbage which Kubernetes collects within a minute.
    """
    found: list[tuple[str, dict[str, Any]]] = []
    for resource in _JUDGED:
        found += [(resource.kind, item) for item in await _list(api, resource)]
    places = {"", *(item["metadata"]["name"] for kind, item in found if kind == "Node")}
    return [
        (kind, item)
        for kind, item in found
        if kind != "Pod" or item["spec"].get("nodeName", "") in places
    ]


async def why_waiting(api: KubeApi, namespace: str, name: str) -> str:
    """Return what Joiner said last of a pod that found no place, empty if nothing."""
    query = {"fieldSelector": f"involvedObject.name={name},reason=FailedScheduling"}
    events = await _list(api, kinds.EVENTS, namespace, query)
    ours = [one for one in events if one.get("reportingComponent") == _COMPONENT]
    return str(max(ours, key=_last_told)["message"]) if ours else ""


async def _create(api: KubeApi, manifest: Manifest) -> None:
    try:
        await documents.create(api, _RESOURCES[manifest["kind"]], manifest)
    except AlreadyExists:
        return


async def _list(
    api: KubeApi,
    resource: Resource,
    namespace: str = "",
    query: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    answer = json.loads(await api.request("GET", resource.path(namespace), query=query))
    items: list[dict[str, Any]] = answer["items"]
    return items


def _last_told(event: Mapping[str, Any]) -> str:
    return event.get("lastTimestamp") or ""
