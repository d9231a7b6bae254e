"""Which strategy writes which built-in resource."""

from collections.abc import Mapping
from types import MappingProxyType

from services.simulator.core.api.resources import Resource
from services.simulator.core.api.strategies import (
    autoscaling,
    cluster,
    crds,
    pods,
    storage,
    workloads,
)
from services.simulator.core.api.strategies.custom import CUSTOM
from services.simulator.core.api.strategies.strategy import Strategy

PLAIN = Strategy()

_STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "pods": pods.STRATEGY,
        "nodes": cluster.NODE,
        "namespaces": cluster.NAMESPACE,
        "configmaps": cluster.CONFIG_MAP,
        "secrets": cluster.SECRET,
        "leases.coordination.k8s.io": cluster.LEASE,
        "services": cluster.SERVICE,
        "limitranges": cluster.LIMIT_RANGE,
        "persistentvolumeclaims": storage.CLAIM,
        "persistentvolumes": storage.VOLUME,
        "events.events.k8s.io": cluster.NEW_EVENT,
        "replicationcontrollers": workloads.REPLICATION_CONTROLLER,
        "podtemplates": workloads.POD_TEMPLATE,
        "deployments.apps": workloads.DEPLOYMENT,
        "replicasets.apps": workloads.REPLICA_SET,
        "statefulsets.apps": workloads.STATEFUL_SET,
        "daemonsets.apps": workloads.DAEMON_SET,
        "jobs.batch": workloads.JOB,
        "cronjobs.batch": workloads.CRON_JOB,
        "poddisruptionbudgets.policy": workloads.BUDGET,
        "storageclasses.storage.k8s.io": storage.CLASS,
        "volumeattributesclasses.storage.k8s.io": storage.ATTRIBUTES_CLASS,
        "csidrivers.storage.k8s.io": storage.DRIVER,
        "csinodes.storage.k8s.io": storage.NODE,
        "csistoragecapacities.storage.k8s.io": storage.CAPACITY,
        "volumeattachments.storage.k8s.io": storage.ATTACHMENT,
        "priorityclasses.scheduling.k8s.io": cluster.PRIORITY_CLASS,
        "endpointslices.discovery.k8s.io": cluster.COUNTED,
        "deviceclasses.resource.k8s.io": cluster.COUNTED,
        "resourceslices.resource.k8s.io": cluster.COUNTED,
        "customresourcedefinitions.apiextensions.k8s.io": crds.DEFINITION,
        "roles.rbac.authorization.k8s.io": cluster.ROLE,
        "clusterroles.rbac.authorization.k8s.io": cluster.ROLE,
        "rolebindings.rbac.authorization.k8s.io": cluster.ROLE_BINDING,
        "clusterrolebindings.rbac.authorization.k8s.io": cluster.ROLE_BINDING,
        "horizontalpodautoscalers.autoscaling": autoscaling.AUTOSCALER,
    }
)


def strategy_of(resource: Resource) -> Strategy:
    """Return how a resource is written."""
    if resource.custom:
        return CUSTOM
    return _STRATEGIES.get(resource.qualified, PLAIN)
