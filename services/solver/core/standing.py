"""Standing capacity: nodes that exist and claims in flight, whose room and labels are given.

Apart because nothing here is open: a pod fits or it does not. A claim that is not launched yet
counts with the least that any type it may become offers, and takes a pod only if every node that
it may become could: what was planned for it fits again, and nothing is promised that the cloud
may not keep.

Source: `docs/sources.md` D3.4, D5.2, D6.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.reason import TargetKind
from libs.domain.requirements import Requirements
from libs.domain.resources import total
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.taint import Effect, Taint
from services.solver.core.ask import Ask
from services.solver.core.bearing import bears
from services.solver.core.domains import ABSENT, Domains
from services.solver.core.exclusion import Exclusive, exclusives
from services.solver.core.market import Market
from services.solver.core.possible import Possible, may_become
from services.solver.core.sums import summed
from services.solver.core.template import Template
from services.solver.core.vectors import MOST, Bools, Dimensions, Ints
from services.solver.core.workload import BoundPods, Workload

UNSCHEDULABLE = Taint(key="node.kubernetes.io/unschedulable", effect=Effect.NO_SCHEDULE)

_STARTED = {label_keys.REGISTERED: "true", label_keys.INITIALIZED: "true"}
"""Labels that whatever is on its start will have when pods come to it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StandingClass:
    """Bins that no label or taint that anyone asks for tells apart."""

    labels: Mapping[str, str]
    """Aliases resolved; keys that nobody asks for left out."""
    taints: tuple[Taint, ...]
    cordoned: bool
    """Not a taint where topology spread looks at taints."""
    possible: Possible | None = None
    """For a claim that is not launched; `labels` are then not all that is known."""

    def allows(self, requirements: Requirements) -> bool:
        """Tell whether the labels meet a pod's requirements, whatever the claim becomes."""
        if self.possible is None:
            return requirements.allows(self.labels)
        return all(self.possible.meets(one, self.labels) for one in requirements)

    def tolerated(self, ask: Ask) -> bool:
        """Tell whether a pod bears the taints."""
        taints = (*self.taints, UNSCHEDULABLE) if self.cordoned else self.taints
        return bears(ask.shape, taints, ask.effects)

    def domain(self, domains: Domains, key: str) -> int | None:
        """Return the topology domain as a set of one; None if it is still open."""
        value = self.labels.get(key)
        if value is not None:
            return domains.bits(key, (value,))
        if self.possible is None:
            return ABSENT
        own = self.possible.requirements.get(key)
        if own is None and key not in label_keys.WELL_KNOWN:
            return ABSENT
        outcomes = set(self.possible.outcomes(key))
        only = outcomes.pop() if len(outcomes) == 1 else own
        if only is not None and not only.complement and len(only.values) == 1:
            return domains.bits(key, only.values)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """All standing bins, in the order in which they are tried."""

    names: tuple[str, ...]
    kinds: tuple[TargetKind, ...]
    free: Ints
    """(n, n_resources): allocatable less pods and less daemons that are still to come."""
    class_of: Ints
    """(n,): index into `classes`."""
    classes: tuple[StandingClass, ...]
    taken: tuple[tuple[Exclusive, ...], ...]
    """What pods have for themselves, per bin."""
    hostnames: Bools
    """(n,): whether the bin has the hostname label."""
    attachable: Mapping[str, Ints]
    """Per CSI driver (n,): how many more volumes can be attached."""
    index: Mapping[str, int]
    """Bin by name of its node; claims are not in it."""
    shared_volumes: Mapping[str, tuple[int, ...]]
    """Bins that have a volume which several pods use, by its claim."""
    daemons: tuple[tuple[int, ...], ...]
    """Ids of the shapes of daemon pods that are still to come, per bin; none where the node is
    initialized, as then they would be there."""

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bin:
    name: str
    kind: TargetKind
    order: tuple[bool, bool, str]
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    cordoned: bool = False
    free: Ints
    taken: tuple[Exclusive, ...] = ()
    attachable: Mapping[str, int]
    possible: Possible | None = None
    daemons: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingInput:
    """What standing capacity is made of."""

    snapshot: ClusterSnapshot
    workload: Workload
    dimensions: Dimensions
    daemons: Mapping[str, Ask]
    keys: frozenset[str]
    """Label keys that any pod or daemon asks for."""
    templates: Mapping[str, Template]
    """By name of the pool."""
    market: Market
    """What claims in flight may become."""


