"""Standing capacity: nodes that exist and claims in flight, whose room and labels are given.

Apart because nothing here is open: a pod fits or it does not. A claim that is not launched yet
counts with the least that any type it may become offers, and takes a pod only if every node that
it may become could: what was planned for it fits again, and nothing is promised that the cloud
may not keep.

Source: `docs/sources.md` D3.4, D5.2, D6.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.reason import TargetKind
from libs.domain.requirements import Requirements
from libs.domain.taint import Effect, Taint
from services.solver.core.domains import ABSENT, Domains
from services.solver.core.exclusion import Exclusive
from services.solver.core.offers.possible import Possible
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.bearing import bears
from services.solver.core.reading.bound_pods import BoundPods
from services.solver.core.reading.node_columns import NodeKind
from services.solver.core.standing.claim_bins import ClaimBin, claim_bins
from services.solver.core.standing.node_bins import node_bins, positions
from services.solver.core.standing.standing_input import StandingInput
from services.solver.core.vectors import MOST, Bools, Ints

T = TypeVar("T")

UNSCHEDULABLE = Taint(key="node.kubernetes.io/unschedulable", effect=Effect.NO_SCHEDULE)


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
    codes: Ints
    """(n,): codes of the names of the nodes, by which pods are on them; 0 for claims."""
    shared_volumes: Mapping[str, tuple[int, ...]]
    """Bins that have a volume which several pods use, by its claim."""
    daemons: tuple[tuple[int, ...], ...]
    """Ids of the shapes of daemon pods that are still to come, per bin; none where the node is
    initialized, as then they would be there."""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def nodes(self) -> int:
        """Return how many of the bins, the first ones, are nodes; the others are claims."""
        return self.kinds.count(TargetKind.NODE)


def standing(given: StandingInput) -> Standing:
    """Return the nodes and claims in flight that pods may be placed on; leaving ones are not."""
    nodes, claims = node_bins(given), sorted(claim_bins(given), key=lambda claim: claim.name)
    classes, rows = _Classes(given.keys), nodes.rows
    of_kind = np.array([classes.of_kind(kind) for kind in rows.kinds], np.int64)
    of_claim = np.array([classes.of_claim(claim) for claim in claims], np.int64)
    width = len(given.dimensions.names)
    unlimited = np.full(len(claims), MOST, np.int64)
    first = len(rows.names)
    codes = np.concatenate([rows.codes, np.zeros(len(claims), np.int64)])
    return Standing(
        names=(*rows.names, *(claim.name for claim in claims)),
        kinds=(TargetKind.NODE,) * first + (TargetKind.NODECLAIM,) * len(claims),
        free=np.vstack([nodes.free, *(claim.free for claim in claims)]).reshape(-1, width),
        class_of=np.concatenate([of_kind[rows.kind_of], of_claim]),
        classes=tuple(classes.found),
        taken=_dense(nodes.taken, first, ()) + tuple(claim.taken for claim in claims),
        hostnames=np.concatenate([rows.by_kind("hostname"), np.ones(len(claims), np.bool_)]),
        attachable={
            driver: np.concatenate([room, unlimited]) for driver, room in nodes.attachable.items()
        },
        codes=codes,
        shared_volumes=_shared_volumes(given.workload.bound, codes),
        daemons=_dense(nodes.daemons, first, ()) + tuple(claim.daemons for claim in claims),
    )


class _Classes:
    """Gives each bin its class; a claim that is not launched has its own."""

    def __init__(self, keys: frozenset[str]) -> None:
        self.found: list[StandingClass] = []
        self._keys = keys
        self._numbers: dict[object, int] = {}

    def of_kind(self, kind: NodeKind) -> int:
        """Return the class of nodes of a kind."""
        labels = {key: value for key, value in kind.labels if key in self._keys}
        made = StandingClass(labels=labels, taints=kind.taints, cordoned=kind.cordoned)
        return self._number(made, None)

    def of_claim(self, claim: ClaimBin) -> int:
        """Return the class of a claim in flight."""
        labels = {key: claim.labels[key] for key in sorted(self._keys & claim.labels.keys())}
        made = StandingClass(
            labels=labels, taints=claim.taints, cordoned=False, possible=claim.possible
        )
        return self._number(made, claim.name if claim.possible is not None else None)

    def _number(self, made: StandingClass, own: str | None) -> int:
        content = tuple(made.labels.items()), made.taints, made.cordoned, own
        found = self._numbers.setdefault(content, len(self.found))
        if found == len(self.found):
            self.found.append(made)
        return found


def _dense(by_position: Mapping[int, T], size: int, missing: T) -> tuple[T, ...]:
    if not by_position:
        return (missing,) * size
    return tuple(by_position.get(position, missing) for position in range(size))


def _shared_volumes(bound: BoundPods, codes: Ints) -> dict[str, tuple[int, ...]]:
    found: dict[str, set[int]] = defaultdict(set)
    position = positions(codes, bound)
    for shape, node, _ in bound.of_shapes(lambda shape: bool(shape.shared_volumes)):
        if position[node] >= 0:
            for one in shape.shared_volumes:
                found[one.claim].add(int(position[node]))
    return {claim: tuple(sorted(bins)) for claim, bins in found.items()}
