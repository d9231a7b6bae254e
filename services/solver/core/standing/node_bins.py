"""The nodes that pods may be placed on, as columns.

Apart from claims in flight because a node is what it is: it is counted by its kind, and what runs
on it is subtracted.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from libs.domain.requirements import Requirements
from services.solver.core.exclusion import Exclusive, exclusives
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.bearing import bears
from services.solver.core.reading.bound_pods import BoundPods
from services.solver.core.reading.node_columns import NodeKind
from services.solver.core.standing.standing_input import StandingInput
from services.solver.core.vectors import MOST, Bools, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeBins:
    """Nodes that are not leaving, in columns of equal length (n,), in the order they are tried."""

    rows: "_Rows"
    free: Ints
    """(n, n_resources): allocatable less pods and less daemons that are still to come."""
    taken: Mapping[int, tuple[Exclusive, ...]]
    """What pods have for themselves, by position; nothing where there is no entry."""
    attachable: Mapping[str, Ints]
    """Per CSI driver (n,): how many more volumes can be attached."""
    daemons: Mapping[int, tuple[int, ...]]
    """Ids of the shapes of daemon pods that are still to come, of nodes on their start."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rows:
    """The same nodes, as far as pods do not matter."""

    order: Ints
    """Which of all nodes each is."""
    names: tuple[str, ...]
    codes: Ints
    """Of the names."""
    kinds: tuple[NodeKind, ...]
    kind_of: Ints
    """Index into `kinds`."""

    def by_kind(self, name: str) -> Bools:
        """Return (n,): a property of their kinds."""
        return np.array([getattr(kind, name) for kind in self.kinds], np.bool_)[self.kind_of]


def node_bins(given: StandingInput) -> NodeBins:
    """Return the nodes that pods may be placed on; leaving ones are not."""
    rows = _rows(given)
    coming = _coming(given, rows)
    return NodeBins(
        rows=rows,
        free=_free(given, rows, coming),
        taken=_taken(given, rows, coming),
        attachable=_attachable(given.workload.bound, rows),
        daemons=_on_start(given, coming, ~rows.by_kind("initialized")),
    )


def _rows(given: StandingInput) -> _Rows:
    nodes = given.nodes
    stays, initialized = ~nodes.has("leaving"), nodes.has("initialized")
    kinds, kind_of = nodes.kinds(given.known, np.flatnonzero(stays))
    order = np.flatnonzero(stays & initialized)
    if len(order) < len(kind_of):
        order = np.concatenate([order, np.flatnonzero(stays & ~initialized)])
    names = nodes.names
    in_order = len(order) == len(names) and (order[:-1] < order[1:]).all()
    return _Rows(
        order=order,
        names=names if in_order else tuple(map(names.__getitem__, order.tolist())),
        codes=nodes.codes("name")[order],
        kinds=kinds,
        kind_of=kind_of[np.cumsum(stays)[order] - 1],
    )


def _coming(given: StandingInput, rows: _Rows) -> Bools:
    """Return (n_daemons, n): to which nodes a daemon's pod is still to come."""
    found = np.zeros((len(given.daemons), len(rows.order)), np.bool_)
    row_of = {key: row for row, key in enumerate(given.snapshot.daemonsets)}
    for row, (key, ask) in enumerate(given.daemons.items()):
        there = given.workload.daemons[row_of[key]][rows.order]
        found[row] = _runs_on(ask, rows) & ~there
        if ask.shape.device_claims:
            for bin_ in np.flatnonzero(found[row]).tolist():
                node = given.snapshot.nodes[rows.names[bin_]]
                found[row, bin_] = given.devices.on_node(ask.shape, node)
    return found


def _runs_on(ask: Ask, rows: _Rows) -> Bools:
    """Return (n,): where the pods of a DaemonSet run."""
    # The DaemonSet controller makes its pods tolerate a cordon.
    borne = [bears(ask.shape, kind.taints, ask.effects) for kind in rows.kinds]
    found = np.zeros(len(rows.order), np.bool_)
    for place in ask.places:
        here = _meeting(place.requirements, rows.kinds, borne)[rows.kind_of]
        if place.node_names is not None or place.excluded_node_names:
            here &= np.array([place.names_allow(name) for name in rows.names], np.bool_)
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


def _free(given: StandingInput, rows: _Rows, coming: Bools) -> Ints:
    """Return (n, n_resources)."""
    found = np.empty((len(rows.order), len(given.dimensions.names)), np.int64)
    for column, name in enumerate(given.dimensions.names):
        held = given.workload.bound.held(name, rows.codes)
        found[:, column] = given.nodes.room(name)[rows.order] - held
    for row, ask in enumerate(given.daemons.values()):
        if coming[row].any():
            found[coming[row]] -= given.dimensions.requests(ask.shape.requests)
    return found


def _taken(given: StandingInput, rows: _Rows, coming: Bools) -> dict[int, tuple[Exclusive, ...]]:
    """Return what pods, daemons that are still to come included, have for themselves."""
    found: dict[int, list[Exclusive]] = defaultdict(list)
    bound, position = given.workload.bound, positions(rows.codes, given.workload.bound)
    for shape, node, _ in bound.of_shapes(lambda shape: bool(exclusives(shape))):
        if position[node] >= 0:
            found[int(position[node])].extend(exclusives(shape))
    for row, ask in enumerate(given.daemons.values()):
        if own := exclusives(ask.shape):
            for bin_ in np.flatnonzero(coming[row]).tolist():
                found[bin_].extend(own)
    return {bin_: tuple(own) for bin_, own in found.items()}


def _on_start(given: StandingInput, coming: Bools, starting: Bools) -> dict[int, tuple[int, ...]]:
    """Return the ids of the shapes of the daemons that are still to come to nodes on their start.

    Where the node is initialized they would be there.
    """
    ids = [ask.shape.id for ask in given.daemons.values()]
    return {
        bin_: tuple(ids[row] for row in np.flatnonzero(coming[:, bin_]).tolist())
        for bin_ in np.flatnonzero(coming.any(axis=0) & starting).tolist()
    }


def _attachable(bound: BoundPods, rows: _Rows) -> dict[str, Ints]:
    limits = [{one.driver: one.count for one in kind.volume_limits} for kind in rows.kinds]
    drivers = sorted(set().union(*limits))
    attached = _attached(bound) if drivers else {}
    position = positions(rows.codes, bound)
    found = {}
    for driver in drivers:
        room = np.array([one.get(driver, MOST) for one in limits], np.int64)[rows.kind_of]
        for node, count in attached.get(driver, {}).items():
            bin_ = position[node]
            if bin_ >= 0 and room[bin_] != MOST:
                room[bin_] -= count
        found[driver] = room
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


def positions(codes: Ints, bound: BoundPods) -> Ints:
    """Return by code of a node, of all that pods may have, its place among these, or -1."""
    found = np.full(len(bound.codes), -1, np.int64)
    found[codes] = np.arange(len(codes))
    found[0] = -1
    return found
