"""The port to a Kubernetes API server, and where each kind lives in it.

Apart from the transport so that services, tests and the simulator's in-memory server share one
door. Laws:
- Every failure is a domain error: 404 NotFound, 409 AlreadyExists or StaleRevision (by its
  reason), 410 RevisionGone, 400 and 422 InvalidRequest with the field of the first cause, 401 and
  403 Forbidden, 429, 5xx and broken connections Unavailable.
- A watch yields whole events as JSON and ends when the server closes it, or with `aclose`; an event
  of type ERROR is raised instead.
- Nothing is retried here; who calls knows whether a repetition is safe. (A request that the server
  did not authenticate was not carried out; the transport may send it again with fresh credentials.)
"""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"


class KubeApi(Protocol):
    """One API server."""

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        """Send one request and return the body of the answer."""

    def watch(self, path: str, *, query: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        """Stream the events of a collection; `query` has selectors, resourceVersion and so on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Where a kind lives; `group` is empty for the core group."""

    group: str = ""
    version: str = "v1"
    kind: str
    plural: str
    namespaced: bool = False

    @property
    def api_version(self) -> str:
        """Return the apiVersion that objects of the kind carry."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the path of a collection, an object or a subresource; no namespace: of all."""
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if self.namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        parts += [quote(part, safe="") for part in (name, subresource) if part]
        return "/".join(parts)


NODES = Resource(kind="Node", plural="nodes")
PODS = Resource(kind="Pod", plural="pods", namespaced=True)
NAMESPACES = Resource(kind="Namespace", plural="namespaces")
EVENTS = Resource(kind="Event", plural="events", namespaced=True)
PERSISTENT_VOLUMES = Resource(kind="PersistentVolume", plural="persistentvolumes")
PERSISTENT_VOLUME_CLAIMS = Resource(
    kind="PersistentVolumeClaim", plural="persistentvolumeclaims", namespaced=True
)
POD_TEMPLATES = Resource(kind="PodTemplate", plural="podtemplates", namespaced=True)
SERVICES = Resource(kind="Service", plural="services", namespaced=True)
REPLICATION_CONTROLLERS = Resource(
    kind="ReplicationController", plural="replicationcontrollers", namespaced=True
)
DEPLOYMENTS = Resource(group="apps", kind="Deployment", plural="deployments", namespaced=True)
REPLICA_SETS = Resource(group="apps", kind="ReplicaSet", plural="replicasets", namespaced=True)
STATEFUL_SETS = Resource(group="apps", kind="StatefulSet", plural="statefulsets", namespaced=True)
DAEMON_SETS = Resource(group="apps", kind="DaemonSet", plural="daemonsets", namespaced=True)
JOBS = Resource(group="batch", kind="Job", plural="jobs", namespaced=True)
POD_DISRUPTION_BUDGETS = Resource(
    group="policy", kind="PodDisruptionBudget", plural="poddisruptionbudgets", namespaced=True
)
STORAGE_CLASSES = Resource(group="storage.k8s.io", kind="StorageClass", plural="storageclasses")
CSI_DRIVERS = Resource(group="storage.k8s.io", kind="CSIDriver", plural="csidrivers")
CSI_STORAGE_CAPACITIES = Resource(
    group="storage.k8s.io",
    kind="CSIStorageCapacity",
    plural="csistoragecapacities",
    namespaced=True,
)
CSI_NODES = Resource(group="storage.k8s.io", kind="CSINode", plural="csinodes")
VOLUME_ATTACHMENTS = Resource(
    group="storage.k8s.io", kind="VolumeAttachment", plural="volumeattachments"
)
PRIORITY_CLASSES = Resource(
    group="scheduling.k8s.io", kind="PriorityClass", plural="priorityclasses"
)
POD_GROUPS = Resource(
    group="scheduling.x-k8s.io",
    version="v1alpha1",
    kind="PodGroup",
    plural="podgroups",
    namespaced=True,
)
RUNTIME_CLASSES = Resource(group="node.k8s.io", kind="RuntimeClass", plural="runtimeclasses")
LEASES = Resource(group="coordination.k8s.io", kind="Lease", plural="leases", namespaced=True)
RESOURCE_CLAIMS = Resource(
    group="resource.k8s.io", kind="ResourceClaim", plural="resourceclaims", namespaced=True
)
RESOURCE_CLAIM_TEMPLATES = Resource(
    group="resource.k8s.io",
    kind="ResourceClaimTemplate",
    plural="resourceclaimtemplates",
    namespaced=True,
)
RESOURCE_SLICES = Resource(group="resource.k8s.io", kind="ResourceSlice", plural="resourceslices")
DEVICE_CLASSES = Resource(group="resource.k8s.io", kind="DeviceClass", plural="deviceclasses")
NODE_POOLS = Resource(group="karpenter.sh", kind="NodePool", plural="nodepools")
NODE_CLAIMS = Resource(group="karpenter.sh", kind="NodeClaim", plural="nodeclaims")
NODE_OVERLAYS = Resource(
    group="karpenter.sh", version="v1alpha1", kind="NodeOverlay", plural="nodeoverlays"
)
CAPACITY_BUFFERS = Resource(
    group="autoscaling.x-k8s.io",
    version="v1beta1",
    kind="CapacityBuffer",
    plural="capacitybuffers",
    namespaced=True,
)
KWOK_NODE_CLASSES = Resource(
    group="karpenter.kwok.sh", version="v1alpha1", kind="KWOKNodeClass", plural="kwoknodeclasses"
)
