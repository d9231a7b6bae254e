"""The nodes that pods may be placed on, as columns.

Apart from claims in flight because a node is what it is: it is counted by its kind, and what runs
on it is subtracted.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from libs.domain.requirements import Requirements
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.ask import Ask
from services.solver.core.bearing import bears
from services.solver.core.exclusion import Exclusive, exclusives
from services.solver.core.node_kinds import NodeKind
from services.solver.core.standing_input import StandingInput
from services.solver.core.sums import totals
from services.solver.core.vectors import MOST, Bools, Ints
from services.solver.core.workload import BoundPods

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeBins:
    """Nodes that are not leaving, in columns of equal length (n,), in the order they are tried."""

    names: tuple[str, ...]
    kinds: tuple[NodeKind, ...]
    kind_of: Ints
    """Index into `kinds`."""
    free: Ints
    """(n, n_resources): allocatable less pods and less daemons that are still to come."""
    taken: Mapping[int, tuple[Exclusive, ...]]
    """What pods have for themselves, by position; nothing where there is no entry."""
    attachable: Mapping[str, Ints]
    """Per CSI driver (n,): how many more volumes can be attached."""
    daemons: Mapping[int, tuple[int, ...]]
    """Ids of the shapes of daemon pods that are still to come, of nodes on their start."""


def node_bins(given: StandingInput) -> NodeBins:
    """Return the nodes that pods may be placed on; leaving ones are not."""
    kinds, kind_of = given.reader.of(tuple(given.snapshot.nodes.values()))
    leaving, initialized = (
        np.array([getattr(kind, name) for kind in kinds], np.bool_)[kind_of]
        for name in ("leaving", "initialized")
    )
    order = np.flatnonzero(~leaving & initialized)
    if len(order) < len(kind_of):
        order = np.concatenate([order, np.flatnonzero(~leaving & ~initialized)])
    coming = _coming(given, kinds, kind_of)
    names = tuple(given.snapshot.nodes)
    used, kind_in_use = np.unique(kind_of[order], return_inverse=True)
    return NodeBins(
        names=tuple(map(names.__getitem__, order.tolist())),
        kinds=tuple(map(kinds.__getitem__, used.tolist())),
        kind_of=kind_in_use,
        free=_free(given, kinds, kind_of, coming)[order],
        taken=_by_position(_taken(given, coming), order),
        attachable=_attachable(given.workload.bound, kinds, kind_of, order),
        daemons=_by_position(_on_start(given, coming, ~initialized), order),
    )


def _coming(given: StandingInput, kinds: Sequence[NodeKind], kind_of: Ints) -> Bools:
    """Return (n_daemons, n_nodes): to which nodes a daemon's pod is still to come."""
    found = np.zeros((len(given.daemons), len(kind_of)), np.bool_)
    row_of = {key: row for row, key in enumerate(given.snapshot.daemonsets)}
    for row, (key, ask) in enumerate(given.daemons.items()):
        there = given.workload.daemons[row_of[key]]
        found[row] = _runs_on(ask, given.snapshot, kinds, kind_of) & ~there
    return found


def _runs_on(
    ask: Ask, snapshot: ClusterSnapshot, kinds: Sequence[NodeKind], kind_of: Ints
) -> Bools:
    """Return (n_nodes,): where the pods of a DaemonSet run."""
    # The DaemonSet controller makes its pods tolerate a cordon.
    borne = [bears(ask.shape, kind.taints, ask.effects) for kind in kinds]
    found = np.zeros(len(kind_of), np.bool_)
    for place in ask.places:
        here = _meeting(place.requirements, kinds, borne)[kind_of]
        if place.node_names is not None or place.excluded_node_names:
            here &= np.array([place.names_allow(name) for name in snapshot.nodes], np.bool_)
        found |= here
    return found


def _meeting(requirements: Requirements, kinds: Sequence[NodeKind], borne: Sequence[bool]) -> Bools:
    return np.array(
        [
            bears_it and requirements.allows(dict(kind.labels))
            for kind, bears_it in zip(kinds, borne, strict=True)
        ],
        np.bool_,
    )


def _free(given: StandingInput, kinds: Sequence[NodeKind], kind_of: Ints, coming: Bools) -> Ints:
    """Return (n_nodes, n_resources)."""
    width, bound = len(given.dimensions.names), given.workload.bound
    rooms = np.array([kind.room for kind in kinds], np.int64).reshape(-1, width)
    found: Ints = rooms[kind_of]
    amounts = np.array(given.requests.of_all(bound.shapes), np.int64).reshape(-1, width)
    found -= totals(bound.node, bound.shape, amounts, len(kind_of))
    for row, ask in enumerate(given.daemons.values()):
        if coming[row].any():
            found[coming[row]] -= given.dimensions.requests(ask.shape.requests)
    return found


def _taken(given: StandingInput, coming: Bools) -> dict[int, tuple[Exclusive, ...]]:
    """Return what pods, daemons that are still to come included, have for themselves, by node."""
    found: dict[int, list[Exclusive]] = defaultdict(list)
    for shape, node, _ in given.workload.bound.of_shapes(lambda shape: bool(exclusives(shape))):
        found[node].extend(exclusives(shape))
    for row, ask in enumerate(given.daemons.values()):
        if own := exclusives(ask.shape):
            for node in np.flatnonzero(coming[row]).tolist():
                found[node].extend(own)
    return {node: tuple(own) for node, own in found.items()}


def _on_start(given: StandingInput, coming: Bools, starting: Bools) -> dict[int, tuple[int, ...]]:
    """Return the ids of the shapes of the daemons that are still to come, by node on its start.

    Where the node is initialized they would be there.
    """
    ids = [ask.shape.id for ask in given.daemons.values()]
    return {
        node: tuple(ids[row] for row in np.flatnonzero(coming[:, node]).tolist())
        for node in np.flatnonzero(coming.any(axis=0) & starting).tolist()
    }


def _attachable(
    bound: BoundPods, kinds: Sequence[NodeKind], kind_of: Ints, order: Ints
) -> dict[str, Ints]:
    limits = [{one.driver: one.count for one in kind.volume_limits} for kind in kinds]
    drivers = sorted(set().union(*limits))
    attached = _attached(bound) if drivers else {}
    found = {}
    for driver in drivers:
        room = np.array([one.get(driver, MOST) for one in limits], np.int64)[kind_of]
        for node, count in attached.get(driver, {}).items():
            if room[node] != MOST:
                room[node] -= count
        found[driver] = room[order]
    return found


def _attached(bound: BoundPods) -> Mapping[str, Mapping[int, int]]:
    """Return how many volumes are attached, by driver and node: those of several pods once."""
    found: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    once: set[tuple[int, str, str]] = set()
    for shape, node, count in bound.of_shapes(lambda shape: bool(shape.volume_attach_counts)):
        for volume in shape.volume_attach_counts:
            shared = sum(one.driver == volume.driver for one in shape.shared_volumes)
            found[volume.driver][node] += (volume.count - shared) * count
        once.update((node, one.claim, one.driver) for one in shape.shared_volumes)
    for node, _, driver in once:
        found[driver][node] += 1
    return found


def _by_position(by_node: Mapping[int, T], order: Ints) -> dict[int, T]:
    """Return by position in the order what is known by node; of nodes not in it nothing."""
    if not by_node:
        return {}
    position = {node: at for at, node in enumerate(order.tolist())}
    return {position[node]: one for node, one in by_node.items() if node in position}
