"""From parsed files to a `ClusterState`: what `joiner plan`, `check` and the tests read.

Apart from the state because files are read as a person means them: a workload stands for its pods,
an unbound pod waits although no scheduler has said so, an absent NodePool is made up. Whatever is
assumed or left out is said in a note.

Laws:
    - An object that is illegible is an error that names source, object and field: a file can be
      mended, unlike a live cluster. What only leads nowhere (a claim that is not there) is not: the
      pod is set aside in the snapshot, as in a live cluster. Nor is an overlay that breaks its
      rules: it is not in force and the plan says why, as its status would.
    - The order of objects does not matter, but for two with one name (`documents`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from libs.cluster.documents import FileObject, objects_of
from libs.cluster.replicas import missing_replicas
from libs.cluster.requests import requested
from libs.cluster.state import ClusterState, StateOptions
from libs.domain import feature_gates
from libs.domain.capacity import NodeClassRef
from libs.domain.errors import InvalidRequest
from libs.domain.feature_gates import FeatureGate
from libs.domain.topology import TopologySpread
from libs.kube.convert.node import node_view
from libs.kube.convert.nodeclaim import nodeclaim
from libs.kube.convert.nodepool import nodepool
from libs.kube.convert.provisioning import wanted
from libs.kube.convert.template import Admission, daemon_shape
from libs.kube.convert.workload import pod_disruption_budget
from libs.kube.objects.decoding import from_document
from libs.kube.objects.karpenter import NodeClaim, NodeClass, NodePool
from libs.kube.objects.kinds import KubeObject, kind_of
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod
from libs.kube.objects.policy import PodDisruptionBudget, PriorityClass, RuntimeClass
from libs.kube.objects.provisioning import ProvisioningRequest
from libs.kube.objects.workload import DaemonSet

DEFAULT_POOL = "default"
FROM_FILES = StateOptions(offline=True)

_NO_CLASSES = Admission(runtimes={}, priorities={})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedCluster:
    """A cluster out of files."""

    state: ClusterState
    node_classes: tuple[NodeClassRef, ...]
    """Classes that want a catalogue: all that pools and claims name, but for those that are
    missing among node classes of their kind in the input."""
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
        InvalidRequest: a document that is no object, or an object that is illegible; names source,
            object and field.
    """
    read = objects_of(documents)
    state = ClusterState(options)
    _check_uids(read.objects)
    for one in read.objects:
        _check(one)
        state.upsert(one.obj)
    added, assumptions = _add_replicas(read.objects, state)
    notes = [*read.notes, *assumptions]
    if not any(isinstance(one.obj, NodePool) for one in read.objects):
        state.upsert(_default_pool(default_class))
        notes.append(
            f'no NodePool in the input: one named "{DEFAULT_POOL}" for Linux nodes of any type '
            "is assumed"
        )
    _check_pods(read.objects, added, state)
    return LoadedCluster(
        state=state,
        node_classes=_wanted_classes(read.objects, state),
        notes=tuple(notes),
        documents=(
            *((kind_of(one.obj), one.plain) for one in read.objects),
            *((kind_of(one), msgspec.to_builtins(one)) for one in added),
        ),
    )


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


def _check_uids(objects: Iterable[FileObject]) -> None:
    """Refuse two pods of one identity, of which planning would see but one."""
    seen: dict[str, FileObject] = {}
    for one in objects:
        uid = one.obj.metadata.uid
        if not isinstance(one.obj, Pod) or not uid:
            continue
        if uid in seen:
            raise InvalidRequest(
                f"is also that of {seen[uid].shown}", field=f"{one.shown}: metadata.uid"
            )
        seen[uid] = one


def _check(one: FileObject) -> None:
    """Convert an object for its errors; pods are checked together, when they are all there."""
    obj = one.obj
    try:
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
    except InvalidRequest as error:
        raise _located(error, one) from None


def _check_pods(
    objects: Iterable[FileObject], replicas: Iterable[KubeObject], state: ClusterState
) -> None:
    invalid = state.invalid_pods()
    if not invalid:
        return
    key, error = invalid[0]
    by_key = {(kind_of(o.obj), o.obj.metadata.namespace, o.obj.metadata.name): o for o in objects}
    one = by_key.get(("Pod", *key))
    if one is not None:
        raise _located(error, one)
    made = next(r for r in replicas if isinstance(r, Pod) and _key(r) == key)
    owner = made.metadata.owner_references[0]
    workload = by_key[owner.kind, made.metadata.namespace, owner.name]
    raise _located(error.under("spec.template"), workload)


def _key(pod: Pod) -> tuple[str, str]:
    return pod.metadata.namespace, pod.metadata.name


def _located(error: InvalidRequest, one: FileObject) -> InvalidRequest:
    return InvalidRequest(error.detail, field=f"{one.shown}: {error.field}")


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
