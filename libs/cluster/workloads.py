"""DaemonSets, buffers, gangs, namespaces, budgets: what planning reads beside pods and nodes.

Apart from the state because each is a small function from its objects to its part of the snapshot.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import msgspec

from libs.cluster.objects import Key, Objects
from libs.cluster.problems import Problems
from libs.cluster.published import PodRecord
from libs.cluster.shapes import Completion, RawShape, Shapes, filtered
from libs.domain.device import DeviceClaim, DeviceClass, DeviceHold, DevicePool
from libs.domain.errors import InvalidRequest
from libs.domain.pod import PodRow, PodShape
from libs.domain.workload import (
    CapacityBuffer,
    DaemonSet,
    Gang,
    Namespace,
    NodeOverlay,
    PodDisruptionBudget,
)
from libs.kube.convert.absent import RefusedObjects, absent
from libs.kube.convert.device import device_class
from libs.kube.convert.device_pool import device_holds, device_pool
from libs.kube.convert.nodepool import node_overlay
from libs.kube.convert.provisioning import request_as_gang
from libs.kube.convert.template import Admission, daemon_shape, pod_of
from libs.kube.convert.workload import (
    buffer_replicas,
    gang,
    namespace_labels,
    pod_disruption_budget,
)
from libs.kube.objects import device as device_objects
from libs.kube.objects import karpenter, policy, provisioning, workload
from libs.kube.objects.metadata import ObjectMeta
from libs.kube.objects.pod import Pod, PodResourceClaim, PodTemplate, PodTemplateSpec

LOWEST_PRIORITY = -(2**31)

_SCALABLE: Mapping[str, type[workload.Deployment | workload.ReplicaSet | workload.StatefulSet]] = {
    "Deployment": workload.Deployment,
    "ReplicaSet": workload.ReplicaSet,
    "StatefulSet": workload.StatefulSet,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Templated:
    """A raw shape that comes from a template, with the labels of its pods."""

    raw: RawShape
    labels: Mapping[str, str]
    resource_claims: tuple[PodResourceClaim, ...] = ()

    def finish(
        self, shapes: Shapes, tracked: frozenset[str], devices: tuple[DeviceClaim, ...] = ()
    ) -> PodShape:
        """Return the numbered shape of pods with these claims of devices."""
        return shapes.finish(
            self.raw,
            Completion(
                labels=filtered(self.labels, tracked),
                device_claims=devices,
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A buffer as resolved: `pods` is None where it could not be."""

    value: CapacityBuffer
    pods: Templated | None = None
    created_ms: int = 0


def admission(objects: Objects) -> Admission:
    """Return the classes that templates refer to."""
    return Admission(
        runtimes=objects.of(policy.RuntimeClass), priorities=objects.of(policy.PriorityClass)
    )


def daemons(
    objects: Objects, records: Iterable[PodRecord], shapes: Shapes, problems: Problems
) -> dict[Key, Templated]:
    """Return what each DaemonSet puts on a node, after its newest pod or else its template."""
    newest = _newest_daemon_pods(records)
    classes = admission(objects)
    found: dict[Key, Templated] = {}
    for key, daemonset in objects.of(workload.DaemonSet).items():
        if daemonset.metadata.deletion_timestamp is not None:
            continue
        live = newest.get(daemonset.metadata.uid)
        raw = live.raw.shape if live is not None and live.raw is not None else None
        try:
            shape = shapes.intern(daemon_shape(daemonset, raw, classes))
        except InvalidRequest as error:
            problems.add("DaemonSet", *key, error)
            continue
        template = daemonset.spec.template
        found[key] = Templated(
            raw=shape,
            labels=template.metadata.labels if live is None else live.labels,
            resource_claims=tuple(template.spec.resource_claims),
        )
    return found


def daemonset(key: Key, objects: Objects, shape: int) -> DaemonSet:
    """Return the DaemonSet of this key with the number of its shape."""
    metadata = objects.of(workload.DaemonSet)[key].metadata
    return DaemonSet(namespace=key[0], name=key[1], uid=metadata.uid or "/".join(key), shape=shape)