def standing(given: StandingInput) -> Standing:
    """Return the nodes and claims in flight that pods may be placed on; leaving ones are not."""
    bins = sorted((*_node_bins(given), *_claim_bins(given)), key=lambda item: item.order)
    classes, class_of = _classes(bins, given.keys)
    index = {
        item.name: position for position, item in enumerate(bins) if item.kind is TargetKind.NODE
    }
    width = len(given.dimensions.names)
    drivers = sorted({driver for item in bins for driver in item.attachable})
    return Standing(
        names=tuple(item.name for item in bins),
        kinds=tuple(item.kind for item in bins),
        free=np.array([item.free for item in bins], np.int64).reshape(len(bins), width),
        class_of=class_of,
        classes=classes,
        taken=tuple(item.taken for item in bins),
        hostnames=np.array(
            [
                item.kind is TargetKind.NODECLAIM or label_keys.HOSTNAME in item.labels
                for item in bins
            ],
            np.bool_,
        ),
        attachable={
            driver: np.array([item.attachable.get(driver, MOST) for item in bins], np.int64)
            for driver in drivers
        },
        index=index,
        shared_volumes=_shared_volumes(given.workload.bound, index),
        daemons=tuple(item.daemons for item in bins),
    )


def _classes(bins: Iterable[_Bin], keys: frozenset[str]) -> tuple[tuple[StandingClass, ...], Ints]:
    """Return the classes, and the class of each bin, (n,); a claim not launched has its own."""
    numbers: dict[object, int] = {}
    found: list[StandingClass] = []
    class_of: list[int] = []
    for item in bins:
        labels = {key: item.labels[key] for key in sorted(keys & item.labels.keys())}
        own = item.name if item.possible else None
        content = (tuple(labels.items()), item.taints, item.cordoned, own)
        if content not in numbers:
            numbers[content] = len(found)
            found.append(
                StandingClass(
                    labels=labels,
                    taints=item.taints,
                    cordoned=item.cordoned,
                    possible=item.possible,
                )
            )
        class_of.append(numbers[content])
    return tuple(found), np.array(class_of, np.int64)


