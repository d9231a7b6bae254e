"""The columns that tables show, by resource.

Source: what `kubectl get` shows of a Kubernetes 1.36 cluster.
"""

from collections.abc import Mapping
from types import MappingProxyType

from services.simulator.core.api.columns import cluster, networking, storage, workloads
from services.simulator.core.api.columns.column import AGE, NAME, Column, at
from services.simulator.core.api.columns.pods import PODS

PLAIN = (
    NAME,
    Column(name="Created At", cell=at("metadata.creationTimestamp", ""), type="date"),
)
"""What is shown of kinds of which nobody said more."""

_WITH_AGE = (NAME, AGE)

COLUMNS: Mapping[str, tuple[Column, ...]] = MappingProxyType(
    {
        "configmaps": cluster.CONFIG_MAPS,
        "endpoints": networking.ENDPOINTS,
        "events": cluster.EVENTS,
        "namespaces": cluster.NAMESPACES,
        "nodes": cluster.NODES,
        "persistentvolumeclaims": storage.CLAIMS,
        "persistentvolumes": storage.VOLUMES,
        "pods": PODS,
        "podtemplates": workloads.POD_TEMPLATES,
        "replicationcontrollers": workloads.REPLICATION_CONTROLLERS,
        "resourcequotas": cluster.QUOTAS,
        "secrets": cluster.SECRETS,
        "serviceaccounts": _WITH_AGE,
        "services": networking.SERVICES,
        "controllerrevisions.apps": workloads.CONTROLLER_REVISIONS,
        "daemonsets.apps": workloads.DAEMON_SETS,
        "deployments.apps": workloads.DEPLOYMENTS,
        "replicasets.apps": workloads.REPLICA_SETS,
        "statefulsets.apps": workloads.STATEFUL_SETS,
        "horizontalpodautoscalers.autoscaling": workloads.AUTOSCALERS,
        "cronjobs.batch": workloads.CRON_JOBS,
        "jobs.batch": workloads.JOBS,
        "leases.coordination.k8s.io": cluster.LEASES,
        "endpointslices.discovery.k8s.io": networking.ENDPOINT_SLICES,
        "events.events.k8s.io": cluster.EVENTS,
        "ingressclasses.networking.k8s.io": networking.INGRESS_CLASSES,
        "ingresses.networking.k8s.io": networking.INGRESSES,
        "networkpolicies.networking.k8s.io": networking.NETWORK_POLICIES,
        "runtimeclasses.node.k8s.io": cluster.RUNTIME_CLASSES,
        "poddisruptionbudgets.policy": workloads.BUDGETS,
        "clusterrolebindings.rbac.authorization.k8s.io": cluster.BINDINGS,
        "rolebindings.rbac.authorization.k8s.io": cluster.BINDINGS,
        "deviceclasses.resource.k8s.io": _WITH_AGE,
        "resourceclaims.resource.k8s.io": storage.RESOURCE_CLAIMS,
        "resourceclaimtemplates.resource.k8s.io": _WITH_AGE,
        "resourceslices.resource.k8s.io": storage.RESOURCE_SLICES,
        "priorityclasses.scheduling.k8s.io": cluster.PRIORITY_CLASSES,
        "csidrivers.storage.k8s.io": storage.CSI_DRIVERS,
        "csinodes.storage.k8s.io": storage.CSI_NODES,
        "storageclasses.storage.k8s.io": storage.CLASSES,
        "volumeattachments.storage.k8s.io": storage.ATTACHMENTS,
        "volumeattributesclasses.storage.k8s.io": storage.ATTRIBUTES_CLASSES,
    }
)