def buffers(objects: Objects, shapes: Shapes, refused: RefusedObjects) -> dict[Key, Buffer]:
    """Return the buffers; one that cannot be resolved says why."""
    found = {}
    for key, buffer in objects.of(karpenter.CapacityBuffer).items():
        try:
            found[key] = _resolved(buffer, objects, shapes, refused)
        except InvalidRequest as error:
            found[key] = Buffer(value=_buffer(buffer, 0, problem=str(error)))
    return found


def virtual_rows(buffer: Buffer, shape: int) -> list[PodRow]:
    """Return the virtual pods of a buffer, numbered from 1."""
    value = buffer.value
    return [
        PodRow(
            uid=uid,
            namespace=value.namespace,
            name=f"capacity-buffer-{value.name}-{number}",
            shape=shape,
            provisionable=True,
            created_ms=buffer.created_ms,
            priority=LOWEST_PRIORITY,
        )
        for number, uid in enumerate(value.pod_uids, start=1)
    ]


def gangs(objects: Objects, problems: Problems) -> list[Gang]:
    """Return the groups that are placed whole or not at all."""
    groups = (gang(group) for group in objects.of(policy.PodGroup).values())
    found = [one for one in groups if one is not None]
    for key, request in objects.of(provisioning.ProvisioningRequest).items():
        try:
            one = request_as_gang(request)
        except InvalidRequest as error:
            problems.add("ProvisioningRequest", *key, error)
            continue
        if one is not None:
            found.append(one)
    return found


def namespaces(
    objects: Objects, mentioned: Iterable[str], tracked: frozenset[str]
) -> list[Namespace]:
    """Return the namespaces, those included that only pods mention."""
    labels: dict[str, Mapping[str, str]] = {name: {} for name in mentioned}
    for (_, name), one in objects.of(policy.Namespace).items():
        labels[name] = one.metadata.labels
    return [
        Namespace(name=name, labels=filtered(namespace_labels(name, given), tracked))
        for name, given in labels.items()
    ]


def budgets(objects: Objects, problems: Problems) -> list[PodDisruptionBudget]:
    """Return the budgets of pods; what is wrong is reported and left out."""
    found = []
    for key, budget in objects.of(policy.PodDisruptionBudget).items():
        try:
            found.append(pod_disruption_budget(budget))
        except InvalidRequest as error:
            problems.add("PodDisruptionBudget", *key, error)
    return found


def overlays(objects: Objects, problems: Problems) -> list[NodeOverlay]:
    """Return the overlays; what is wrong is reported and left out."""
    found = []
    for key, overlay in objects.of(karpenter.NodeOverlay).items():
        try:
            found.append(node_overlay(overlay))
        except InvalidRequest as error:
            problems.add("NodeOverlay", *key, error)
    return found


def devices(objects: Objects, problems: Problems) -> tuple[list[DevicePool], list[DeviceClass]]:
    """Return the pools of devices and their classes; what is wrong is reported and left out."""
    slices: dict[tuple[str, str], list[device_objects.ResourceSlice]] = {}
    for one in objects.of(device_objects.ResourceSlice).values():
        slices.setdefault((one.spec.driver, one.spec.pool.name), []).append(one)
    held = _held(objects, problems)
    pools = []
    for (driver, name), parts in slices.items():
        try:
            pools.append(device_pool(driver, name, parts, held.get((driver, name), ())))
        except InvalidRequest as error:
            problems.add("ResourceSlice", "", parts[0].metadata.name, error)
    return pools, _device_classes(objects, problems)


def _device_classes(objects: Objects, problems: Problems) -> list[DeviceClass]:
    found = []
    taken: set[str] = set()
    # Of several classes with one resource the newest counts, then the first by name.
    for (_, name), one in sorted(objects.of(device_objects.DeviceClass).items(), key=_class_order):
        try:
            made = device_class(one)
        except InvalidRequest as error:
            problems.add("DeviceClass", "", name, error)
            continue
        found.append(
            replace(made, extended_resource="") if made.extended_resource in taken else made
        )
        taken.add(made.extended_resource)
    return found


def _class_order(item: tuple[Key, device_objects.DeviceClass]) -> tuple[float, str]:
    (_, name), one = item
    created = one.metadata.creation_timestamp
    return 0.0 if created is None else -created.timestamp(), name


