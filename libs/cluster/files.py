"""From parsed files to a `ClusterState`: what `joiner plan`, `check` and the tests read.

Apart from the state because files are read as a person means them: a workload stands for its pods,
an unbound pod waits although no scheduler has said so, an absent NodePool is made up. Whatever is
assumed or left out is said in a note.

Laws:
    - An object that is illegible, or that an API server would refuse, is set aside as in a live
      cluster, and is named with source, object and field: a file can be mended. So is not what only
      leads nowhere (a claim that is not there). Of pools and overlays that break their rules the
      plan says so, too, as their status would.
    - The order of objects does not matter, but for two with one name (`documents`).
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from libs.cluster.documents import FileObject, Refused, objects_of, refused
from libs.cluster.replicas import missing_replicas
from libs.cluster.requests import requested
from libs.cluster.state import ClusterState, StateOptions
from libs.cluster.unknown_namespaces import unknown_namespaces
from libs.domain import feature_gates
from libs.domain.capacity import NodeClassRef
from libs.domain.errors import InvalidRequest
from libs.domain.feature_gates import FeatureGate
from libs.domain.topology import TopologySpread
from libs.kube.convert.node import node_view
from libs.kube.convert.nodeclaim import nodeclaim
from libs.kube.convert.nodepool import nodepool
from libs.kube.convert.provisioning import wanted
from libs.kube.convert.template import Admission, daemon_shape, with_runtime
from libs.kube.convert.workload import pod_disruption_budget
from libs.kube.objects.decoding import BrokenObject, from_document
from libs.kube.objects.karpenter import NodeClaim, NodeClass, NodeOverlay, NodePool
from libs.kube.objects.kinds import KubeObject, kind_of
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod
from libs.kube.objects.policy import PodDisruptionBudget, PriorityClass, RuntimeClass
from libs.kube.objects.provisioning import ProvisioningRequest
from libs.kube.objects.workload import DaemonSet

DEFAULT_POOL = "default"
FROM_FILES = StateOptions(offline=True)

_UID = "metadata.uid"
_OF_RUNTIMES = ("nodeSelector", "overhead", "tolerations")
"""Fields of a pod that its RuntimeClass adds to."""
_NO_CLASSES = Admission(runtimes={}, priorities={})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedCluster:
    """A cluster out of files."""

    state: ClusterState
    node_classes: tuple[NodeClassRef, ...]
    """Classes that want a catalogue: all that pools and claims name, but for those that are
    missing among node classes of their kind in the input."""
    refused: tuple[Refused, ...]
    """What does not count: illegible, or against the rules."""
    notes: tuple[str, ...]
    """What was assumed and what was left out, for people."""
    documents: tuple[tuple[str, Mapping[str, Any]], ...]
    """Kind and plain form of every object, those of assumed replicas included."""


def reading(
    gates: Mapping[str, bool], default_spread: tuple[TopologySpread, ...] = ()
) -> StateOptions:
    """Return how files are read.

    Args:
        gates: feature gates that differ from their defaults.
        default_spread: constraints of pods that have none (`convert.scheduler_config`).
    """
    return replace(
        FROM_FILES,
        capacity_buffers=feature_gates.is_open(FeatureGate.CAPACITY_BUFFER, gates),
        default_spread=default_spread,
    )


def load(
    documents: Iterable[tuple[str, object]],
    *,
    default_class: NodeClassRef,
    options: StateOptions = FROM_FILES,
) -> LoadedCluster:
    """Return the cluster that the documents describe.

    Pods that are unbound and without scheduling gates count as waiting for a node, whether or not
    they have a condition. A Deployment, StatefulSet, ReplicaSet or Job without a pod in the input
    counts as its replicas pending. Without a NodePool one named `default` is assumed.

    Args:
        documents: name of the source (a file, `-`) and a parsed YAML or JSON document each.
        default_class: the class of an assumed NodePool.
        options: how objects are read.

    Raises:
        InvalidRequest: the workloads of the input have more pods than any cluster runs.
    """
    read = objects_of(documents)
    found = _sorted(read.objects)
    objects, bad_ones, state = (
        _with_runtimes(found.good),
        [*read.refused, *found.refused],
        ClusterState(options),
    )
    for one in objects:
        state.upsert(one.obj)
    waiting = [*found.pods, *_not_there(bad_ones, objects, state)]
    for pod, problem in waiting:
        state.refuse_pod(pod, problem)
    added, assumptions = _add_replicas(objects, state)
    notes = [*read.notes, *assumptions]
    if not any(isinstance(one.obj, NodePool) for one in objects):
        if any(one.kind == "NodePool" for one in bad_ones):
            notes.append("no NodePool of the input counts: nothing can be bought")
        else:
            state.upsert(_default_pool(default_class))
            notes.append(
                f'no NodePool in the input: one named "{DEFAULT_POOL}" for Linux nodes of any type '
                "is assumed"
            )
    invalid = dict(state.invalid_pods())
    bad_ones += _invalid(read.objects, added, invalid)
    pods = [pod for pod, _ in waiting]
    return LoadedCluster(
        state=state,
        node_classes=_wanted_classes(objects, state),
        refused=tuple(bad_ones),
        notes=(*notes, *unknown_namespaces([*(one.obj for one in objects), *added])),
        documents=(
            *((kind_of(one.obj), one.plain) for one in objects if not _is_one(one.obj, invalid)),
            *((kind_of(o), msgspec.to_builtins(o)) for o in added if not _is_one(o, invalid)),
            *_bare([*pods, *(one.obj for one in objects), *added], invalid),
        ),
    )


def _with_runtimes(objects: Iterable[FileObject]) -> list[FileObject]:
    """Return the objects, waiting pods with what an API server adds of their RuntimeClasses."""
    known = list(objects)
    given = [one.obj for one in known]
    runtimes = {("", one.metadata.name): one for one in given if isinstance(one, RuntimeClass)}
    return [_with_runtime(one, runtimes) for one in known] if runtimes else known


def _with_runtime(one: FileObject, runtimes: Mapping[tuple[str, str], RuntimeClass]) -> FileObject:
    if not isinstance(one.obj, Pod):
        return one
    made = with_runtime(one.obj, runtimes)
    if made.spec == one.obj.spec:
        return one
    written = msgspec.to_builtins(made.spec)
    added = {name: written[name] for name in _OF_RUNTIMES if written.get(name)}
    document = {**one.document, "spec": {**one.document["spec"], **added}}
    return replace(one, obj=made, document=document)


def _default_pool(node_class: NodeClassRef) -> NodePool:
    """Return the NodePool that is assumed where there is none: Linux, and otherwise anything."""
    return from_document(
        {
            "metadata": {"name": DEFAULT_POOL, "uid": DEFAULT_POOL},
            "spec": {
                "template": {
                    "spec": {
                        "requirements": [
                            {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}
                        ],
                        "nodeClassRef": {
                            "group": node_class.group,
                            "kind": node_class.kind,
                            "name": node_class.name,
                        },
                    }
                }
            },
        },
        NodePool,
    )


def _add_replicas(
    objects: Iterable[FileObject], state: ClusterState
) -> tuple[list[KubeObject], list[str]]:
    given = [one.obj for one in objects]
    present = {(kind_of(one), one.metadata.namespace, one.metadata.name) for one in given}
    admission = Admission(
        runtimes={("", one.metadata.name): one for one in given if isinstance(one, RuntimeClass)},
        priorities={
            ("", one.metadata.name): one for one in given if isinstance(one, PriorityClass)
        },
    )
    notes: list[str] = []
    added: list[KubeObject] = []
    for made in missing_replicas(given, admission):
        members: tuple[KubeObject, ...] = (*made.claims, *made.pods)
        for one in members:
            if (kind_of(one), one.metadata.namespace, one.metadata.name) not in present:
                state.upsert(one)
                added.append(one)
        metadata = made.workload.metadata
        notes.append(
            f'{kind_of(made.workload)} "{metadata.namespace}/{metadata.name}" has no pods in the '
            f"input: {len(made.pods)} pending assumed"
        )
    for asked in requested(given, admission):
        notes.append(asked.note)
        for pod in asked.pods:
            state.upsert(pod)
            added.append(pod)
    return added, notes


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Objects that count, and those that do not."""

    good: list[FileObject] = field(default_factory=list)
    pods: list[tuple[Pod, InvalidRequest]] = field(default_factory=list)
    """Pods that no API server would let in: they wait in vain, or weigh on their node."""
    refused: list[Refused] = field(default_factory=list)


