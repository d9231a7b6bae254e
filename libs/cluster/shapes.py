"""Shapes by number: pods that ask for the same share one, found without converting each pod.

Apart because this is what makes a snapshot of many pods cheap: a pod's constraints are converted
once per distinct text, its shape is numbered once per distinct content.

Laws:
    - A number is never given twice in the life of a process; a shape keeps its number while used.
    - Equal raw shapes have one raw number, equal finished ones one id.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count

import msgspec

from libs.domain.device import DeviceClaim
from libs.domain.pod import HostPort, NodeTerm, PodShape, RequestField
from libs.domain.requirements import ANYTHING
from libs.domain.resources import NOTHING, Resources
from libs.domain.topology import TopologySpread
from libs.kube.convert.pod import constraints, sized
from libs.kube.convert.selectors import selected_keys
from libs.kube.convert.volume import NO_VOLUMES, PodVolumes
from libs.kube.objects.pod import Pod, PodSpec

Labels = tuple[tuple[str, str], ...]

_SPARE = 1000
_encoded = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawShape:
    """What a pod alone says of where it may run, and which labels its selectors read.

    There is one for equal contents, so that it is known by identity.
    """

    number: int
    shape: PodShape
    pod_keys: frozenset[str]
    namespace_keys: frozenset[str]


_ANYWHERE = NodeTerm(requirements=ANYTHING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What the rest of the cluster adds to a raw shape."""

    labels: Labels = ()
    volumes: PodVolumes = NO_VOLUMES
    device_claims: tuple[DeviceClaim, ...] = ()
    default_spread: tuple[TopologySpread, ...] = ()
    """Only for a shape that has no spread constraints of its own."""
    stays_on: str = ""
    """The node of a pod that runs but could not be placed anew; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Bare:
    """What pods have in common that differ in their containers only; one for equal contents."""

    shape: PodShape
    """Without what containers add: requests, ports, features."""
    pod_keys: frozenset[str]
    namespace_keys: frozenset[str]


_Value = tuple[_Bare, Resources, tuple[HostPort, ...], tuple[str, ...], tuple[RequestField, ...]]
"""The content of a raw shape."""


class Shapes:
    """All shapes that the pods of a cluster have, or had lately."""

    def __init__(self) -> None:
        self._raw_numbers = count(1)
        self._shape_ids = count(1)
        self._by_text: dict[bytes, RawShape] = {}
        self._by_value: dict[_Value, RawShape] = {}
        self._bare_by_text: dict[bytes, _Bare] = {}
        self._bare: dict[PodShape, _Bare] = {}
        self._ids: dict[tuple[int, Completion], PodShape] = {}
        self._plain: dict[tuple[int, Labels], PodShape] = {}

    def raw(self, pod: Pod) -> RawShape:
        """Return the raw shape of a pod.

        Raises:
            InvalidRequest: a field that Kubernetes refuses.
        """
        text, rest = _text(pod), _text_of_containers(pod)
        found = self._by_text.get(text + rest)
        if found is None:
            bare = self._bare_by_text.get(text)
            if bare is None:
                bare = self._bare_by_text[text] = self._bare_of(constraints(pod))
            found = self._by_text[text + rest] = self._intern(bare, sized(bare.shape, pod))
        return found

    def intern(self, shape: PodShape) -> RawShape:
        """Return the raw shape with this content."""
        bare = replace(
            shape, requests=NOTHING, host_ports=(), required_features=(), request_fields=()
        )
        return self._intern(self._bare_of(bare), shape)

    def _bare_of(self, shape: PodShape) -> "_Bare":
        found = self._bare.get(shape)
        if found is None:
            found = self._bare[shape] = _Bare(
                shape=shape, pod_keys=_pod_keys(shape), namespace_keys=_namespace_keys(shape)
            )
        return found

    def _intern(self, bare: "_Bare", shape: PodShape) -> RawShape:
        value = (
            bare,
            shape.requests,
            shape.host_ports,
            shape.required_features,
            shape.request_fields,
        )
        found = self._by_value.get(value)
        if found is None:
            found = self._by_value[value] = RawShape(
                number=next(self._raw_numbers),
                shape=shape,
                pod_keys=bare.pod_keys,
                namespace_keys=bare.namespace_keys,
            )
        return found

    def labelled(self, raw: RawShape, labels: Labels) -> PodShape:
        """Return the numbered shape of pods to which the cluster adds no more than labels."""
        found = self._plain.get((raw.number, labels))
        if found is None:
            found = self._plain[raw.number, labels] = self.finish(raw, Completion(labels=labels))
        return found

    def finish(self, raw: RawShape, completion: Completion) -> PodShape:
        """Return the numbered shape."""
        key = raw.number, completion
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = replace(
                raw.shape,
                id=next(self._shape_ids),
                labels=completion.labels,
                topology_spread=raw.shape.topology_spread or completion.default_spread,
                required_node_terms=(
                    held_on(completion.stays_on, raw.shape.required_node_terms)
                    if completion.stays_on
                    else raw.shape.required_node_terms
                ),
                volumes=completion.volumes.topology,
                volume_attach_counts=completion.volumes.attached,
                shared_volumes=completion.volumes.shared,
                exclusive_disks=completion.volumes.exclusive,
                storage_rooms=completion.volumes.rooms,
                unbound_claims=completion.volumes.unbound,
                device_claims=completion.device_claims,
            )
        return found

    def prune(self, raws: Iterable[RawShape], finished: Mapping[int, PodShape]) -> None:
        """Forget shapes that are not used, once they are many."""
        used = {raw.number for raw in raws}
        if len(self._by_text) > 2 * len(used) + _SPARE:
            self._by_text = {t: raw for t, raw in self._by_text.items() if raw.number in used}
            self._by_value = {v: raw for v, raw in self._by_value.items() if raw.number in used}
            kept = {bare for bare, *_ in self._by_value}
            self._bare = {shape: bare for shape, bare in self._bare.items() if bare in kept}
            self._bare_by_text = {t: bare for t, bare in self._bare_by_text.items() if bare in kept}
        if len(self._ids) > 2 * len(finished) + _SPARE:
            self._ids = {key: one for key, one in self._ids.items() if one.id in finished}
            self._plain = {key: one for key, one in self._plain.items() if one.id in finished}


def held_on(node: str, terms: tuple[NodeTerm, ...] = ()) -> tuple[NodeTerm, ...]:
    """Return the terms of a pod that runs, and of which nobody knows where else it may."""
    return tuple(replace(one, node_names=(node,)) for one in terms or (_ANYWHERE,))


def filtered(labels: Mapping[str, str], keys: frozenset[str]) -> Labels:
    """Return the labels that some selector reads, sorted."""
    there = keys.intersection(labels)
    return tuple([(key, labels[key]) for key in sorted(there)]) if there else ()


def _text(pod: Pod) -> bytes:
    """Return a text that is equal for pods whose constraints, as `constraints` reads them, are."""
    spec, labels = pod.spec, pod.metadata.labels
    return _encode(
        (
            pod.metadata.namespace,
            [(key, labels.get(key)) for key in _own_label_keys(spec)],
            spec.node_selector,
            spec.affinity,
            spec.tolerations,
            spec.topology_spread_constraints,
        )
    )


def _encode(read: object) -> bytes:
    """Return a text that is equal for what is equal."""
    try:
        return _encoded(read)
    except OverflowError:  # a quantity may be written as an integer of any length
        return repr(read).encode()


def _text_of_containers(pod: Pod) -> bytes:
    """Return a text that is equal for pods whose containers, as `sized` reads them, are."""
    spec = pod.spec
    bound: tuple[object, ...] = ()
    if spec.node_name:
        status = pod.status
        resizing = [one.reason for one in status.conditions if one.type == "PodResizePending"]
        bound = (
            status.container_statuses,
            status.init_container_statuses,
            status.resources,
            status.allocated_resources,
            resizing,
        )
    return _encode(
        (
            spec.containers,
            spec.init_containers,
            spec.resources,
            spec.overhead,
            spec.runtime_class_name if spec.overhead else "",
            spec.host_network,
            spec.host_users,
            bound,
        )
    )


def _own_label_keys(spec: PodSpec) -> list[str]:
    """Return the keys whose value on the pod itself narrows one of its selectors."""
    found: set[str] = set()
    for constraint in spec.topology_spread_constraints:
        found.update(constraint.match_label_keys)
    for affinity in (spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity):
        for term in affinity.required:
            found.update(term.match_label_keys, term.mismatch_label_keys)
        for weighted in affinity.preferred:
            term = weighted.pod_affinity_term
            found.update(term.match_label_keys, term.mismatch_label_keys)
    return sorted(found) if found else []


def _pod_keys(shape: PodShape) -> frozenset[str]:
    return selected_keys(
        (
            *(one.selector for one in shape.topology_spread),
            *(one.selector for one in (*shape.affinity, *shape.anti_affinity)),
            *(
                one.term.selector
                for one in (*shape.preferred_affinity, *shape.preferred_anti_affinity)
            ),
        )
    )


def _namespace_keys(shape: PodShape) -> frozenset[str]:
    return selected_keys(
        (
            *(one.namespace_selector for one in (*shape.affinity, *shape.anti_affinity)),
            *(
                one.term.namespace_selector
                for one in (*shape.preferred_affinity, *shape.preferred_anti_affinity)
            ),
        )
    )
