"""Pods that do not exist yet, made from the template of their controller.

Apart because such pods have not passed admission: what the API server would add when they are
created is added here.

Source: Kubernetes documentation, "DaemonSet" (tolerations that its controller adds), "Runtime
Class", "Pod Priority and Preemption"; `docs/sources.md` D3.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import msgspec

from libs.domain.errors import InvalidRequest
from libs.domain.pod import PodShape
from libs.kube.convert.pod import raw_shape, required_node_terms
from libs.kube.objects.metadata import ObjectMeta
from libs.kube.objects.pod import Pod, PodSpec, PodTemplateSpec, Toleration
from libs.kube.objects.policy import PriorityClass, RuntimeClass
from libs.kube.objects.workload import DaemonSet

_EXISTS = "Exists"
_DAEMON_TOLERATIONS = (
    Toleration(key="node.kubernetes.io/not-ready", operator=_EXISTS, effect="NoExecute"),
    Toleration(key="node.kubernetes.io/unreachable", operator=_EXISTS, effect="NoExecute"),
    Toleration(key="node.kubernetes.io/disk-pressure", operator=_EXISTS, effect="NoSchedule"),
    Toleration(key="node.kubernetes.io/memory-pressure", operator=_EXISTS, effect="NoSchedule"),
    Toleration(key="node.kubernetes.io/pid-pressure", operator=_EXISTS, effect="NoSchedule"),
    Toleration(key="node.kubernetes.io/unschedulable", operator=_EXISTS, effect="NoSchedule"),
)
_HOST_NETWORK_TOLERATION = Toleration(
    key="node.kubernetes.io/network-unavailable", operator=_EXISTS, effect="NoSchedule"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The classes that admission reads, by name (the namespace part of the key is empty)."""

    runtimes: Mapping[tuple[str, str], RuntimeClass]
    priorities: Mapping[tuple[str, str], PriorityClass]


def pod_of(template: PodTemplateSpec, metadata: ObjectMeta, admission: Admission) -> Pod:
    """Return the pod that a controller would create.

    Args:
        template: the controller's template.
        metadata: name, namespace, uid and owner of the pod; labels and annotations are the
            template's, overlaid by those given.
        admission: the classes that the template may refer to.
    """
    given = template.metadata
    return Pod(
        metadata=msgspec.structs.replace(
            metadata,
            labels=given.labels | metadata.labels,
            annotations=given.annotations | metadata.annotations,
        ),
        spec=_admitted(msgspec.structs.replace(template.spec, node_name=""), admission),
    )


def daemon_shape(daemonset: DaemonSet, live: PodShape | None, admission: Admission) -> PodShape:
    """Return the raw shape of a DaemonSet's pods, without the pin to one node.

    Args:
        daemonset: the DaemonSet.
        live: raw shape of its newest pod, which has passed admission; None as long as there is no
            pod.
        admission: the classes that the template may refer to.

    Raises:
        InvalidRequest: a field of the template that Kubernetes refuses.
    """
    template = daemonset.spec.template
    try:
        if live is not None:
            return replace(live, required_node_terms=required_node_terms(template.spec))
        metadata = ObjectMeta(name=daemonset.metadata.name, namespace=daemonset.metadata.namespace)
        return raw_shape(_daemon_pod(template, metadata, admission))
    except InvalidRequest as error:
        raise error.under("spec.template") from None


def _daemon_pod(template: PodTemplateSpec, metadata: ObjectMeta, admission: Admission) -> Pod:
    pod = pod_of(template, metadata, admission)
    added: Iterable[Toleration] = _DAEMON_TOLERATIONS
    if pod.spec.host_network:
        added = (*added, _HOST_NETWORK_TOLERATION)
    spec = msgspec.structs.replace(pod.spec, tolerations=(*pod.spec.tolerations, *added))
    return msgspec.structs.replace(pod, spec=spec)


def with_runtime(pod: Pod, runtimes: Mapping[tuple[str, str], RuntimeClass]) -> Pod:
    """Return a pod with what its RuntimeClass adds as pods are created; nothing is added twice."""
    runtime = runtimes.get(("", pod.spec.runtime_class_name))
    if runtime is None or pod.spec.node_name:
        return pod
    return msgspec.structs.replace(pod, spec=_of_runtime(pod.spec, runtime))


def _admitted(spec: PodSpec, admission: Admission) -> PodSpec:
    priority = admission.priorities.get(("", spec.priority_class_name))
    if spec.priority is None and priority is not None:
        spec = msgspec.structs.replace(spec, priority=priority.value)
    runtime = admission.runtimes.get(("", spec.runtime_class_name))
    return spec if runtime is None else _of_runtime(spec, runtime)


def _of_runtime(spec: PodSpec, runtime: RuntimeClass) -> PodSpec:
    added = (one for one in runtime.scheduling.tolerations if one not in spec.tolerations)
    return msgspec.structs.replace(
        spec,
        overhead=spec.overhead or runtime.overhead.pod_fixed,
        node_selector=spec.node_selector | runtime.scheduling.node_selector,
        tolerations=(*spec.tolerations, *added),
    )