def _sorted(objects: Iterable[FileObject]) -> _Sorted:
    found, uids = _Sorted(), _first_by_uid(objects)
    for one in objects:
        try:
            twin = uids.get(one.obj.metadata.uid, one)
            if isinstance(one.obj, Pod) and twin is not one:
                raise InvalidRequest(f"is also that of {twin.shown}", field=_UID)
            _check(one)
        except InvalidRequest as problem:
            found.refused.append(refused(one, problem))
            continue
        if isinstance(one.obj, Pod) and one.problem is not None:
            found.pods.append((one.obj, one.problem))
            continue
        if one.problem is not None:
            found.refused.append(refused(one, one.problem))
        found.good.append(one)
    return found


def _first_by_uid(objects: Iterable[FileObject]) -> Mapping[str, FileObject]:
    """Return the first pod of each uid, by name: of two, planning would see but one."""
    pods = [one for one in objects if isinstance(one.obj, Pod) and one.obj.metadata.uid]
    pods.sort(key=lambda one: _key(one.obj), reverse=True)
    return {one.obj.metadata.uid: one for one in pods}


def _not_there(
    bad_ones: Iterable[Refused], objects: Iterable[FileObject], state: ClusterState
) -> Iterator[tuple[Pod, InvalidRequest]]:
    """Yield the illegible pods; set all else aside, but where an object of its name counts."""
    there = {(kind_of(one.obj), *_key(one.obj)) for one in objects}
    for bad in bad_ones:
        if not bad.name or bad.problem.field == _UID or bad.key in there:
            continue
        if bad.pod is not None:
            yield bad.pod, bad.problem
        else:
            kind, namespace, name = bad.key
            state.refuse(BrokenObject(kind=kind, namespace=namespace, name=name, error=bad.problem))


