"""The spread constraints that the scheduler's configuration gives to pods without any.

Apart from the filter because the selector is not written anywhere: like pods are those that the
pod's Services and its controller select together.

Only a list of the configuration's own (`defaultingType: List`) can refuse a node; the system's
defaults are all soft (`spread_score`).

Source: the Kubernetes documentation of cluster-level default constraints; kube-scheduler's
PodTopologySpread.
"""

from collections.abc import Iterator, Mapping

from libs.oracle.cluster import Cluster
from libs.oracle.objects import KubeObject, metadata_of, namespace_of, spec_of
from libs.oracle.pods import Pod
from libs.oracle.selectors import LabelRequirement, LabelSelector, read_selector


def default_selector(cluster: Cluster, pod: Pod) -> LabelSelector | None:
    """Return what the pod's Services and its controller select; None if that is nothing."""
    labels: dict[str, str] = {}
    for service in _services(cluster, pod):
        labels |= spec_of(service)["selector"]
    owner = _controller(cluster, pod)
    requirements: tuple[LabelRequirement, ...] = ()
    if owner is not None:
        selector = spec_of(owner).get("selector") or {}
        if _owner_kind(pod) == "ReplicationController":
            labels |= selector
        elif (found := read_selector(selector)) is not None:
            requirements = found.requirements
    own = tuple(
        LabelRequirement(key, "In", frozenset((value,))) for key, value in sorted(labels.items())
    )
    return LabelSelector((*own, *requirements)) if own or requirements else None


def _services(cluster: Cluster, pod: Pod) -> Iterator[KubeObject]:
    """Yield the Services of the namespace that select the pod, in order of their names."""
    for _, service in sorted(cluster.services.items()):
        selector: Mapping[str, str] | None = spec_of(service).get("selector")
        if namespace_of(service) != pod.namespace or selector is None:
            continue
        if selector.items() <= pod.labels.items():
            yield service


def _owner_kind(pod: Pod) -> str:
    owners = metadata_of(pod.obj).get("ownerReferences") or ()
    return next((str(one.get("kind")) for one in owners if one.get("controller")), "")


def _controller(cluster: Cluster, pod: Pod) -> KubeObject | None:
    owners = metadata_of(pod.obj).get("ownerReferences") or ()
    name = next((one.get("name") for one in owners if one.get("controller")), None)
    return cluster.controllers.get((_owner_kind(pod), f"{pod.namespace}/{name}"))
