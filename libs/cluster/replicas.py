"""The pods that workloads out of files are about to have.

Apart because a file often holds a Deployment and not its pods: then its replicas are pending. Where
any pod of a workload is in the input, the pods there are the truth, and nothing is added.

Source: Kubernetes documentation, "StatefulSets" (names, labels and claims of replicas) and "Jobs".
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from libs.domain.errors import InvalidRequest
from libs.kube.convert.template import Admission, pod_of
from libs.kube.objects.kinds import KubeObject, kind_of
from libs.kube.objects.metadata import ObjectMeta, OwnerReference
from libs.kube.objects.pod import ClaimVolume, Pod, Volume
from libs.kube.objects.storage import (
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimTemplate,
)
from libs.kube.objects.workload import (
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)

_TEMPLATE_HASH = "pod-template-hash"
_API_VERSIONS = {"Job": "batch/v1", "ReplicationController": "v1"}

MOST_PODS = 200_000
"""More pods than the largest clusters run are a slip of the keyboard."""

Workload = Deployment | ReplicaSet | ReplicationController | StatefulSet | Job
Owned = tuple[str, str, str]
"""Kind, namespace, name of an owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    """The pods that a workload is about to have, and the claims that come with them."""

    workload: Workload
    pods: tuple[Pod, ...]
    claims: tuple[PersistentVolumeClaim, ...]


def missing_replicas(objects: Iterable[KubeObject], admission: Admission) -> list[Replicas]:
    """Return the replicas of each workload that has no pod in the input.

    A ReplicaSet counts only where its Deployment is not in the input. Pods are matched by their
    owner; where their ReplicaSet is not in the input, by its name, which its Deployment chose.

    Raises:
        InvalidRequest: a workload is to have more pods than any cluster runs, or less than none.
    """
    given = tuple(objects)
    workloads = [one for one in given if isinstance(one, Workload)]
    present = {_key(one) for one in workloads}
    manned = _manned(given)
    found: list[Replicas] = []
    left = MOST_PODS
    for workload in sorted(workloads, key=_key):
        owner = workload.metadata.controller
        is_owned = owner is not None and _owner(owner, workload.metadata.namespace) in present
        if not is_owned and _key(workload) not in manned:
            made = _replicas(workload, admission, left)
            left -= len(made.pods)
            if made.pods:
                found.append(made)
    return found


def _manned(objects: Iterable[KubeObject]) -> set[Owned]:
    """Return the workloads that have pods."""
    found: set[Owned] = set()
    parents: dict[Owned, Owned] = {}
    for one in objects:
        controller = one.metadata.controller
        if controller is None:
            continue
        namespace = one.metadata.namespace
        owner = _owner(controller, namespace)
        if isinstance(one, ReplicaSet):
            parents[_key(one)] = owner
        elif isinstance(one, Pod):
            found.add(owner)
            suffix = f"-{one.metadata.labels.get(_TEMPLATE_HASH)}"
            if controller.kind == "ReplicaSet" and controller.name.endswith(suffix):
                found.add(("Deployment", namespace, controller.name.removesuffix(suffix)))
    return found | {parents[one] for one in found if one in parents}


def _replicas(workload: Workload, admission: Admission, left: int) -> Replicas:
    count = _count(workload)
    if not 0 <= count <= left:
        kind, namespace, name = _key(workload)
        before = "" if left == MOST_PODS else f"; those before it have {MOST_PODS - left}"
        raise InvalidRequest(
            f"{count} pods are not within the 0 to {MOST_PODS} that all workloads may have here"
            f"{before}",
            field=f'{kind} "{namespace}/{name}": spec',
        )
    first = workload.spec.ordinals.start if isinstance(workload, StatefulSet) else 0
    pods: list[Pod] = []
    claims: list[PersistentVolumeClaim] = []
    for number in range(first, first + count):
        pod = pod_of(workload.spec.template, _metadata(workload, number), admission)
        if isinstance(workload, StatefulSet):
            pod, own = _with_claims(pod, workload.spec.volume_claim_templates)
            claims.extend(own)
        pods.append(pod)
        claims.extend(_ephemeral_claims(pod))
    return Replicas(workload=workload, pods=tuple(pods), claims=tuple(claims))


def _count(workload: Workload) -> int:
    """Return how many pods the workload is about to have; absent replicas are one."""
    if not isinstance(workload, Job):
        replicas = workload.spec.replicas
        return 1 if replicas is None else replicas
    spec, status = workload.spec, workload.status
    ended = any(
        one.type in ("Complete", "Failed") and one.status == "True" for one in status.conditions
    )
    if spec.suspend or ended:
        return 0
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    if spec.completions is None:
        return parallelism
    return min(parallelism, max(spec.completions - status.succeeded, 0))


def _metadata(workload: Workload, number: int) -> ObjectMeta:
    kind, namespace, name = _key(workload)
    labels = {}
    if isinstance(workload, StatefulSet):
        labels = {
            "statefulset.kubernetes.io/pod-name": f"{name}-{number}",
            "apps.kubernetes.io/pod-index": str(number),
        }
    elif isinstance(workload, Job):
        labels = {"batch.kubernetes.io/job-name": name, "job-name": name}
    return ObjectMeta(
        name=f"{name}-{number}",
        namespace=namespace,
        uid=f"{kind.lower()}/{namespace}/{name}/{number}",
        labels=labels,
        creation_timestamp=workload.metadata.creation_timestamp,
        owner_references=(
            OwnerReference(
                api_version=_API_VERSIONS.get(kind, "apps/v1"),
                kind=kind,
                name=name,
                uid=workload.metadata.uid or f"{kind.lower()}/{namespace}/{name}",
                controller=True,
            ),
        ),
    )


def _with_claims(
    pod: Pod, templates: Iterable[PersistentVolumeClaimTemplate]
) -> tuple[Pod, list[PersistentVolumeClaim]]:
    """Return the pod with the claims that its StatefulSet gives it."""
    volumes = {volume.name: volume for volume in pod.spec.volumes}
    claims = []
    for template in templates:
        name = f"{template.metadata.name}-{pod.metadata.name}"
        claims.append(_claim(pod.metadata.namespace, name, template.spec))
        volumes[template.metadata.name] = Volume(
            name=template.metadata.name, persistent_volume_claim=ClaimVolume(claim_name=name)
        )
    spec = msgspec.structs.replace(pod.spec, volumes=tuple(volumes.values()))
    return msgspec.structs.replace(pod, spec=spec), claims


def _ephemeral_claims(pod: Pod) -> Iterator[PersistentVolumeClaim]:
    owner = OwnerReference(
        api_version="v1",
        kind="Pod",
        name=pod.metadata.name,
        uid=pod.metadata.uid,
        controller=True,
    )
    for volume in pod.spec.volumes:
        if volume.ephemeral is not None:
            name = f"{pod.metadata.name}-{volume.name}"
            spec = volume.ephemeral.volume_claim_template.spec
            claim = _claim(pod.metadata.namespace, name, spec)
            metadata = msgspec.structs.replace(claim.metadata, owner_references=(owner,))
            yield msgspec.structs.replace(claim, metadata=metadata)


def _claim(namespace: str, name: str, spec: PersistentVolumeClaimSpec) -> PersistentVolumeClaim:
    return PersistentVolumeClaim(metadata=ObjectMeta(name=name, namespace=namespace), spec=spec)


def _owner(reference: OwnerReference, namespace: str) -> Owned:
    return reference.kind, namespace, reference.name


def _key(workload: Workload) -> Owned:
    return kind_of(workload), workload.metadata.namespace, workload.metadata.name