def _is_one(obj: KubeObject, pods: Container[tuple[str, str]]) -> bool:
    return isinstance(obj, Pod) and _key(obj) in pods


def _bare(
    objects: Iterable[KubeObject], invalid: Container[tuple[str, str]]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield of each pod that waits in vain as much as tells that it is there."""
    for one in objects:
        if isinstance(one, Pod) and _key(one) in invalid and not one.spec.node_name:
            metadata = one.metadata
            names = {"namespace": metadata.namespace, "name": metadata.name, "uid": metadata.uid}
            yield "Pod", {"metadata": {key: text for key, text in names.items() if text}}


def _check(one: FileObject) -> None:
    """Raise what is wrong with an object; pods are looked at together, when they are all there."""
    _convert(one.obj)
    if one.problem is not None and not _tells_itself(one.obj):
        raise one.problem


def _tells_itself(obj: KubeObject) -> bool:
    """Tell whether planning has words of its own, too, for what is wrong: why nothing is bought.

    The API server's words about an overlay are those of its status.
    """
    if isinstance(obj, NodePool):
        return bool(nodepool(obj).problems)
    return isinstance(obj, NodeOverlay | Pod)


def _convert(obj: KubeObject) -> None:
    match obj:
        case Node():
            node_view(obj, None, None)
        case NodePool():
            nodepool(obj)
        case PodDisruptionBudget():
            pod_disruption_budget(obj)
        case DaemonSet():
            daemon_shape(obj, None, _NO_CLASSES)
        case ProvisioningRequest():
            wanted(obj)
        case NodeClaim():
            for problem in nodeclaim(obj)[1]:
                raise problem


def _invalid(
    objects: Iterable[FileObject],
    replicas: Iterable[KubeObject],
    invalid: Mapping[tuple[str, str], InvalidRequest],
) -> Iterator[Refused]:
    """Yield the pods that turned out to be illegible, and the workloads whose replicas are."""
    if not invalid:
        return
    by_key = {(kind_of(o.obj), *_key(o.obj)): o for o in objects}
    for key, problem in invalid.items():
        if (one := by_key.get(("Pod", *key))) is not None:
            yield refused(one, problem)
    blamed = set()
    for made in replicas:
        if isinstance(made, Pod) and _key(made) in invalid:
            owner = made.metadata.owner_references[0]
            workload = owner.kind, made.metadata.namespace, owner.name
            if workload not in blamed:
                blamed.add(workload)
                yield refused(by_key[workload], invalid[_key(made)].under("spec.template"))


def _key(obj: KubeObject) -> tuple[str, str]:
    return obj.metadata.namespace, obj.metadata.name


def _wanted_classes(objects: Iterable[FileObject], state: ClusterState) -> tuple[NodeClassRef, ...]:
    given = {
        NodeClassRef(group=one.obj.group, kind=one.obj.kind, name=one.obj.metadata.name)
        for one in objects
        if isinstance(one.obj, NodeClass)
    }
    listed_kinds = {(one.group, one.kind) for one in given}
    return tuple(
        one
        for one in state.node_classes()
        if one in given or (one.group, one.kind) not in listed_kinds
    )
