"""The built-in resources as data.

Facts are Kubernetes' API reference of 1.36, as far as an autoscaler can see them.
"""

from collections.abc import Callable, Iterator
from typing import Any

from services.simulator.core.api import autoscalerforms, eventforms
from services.simulator.core.api.resources import Resource

_NAMESPACE_VERBS = ("create", "delete", "get", "list", "patch", "update", "watch")
_STATUS = ("status",)
_REPLICAS = (".spec.replicas", ".status.replicas", ".status.selector")


def _resources() -> Iterator[Resource]:
    core = _group("", "v1", "core/v1")
    yield core("ConfigMap", "configmaps", short=("cm",))
    yield core(
        "Endpoints",
        "endpoints",
        short=("ep",),
        singular="endpoints",
        list_kind="EndpointsList",
        deprecation="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    )
    yield core("Event", "events", short=("ev",), creates_on_update=True)
    yield core("LimitRange", "limitranges", short=("limits",))
    yield core(
        "Namespace",
        "namespaces",
        short=("ns",),
        namespaced=False,
        subs=("finalize", "status"),
        verbs=_NAMESPACE_VERBS,
        returns_deleted=True,
    )
    yield core("Node", "nodes", short=("no",), namespaced=False, subs=("proxy", "status"))
    yield core(
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        short=("pvc",),
        subs=_STATUS,
        returns_deleted=True,
    )
    yield core(
        "PersistentVolume",
        "persistentvolumes",
        short=("pv",),
        namespaced=False,
        subs=_STATUS,
        returns_deleted=True,
    )
    yield core(
        "Pod",
        "pods",
        short=("po",),
        categories=("all",),
        generation=True,
        returns_deleted=True,
        subs=(
            "attach",
            "binding",
            "ephemeralcontainers",
            "eviction",
            "exec",
            "log",
            "portforward",
            "proxy",
            "resize",
            "status",
        ),
    )
    yield core("PodTemplate", "podtemplates", returns_deleted=True)
    yield core(
        "ReplicationController",
        "replicationcontrollers",
        short=("rc",),
        categories=("all",),
        generation=True,
        subs=("scale", "status"),
        scale=_REPLICAS,
    )
    yield core(
        "ResourceQuota", "resourcequotas", short=("quota",), subs=_STATUS, returns_deleted=True
    )
    yield core("Secret", "secrets")
    yield core(
        "ServiceAccount",
        "serviceaccounts",
        short=("sa",),
        subs=("token",),
        unconditional=False,
        returns_deleted=True,
    )
    yield core(
        "Service",
        "services",
        short=("svc",),
        categories=("all",),
        subs=("proxy", "status"),
        returns_deleted=True,
    )

    apps = _group("apps", "v1", "apps/v1")
    yield apps("ControllerRevision", "controllerrevisions")
    yield apps(
        "DaemonSet", "daemonsets", short=("ds",), categories=("all",), generation=True, subs=_STATUS
    )
    scalable: dict[str, Any] = {
        "categories": ("all",),
        "generation": True,
        "subs": ("scale", "status"),
        "scale": _REPLICAS,
    }
    yield apps("Deployment", "deployments", short=("deploy",), **scalable)
    yield apps("ReplicaSet", "replicasets", short=("rs",), **scalable)
    yield apps("StatefulSet", "statefulsets", short=("sts",), **scalable)

    batch = _group("batch", "v1", "batch/v1")
    yield batch(
        "CronJob", "cronjobs", short=("cj",), categories=("all",), generation=True, subs=_STATUS
    )
    yield batch("Job", "jobs", categories=("all",), generation=True, subs=_STATUS)
    yield _group("autoscaling", "v2", "autoscaling/v2")(
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        short=("hpa",),
        categories=("all",),
        subs=_STATUS,
    )
    yield _group("autoscaling", "v1", "autoscaling/v1")(
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        short=("hpa",),
        categories=("all",),
        subs=_STATUS,
        stored_as="horizontalpodautoscalers.autoscaling",
        from_storage=autoscalerforms.from_v2,
        to_storage=autoscalerforms.to_v2,
    )
    networking = _group("networking.k8s.io", "v1", "networking/v1")
    yield networking("IngressClass", "ingressclasses", namespaced=False, generation=True)
    yield networking("Ingress", "ingresses", short=("ing",), generation=True, subs=_STATUS)
    yield networking("NetworkPolicy", "networkpolicies", short=("netpol",), generation=True)
    yield _group("policy", "v1", "policy/v1")(
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        short=("pdb",),
        generation=True,
        subs=_STATUS,
        unconditional=False,
    )
    storage = _group("storage.k8s.io", "v1", "storage/v1")
    yield storage("CSIDriver", "csidrivers", namespaced=False, generation=True, unconditional=False)
    yield storage(
        "CSINode", "csinodes", namespaced=False, returns_deleted=True, unconditional=False
    )
    yield storage(
        "CSIStorageCapacity",
        "csistoragecapacities",
        list_kind="CSIStorageCapacityList",
        unconditional=False,
    )
    yield storage(
        "StorageClass", "storageclasses", short=("sc",), namespaced=False, returns_deleted=True
    )
    yield storage(
        "VolumeAttributesClass",
        "volumeattributesclasses",
        short=("vac",),
        namespaced=False,
    )
    yield storage(
        "VolumeAttachment",
        "volumeattachments",
        namespaced=False,
        subs=_STATUS,
        returns_deleted=True,
    )
    yield _group("coordination.k8s.io", "v1", "coordination/v1")(
        "Lease", "leases", creates_on_update=True, unconditional=False
    )
    yield _group("events.k8s.io", "v1", "events/v1")(
        "Event",
        "events",
        short=("ev",),
        creates_on_update=True,
        stored_as="events",
        from_storage=eventforms.from_core,
        to_storage=eventforms.to_core,
    )
    yield _group("discovery.k8s.io", "v1", "discovery/v1")(
        "EndpointSlice", "endpointslices", generation=True
    )
    yield _group("scheduling.k8s.io", "v1", "scheduling/v1")(
        "PriorityClass", "priorityclasses", short=("pc",), namespaced=False, generation=True
    )
    yield _group("node.k8s.io", "v1", "node/v1")(
        "RuntimeClass", "runtimeclasses", namespaced=False, unconditional=False
    )
    rbac = _group("rbac.authorization.k8s.io", "v1", "rbac/v1")
    yield rbac("ClusterRoleBinding", "clusterrolebindings", namespaced=False)
    yield rbac("ClusterRole", "clusterroles", namespaced=False)
    yield rbac("RoleBinding", "rolebindings")
    yield rbac("Role", "roles")
    devices = _group("resource.k8s.io", "v1", "resource/v1")
    yield devices(
        "DeviceClass", "deviceclasses", namespaced=False, generation=True, returns_deleted=True
    )
    yield devices("ResourceClaim", "resourceclaims", subs=_STATUS, returns_deleted=True)
    yield devices("ResourceClaimTemplate", "resourceclaimtemplates", returns_deleted=True)
    yield devices(
        "ResourceSlice", "resourceslices", namespaced=False, generation=True, returns_deleted=True
    )
    yield _group("apiextensions.k8s.io", "v1", "apiextensions/v1")(
        "CustomResourceDefinition",
        "customresourcedefinitions",
        short=("crd", "crds"),
        categories=("api-extensions",),
        namespaced=False,
        generation=True,
        subs=_STATUS,
        returns_deleted=True,
        unconditional=False,
    )


def _group(group: str, version: str, package: str) -> Callable[..., Resource]:
    """Return a maker of resources of one group and version."""

    def make(kind: str, plural: str, *, short: tuple[str, ...] = (), **more: Any) -> Resource:
        return Resource(
            group=group,
            version=version,
            kind=kind,
            plural=plural,
            singular=more.pop("singular", kind.lower()),
            namespaced=more.pop("namespaced", True),
            short_names=short,
            subresources=frozenset(more.pop("subs", ())),
            has_generation=more.pop("generation", False),
            unconditional_update=more.pop("unconditional", True),
            type=f"{package}.{kind}",
            **more,
        )

    return make


BUILTIN = tuple(_resources())
