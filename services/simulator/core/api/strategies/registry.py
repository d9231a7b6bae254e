"""Which strategy writes which built-in resource."""

from collections.abc import Mapping
from types import MappingProxyType

from services.simulator.core.api.resources import Resource
from services.simulator.core.api.strategies import (
    autoscaling,
    core,
    crds,
    networking,
    pods,
    rbac,
    resource,
    scheduling,
    storage,
    workloads,
)
from services.simulator.core.api.strategies.custom import CUSTOM
from services.simulator.core.api.strategies.strategy import Strategy

PLAIN = Strategy()

_STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "pods": pods.STRATEGY,
        "nodes": core.NODE,
        "namespaces": core.NAMESPACE,
        "serviceaccounts": core.SERVICE_ACCOUNT,
        "configmaps": core.CONFIG_MAP,
        "secrets": core.SECRET,
        "leases.coordination.k8s.io": core.LEASE,
        "services": networking.SERVICE,
        "endpoints": networking.ENDPOINTS,
        "ingresses.networking.k8s.io": networking.INGRESS,
        "ingressclasses.networking.k8s.io": networking.INGRESS_CLASS,
        "networkpolicies.networking.k8s.io": networking.POLICY,
        "events": core.EVENT,
        "resourcequotas": core.QUOTA,
        "controllerrevisions.apps": core.REVISION,
        "runtimeclasses.node.k8s.io": scheduling.RUNTIME_CLASS,
        "limitranges": core.LIMIT_RANGE,
        "persistentvolumeclaims": storage.CLAIM,
        "persistentvolumes": storage.VOLUME,
        "events.events.k8s.io": core.NEW_EVENT,
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
        "priorityclasses.scheduling.k8s.io": scheduling.PRIORITY_CLASS,
        "endpointslices.discovery.k8s.io": networking.ENDPOINT_SLICE,
        "deviceclasses.resource.k8s.io": resource.CLASS,
        "resourceclaims.resource.k8s.io": resource.CLAIM,
        "resourceclaimtemplates.resource.k8s.io": resource.TEMPLATE,
        "resourceslices.resource.k8s.io": resource.SLICE,
        "customresourcedefinitions.apiextensions.k8s.io": crds.DEFINITION,
        "roles.rbac.authorization.k8s.io": rbac.ROLE,
        "clusterroles.rbac.authorization.k8s.io": rbac.CLUSTER_ROLE,
        "rolebindings.rbac.authorization.k8s.io": rbac.BINDING,
        "clusterrolebindings.rbac.authorization.k8s.io": rbac.CLUSTER_BINDING,
        "horizontalpodautoscalers.autoscaling": autoscaling.AUTOSCALER,
    }
)


def strategy_of(resource: Resource) -> Strategy:
    """Return how a resource is written."""
    if resource.custom:
        return CUSTOM
    return _STRATEGIES.get(resource.qualified, PLAIN)
