"""Plugin VolumeBinding: every claim of the pod is bound, or can be bound, where the node is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.plugin import NodeTest, PodRefused
from libs.oracle.migration import is_migrated, required_affinity
from libs.oracle.node_selectors import NodePredicate, read_node_selector
from libs.oracle.objects import (
    KubeObject,
    annotations_of,
    key_of,
    metadata_of,
    spec_of,
    status_of,
    storage_class_of,
)
from libs.oracle.pods import Pod
from libs.oracle.volume_matching import (
    BOUND_ANNOTATION,
    SELECTED_NODE_ANNOTATION,
    can_provision,
    has_capacity,
    match_static,
    requested,
)

_NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
_BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
_NO_SPACE = "node(s) did not have enough free storage"
_NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
_REASONS = (_NODE_CONFLICT, _BIND_CONFLICT, _NO_SPACE, _NO_VOLUME)
_UNBOUND_IMMEDIATE = PodRefused("pod has unbound immediate PersistentVolumeClaims")


def prepare(cluster: Cluster, pod: Pod) -> NodeTest | PodRefused | None:
    """Refuse nodes that a bound volume does not reach, or where a delayed claim cannot be bound."""
    if not pod.claims:
        return None
    for claim in pod.claims:
        problem = _problem(cluster, pod, claim.key, is_ephemeral=claim.is_ephemeral)
        if problem:
            return PodRefused(problem)
    claims = [cluster.claims[claim.key] for claim in pod.claims]
    volumes = [_bound(cluster, claim) for claim in claims if is_bound(claim)]
    delayed = [claim for claim in claims if not is_bound(claim)]
    if not all(waits_for_consumer(cluster, claim) for claim in delayed):
        return _UNBOUND_IMMEDIATE

    def test(node: Node) -> tuple[str, ...]:
        found = {
            _bound_problem(volumes, cluster.csi_nodes.get(node.name), node),
            _binding_problem(cluster, delayed, node),
        }
        return tuple(reason for reason in _REASONS if reason in found)

    return test


def is_bound(claim: KubeObject) -> bool:
    """Tell whether the claim has its volume for good."""
    return bool(spec_of(claim).get("volumeName")) and BOUND_ANNOTATION in annotations_of(claim)


def waits_for_consumer(cluster: Cluster, claim: KubeObject) -> bool:
    """Tell whether an unbound claim is bound only when its pod has a node."""
    storage_class = cluster.storage_classes.get(storage_class_of(claim))
    return (
        storage_class is not None
        and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
        and not spec_of(claim).get("volumeName")
    )


def _problem(cluster: Cluster, pod: Pod, key: str, *, is_ephemeral: bool) -> str | None:
    name = key.partition("/")[2]
    claim = cluster.claims.get(key)
    if claim is None and is_ephemeral:
        return (
            f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
        )
    if claim is None:
        return f'persistentvolumeclaim "{name}" not found'
    if status_of(claim).get("phase") == "Lost":
        volume = spec_of(claim).get("volumeName") or ""
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"'
    if metadata_of(claim).get("deletionTimestamp"):
        return f'persistentvolumeclaim "{name}" is being deleted'
    if is_ephemeral and not _owns(pod, claim):
        return f"PVC {key} was not created for pod {pod.key} (pod is not owner)"
    return None


def _owns(pod: Pod, claim: KubeObject) -> bool:
    uid = metadata_of(pod.obj).get("uid")
    return any(
        owner.get("controller") and owner.get("uid") == uid
        for owner in metadata_of(claim).get("ownerReferences") or ()
    )


def _bound_problem(
    volumes: Iterable["_Bound | None"], csi_node: KubeObject | None, node: Node
) -> str:
    """Return what is the matter with the first bound volume that the node cannot use."""
    for bound in volumes:
        if bound is None:
            return _NO_VOLUME
        reaches = bound.as_migrated if is_migrated(bound.volume, csi_node) else bound.as_written
        if not reaches(node.labels, ""):
            return _NODE_CONFLICT
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bound:
    """A volume that a claim is bound to, and which nodes reach it."""

    volume: KubeObject
    as_written: NodePredicate
    as_migrated: NodePredicate
    """On nodes whose kubelet leaves it to a CSI driver."""


def _bound(cluster: Cluster, claim: KubeObject) -> _Bound | None:
    """Return the volume of a bound claim, None if it does not exist."""
    volume = cluster.volumes.get(spec_of(claim)["volumeName"])
    if volume is None:
        return None
    return _Bound(
        volume=volume,
        as_written=_reach(required_affinity(volume, as_migrated=False)),
        as_migrated=_reach(required_affinity(volume, as_migrated=True)),
    )


def _reach(required: KubeObject | None) -> NodePredicate:
    return read_node_selector(required) if required else _everywhere


def _everywhere(_labels: Mapping[str, str], _name: str) -> bool:
    return True


def _binding_problem(cluster: Cluster, delayed: list[KubeObject], node: Node) -> str:
    to_match, to_provision = [], []
    for claim in delayed:
        selected = annotations_of(claim).get(SELECTED_NODE_ANNOTATION)
        if selected is None:
            to_match.append(claim)
        elif selected == node.name:
            to_provision.append(claim)
        else:
            return _BIND_CONFLICT
    matched = match_static(cluster, to_match, node)
    to_match.sort(key=requested)
    to_provision += [claim for claim in to_match if key_of(claim) not in matched]
    for claim in to_provision:
        if not can_provision(cluster, claim, node):
            return _BIND_CONFLICT
        if not has_capacity(cluster, claim, node):
            return _NO_SPACE
    return ""
