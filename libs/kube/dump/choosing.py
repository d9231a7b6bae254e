"""Which kinds a dump holds, of all that a server announces.

Closed on purpose: a kind that is not named here is not read at all, so that nobody sends more than
an autoscaler needs. Secrets and ConfigMaps are never read.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from libs.kube.api import Resource

DEFINITIONS = "apiextensions.k8s.io"

_BUILT_IN: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        DEFINITIONS: frozenset({"customresourcedefinitions"}),
        "": frozenset(
            {
                "namespaces",
                "nodes",
                "persistentvolumes",
                "limitranges",
                "resourcequotas",
                "serviceaccounts",
                "services",
                "podtemplates",
                "persistentvolumeclaims",
                "replicationcontrollers",
                "pods",
            }
        ),
        "scheduling.k8s.io": frozenset({"priorityclasses", "podgroups", "workloads"}),
        "node.k8s.io": frozenset({"runtimeclasses"}),
        "storage.k8s.io": frozenset(
            {
                "storageclasses",
                "csidrivers",
                "csinodes",
                "csistoragecapacities",
                "volumeattachments",
                "volumeattributesclasses",
            }
        ),
        "resource.k8s.io": frozenset(
            {
                "deviceclasses",
                "devicetaintrules",
                "resourceslices",
                "resourceclaims",
                "resourceclaimtemplates",
            }
        ),
        "coordination.k8s.io": frozenset({"leases"}),
        "policy": frozenset({"poddisruptionbudgets"}),
        "apps": frozenset(
            {"controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"}
        ),
        "batch": frozenset({"cronjobs", "jobs"}),
        "autoscaling": frozenset({"horizontalpodautoscalers"}),
    }
)
_OF_AUTOSCALERS = frozenset(
    {
        "autoscaling.k8s.io",
        "autoscaling.x-k8s.io",
        "balancer.x-k8s.io",
        "scheduling.x-k8s.io",
    }
)
"""Groups whose custom resources say how to scale or where to run."""

_NEVER = frozenset({"secrets", "configmaps"})
_KARPENTER = "karpenter"


def is_chosen(resource: Resource, also: frozenset[str] = frozenset()) -> bool:
    """Tell whether a dump holds the objects of a resource.

    Args:
        resource: one that the server announces.
        also: groups beyond those of autoscalers.
    """
    if resource.plural in _NEVER and not resource.group:
        return False
    known = _BUILT_IN.get(resource.group)
    if known is not None:
        return resource.plural in known
    return resource.group in also or is_of_autoscalers(resource.group)


def is_of_autoscalers(group: str) -> bool:
    """Tell whether the custom resources of a group belong to an autoscaler."""
    return group in _OF_AUTOSCALERS or _KARPENTER in group.split(".")


def announced(group_version: str, document: Mapping[str, Any]) -> Iterator[Resource]:
    """Yield the listable resources of an APIResourceList."""
    group, _, version = group_version.rpartition("/")
    for one in document.get("resources") or ():
        if "/" not in one["name"] and "list" in one.get("verbs", ()):
            yield Resource(
                group=group,
                version=version,
                kind=one["kind"],
                plural=one["name"],
                namespaced=bool(one.get("namespaced")),
            )


def in_order(resources: Iterable[Resource]) -> list[Resource]:
    """Return resources as a dump has them: definitions and namespaces before what needs them."""
    return sorted(resources, key=_rank)


def _rank(resource: Resource) -> tuple[int, int, str, str]:
    groups, first = list(_BUILT_IN), ("customresourcedefinitions", "namespaces", "nodes")
    place = groups.index(resource.group) if resource.group in _BUILT_IN else len(groups)
    urgency = first.index(resource.plural) if resource.plural in first else len(first)
    return urgency, place, resource.group, resource.plural