def _shared_volumes(bound: BoundPods, index: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    found: dict[str, set[int]] = defaultdict(set)
    for shape, node, _ in bound.of_shapes(lambda shape: bool(shape.shared_volumes)):
        if node in index:
            for one in shape.shared_volumes:
                found[one.claim].add(index[node])
    return {claim: tuple(sorted(positions)) for claim, positions in found.items()}


def _node_bins(given: StandingInput) -> Iterable[_Bin]:
    taken = _taken(given)
    there = given.workload.daemons
    row_of = {key: row for row, key in enumerate(given.snapshot.daemonsets)}
    for position, node in enumerate(given.snapshot.nodes.values()):
        if node.leaving:
            continue
        labels = label_keys.canonical_labels(dict(node.labels))
        if not node.initialized:
            labels |= _STARTED
        missing = [
            ask.shape
            for key, ask in given.daemons.items()
            if not there[row_of[key], position] and _runs_on(ask, labels, node)
        ]
        free = given.dimensions.room(node.allocatable) - taken.of(node.name)
        for shape in missing:
            free = free - given.dimensions.requests(shape.requests)
        attached = taken.attached.get(node.name, {})
        yield _Bin(
            name=node.name,
            kind=TargetKind.NODE,
            order=(False, not node.initialized, node.name),
            labels=labels,
            taints=node.taints,
            cordoned=node.unschedulable,
            free=free,
            taken=(
                *taken.exclusives.get(node.name, ()),
                *(one for shape in missing for one in exclusives(shape)),
            ),
            attachable={
                limit.driver: limit.count - attached.get(limit.driver, 0)
                for limit in node.volume_limits
            },
            daemons=() if node.initialized else tuple(shape.id for shape in missing),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """What running pods take of each node."""

    index: Mapping[str, int]
    requests: Ints
    """(n_nodes + 1, n_resources); the last row is of nodes without pods."""
    exclusives: Mapping[str, list[Exclusive]]
    attached: Mapping[str, Mapping[str, int]]
    """Volumes by node and driver."""

    def of(self, node: str) -> Ints:
        position = self.index.get(node)
        row: Ints = self.requests[-1 if position is None else position]
        return row


def _taken(given: StandingInput) -> _Taken:
    bound = given.workload.bound
    width = len(given.dimensions.names)
    # The last row is for nodes without pods.
    requests = np.zeros((len(bound.nodes) + 1, width), np.int64)
    if len(bound.shapes):
        of_shape = np.array([given.dimensions.requests(one.requests) for one in bound.shapes])
        for column in range(width):
            asked = bound.count * of_shape[bound.shape, column]
            requests[:-1, column] = summed(bound.node, asked, len(bound.nodes))
    alone: dict[str, list[Exclusive]] = defaultdict(list)
    for shape, node, _ in bound.of_shapes(lambda shape: bool(exclusives(shape))):
        alone[node].extend(exclusives(shape))
    attached: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    once: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for shape, node, count in bound.of_shapes(lambda shape: bool(shape.volume_attach_counts)):
        for volume in shape.volume_attach_counts:
            shared = sum(one.driver == volume.driver for one in shape.shared_volumes)
            attached[node][volume.driver] += (volume.count - shared) * count
        for one in shape.shared_volumes:
            once[node].add((one.claim, one.driver))
    for node, volumes in once.items():
        for _, driver in volumes:
            attached[node][driver] += 1
    return _Taken(
        index={name: position for position, name in enumerate(bound.nodes)},
        requests=requests,
        exclusives=alone,
        attached=attached,
    )


def _claim_bins(given: StandingInput) -> Iterable[_Bin]:
    snapshot = given.snapshot
    with_node = {node.nodeclaim for node in snapshot.nodes.values()}
    for claim in snapshot.nodeclaims.values():
        going = claim.deleting_at is not None or claim.is_replaced(snapshot.nodeclaims)
        if claim.name in with_node or going:
            continue
        labels = label_keys.canonical_labels(dict(claim.labels)) | _STARTED
        # Its node will have a name, though nobody knows which.
        labels.setdefault(label_keys.HOSTNAME, claim.name)
        possible = None
        if not len(claim.allocatable):
            possible = may_become(claim, labels, given.market.of_claim(claim))
        daemons = [
            ask.shape for ask in given.daemons.values() if _may_run_on(ask, labels, claim, possible)
        ]
        overhead = given.dimensions.requests(total(shape.requests for shape in daemons))
        yield _Bin(
            name=claim.name,
            kind=TargetKind.NODECLAIM,
            order=(True, False, claim.name),
            labels=labels,
            taints=claim.taints,
            free=_claim_room(claim, possible, overhead, given),
            taken=tuple(one for shape in daemons for one in exclusives(shape)),
            attachable={},
            possible=possible,
            daemons=tuple(shape.id for shape in daemons),
        )


def _runs_on(ask: Ask, labels: Mapping[str, str], node: Node) -> bool:
    # The DaemonSet controller makes its pods tolerate a cordon.
    return bears(ask.shape, node.taints, ask.effects) and any(
        place.names_allow(node.name) and place.requirements.allows(labels) for place in ask.places
    )


def _may_run_on(
    ask: Ask, labels: Mapping[str, str], claim: NodeClaim, possible: Possible | None
) -> bool:
    """Tell whether a daemon pod could come to a claim in flight: in doubt it will."""
    if not bears(ask.shape, claim.taints, ask.effects):
        return False
    if possible is None:
        return any(place.requirements.allows(labels) for place in ask.places)
    return any(possible.requirements.has_intersection(place.requirements) for place in ask.places)


def _claim_room(
    claim: NodeClaim, possible: Possible | None, overhead: Ints, given: StandingInput
) -> Ints:
    """Return what is surely free for pods, by the measure by which the claim was bought."""
    if possible is None:
        return given.dimensions.room(claim.allocatable) - overhead
    if possible.columns is None or possible.offerings is None or not possible.offerings.any():
        # Nothing is known of its types: it has room for what it was bought for.
        return given.dimensions.room(claim.requests)
    template = given.templates.get(claim.nodepool)
    if template is not None and template.columns.offerings is possible.columns.offerings:
        columns = template.columns
        rows = np.unique(columns.row[possible.offerings])
        # Of types that the pool no longer buys the template does not know the daemons.
        if np.isin(rows, columns.row[template.offerings]).all():
            room: Ints = template.room[rows].min(axis=0)
            return room
    rows = np.unique(possible.columns.row[possible.offerings])
    least: Ints = possible.columns.matrix(given.dimensions.names)[rows].min(axis=0)
    return least - overhead