def _newest_daemon_pods(records: Iterable[PodRecord]) -> dict[str, PodRecord]:
    """Return, by uid of the DaemonSet, the newest of its pods that is legible and stays."""
    newest: dict[str, PodRecord] = {}
    for record in records:
        owner = record.row.owner
        usable = record.problem is None and record.row.active
        if owner is None or not owner.is_daemonset or not usable:
            continue
        before = newest.get(owner.uid)
        if before is None or _age(before) < _age(record):
            newest[owner.uid] = record
    return newest


def _age(record: PodRecord) -> tuple[int, str]:
    return record.row.created_ms, record.row.uid


def _resolved(
    buffer: karpenter.CapacityBuffer, objects: Objects, shapes: Shapes, refused: RefusedObjects
) -> Buffer:
    template, scalable = _template(buffer, objects, refused)
    pod = pod_of(template, _virtual_metadata(buffer), admission(objects))
    spec = msgspec.structs.replace(pod.spec, volumes=(), resource_claims=())
    raw = shapes.raw(Pod(metadata=pod.metadata, spec=spec))
    replicas = buffer_replicas(buffer.spec, scalable, raw.shape.requests)
    created = buffer.metadata.creation_timestamp
    return Buffer(
        value=_buffer(buffer, replicas),
        pods=Templated(raw=raw, labels=pod.metadata.labels),
        created_ms=0 if created is None else int(created.timestamp() * 1000),
    )


def _template(
    buffer: karpenter.CapacityBuffer, objects: Objects, refused: RefusedObjects
) -> tuple[PodTemplateSpec, int | None]:
    """Return the template of the virtual pods, and the replicas of the workload it comes from."""
    namespace, spec = buffer.metadata.namespace, buffer.spec
    if spec.pod_template_ref is not None:
        _check_template_alone(spec)
        name = spec.pod_template_ref.name
        template = objects.of(PodTemplate).get((namespace, name))
        if template is None:
            why = absent(refused, "PodTemplate", namespace, name)
            shown = f'podtemplate "{namespace}/{name}"'
            raise InvalidRequest(f"{shown} {why}", field="spec.podTemplateRef")
        return template.template, None
    reference = spec.scalable_ref
    if reference is None:
        raise InvalidRequest("names neither a pod template nor a workload", field="spec")
    struct = _SCALABLE.get(reference.kind)
    if struct is None or reference.api_group not in ("", "apps"):
        known = ", ".join(_SCALABLE)
        raise InvalidRequest(f"{reference.kind!r} is not one of {known}", field="spec.scalableRef")
    found = objects.of(struct).get((namespace, reference.name))
    if found is None:
        shown = f'{reference.kind.lower()} "{namespace}/{reference.name}"'
        why = absent(refused, reference.kind, namespace, reference.name)
        raise InvalidRequest(f"{shown} {why}", field="spec.scalableRef")
    replicas = found.spec.replicas
    return found.spec.template, 1 if replicas is None else replicas


def _check_template_alone(spec: karpenter.CapacityBufferSpec) -> None:
    if spec.scalable_ref is not None:
        raise InvalidRequest(
            "podTemplateRef and scalableRef exclude each other; keep one", field="spec"
        )
    if spec.replicas is None and not spec.limits:
        raise InvalidRequest(
            "a template alone does not say how much room to keep; give replicas or limits",
            field="spec",
        )


def _virtual_metadata(buffer: karpenter.CapacityBuffer) -> ObjectMeta:
    metadata = buffer.metadata
    return ObjectMeta(name=f"capacity-buffer-{metadata.name}", namespace=metadata.namespace)


def _buffer(
    buffer: karpenter.CapacityBuffer, replicas: int, *, problem: str = ""
) -> CapacityBuffer:
    metadata = buffer.metadata
    return CapacityBuffer(
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid or f"capacitybuffer/{metadata.namespace}/{metadata.name}",
        shape=0,
        replicas=replicas,
        problem=problem,
    )


def _held(objects: Objects, problems: Problems) -> dict[tuple[str, str], list[DeviceHold]]:
    """Return what claims hold, by driver and pool."""
    found: dict[tuple[str, str], list[DeviceHold]] = {}
    for key, claim in objects.of(device_objects.ResourceClaim).items():
        try:
            holds = device_holds(claim)
        except InvalidRequest as error:
            problems.add("ResourceClaim", *key, error)
            continue
        for pool, hold in holds:
            found.setdefault(pool, []).append(hold)
    return found
