"""Claims in flight, which pods may be placed on before there is a node.

Apart from nodes because less is known: a claim that is not launched yet counts with the least that
any type it may become offers, and takes a pod only if every node that it may become could.

Source: `docs/sources.md` D5.2, D6.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.nodeclaim import NodeClaim
from libs.domain.pod import PodShape
from libs.domain.resources import total
from libs.domain.taint import Taint
from services.solver.core.exclusion import Exclusive, exclusives
from services.solver.core.offers.claimed_devices import ClaimedDevices
from services.solver.core.offers.possible import Possible, may_become
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.bearing import bears
from services.solver.core.reading.node_columns import as_started
from services.solver.core.standing.standing_input import StandingInput
from services.solver.core.vectors import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimBin:
    """A claim in flight."""

    name: str
    labels: Mapping[str, str]
    """Those that its node will have in any case, aliases resolved."""
    taints: tuple[Taint, ...]
    free: Ints
    """(n_resources,)."""
    taken: tuple[Exclusive, ...]
    """What daemons that come will have for themselves."""
    possible: Possible | None
    """None for a claim that is launched."""
    daemons: tuple[int, ...]
    """Ids of the shapes of daemon pods that come."""


def claim_bins(given: StandingInput) -> Iterable[ClaimBin]:
    """Yield the claims that have no node yet and that pods may be placed on, by name."""
    snapshot = given.snapshot
    for claim in given.claims.without_node(given.nodes.codes("nodeclaim")):
        if claim.deleting_at is not None or claim.is_replaced(snapshot.nodeclaims):
            continue
        labels = as_started(label_keys.canonical_labels(dict(claim.labels)))
        # Its node will have a name, though nobody knows which.
        labels.setdefault(label_keys.HOSTNAME, claim.name)
        possible = None
        if not len(claim.allocatable):
            possible = may_become(claim, labels, given.market.of_claim(claim))
        daemons = [
            ask.shape
            for ask in given.daemons.values()
            if _may_run_on(ask, labels, claim, possible)
            and _may_have_devices(ask.shape, claim, possible, given.devices)
        ]
        yield ClaimBin(
            name=claim.name,
            labels=labels,
            taints=claim.taints,
            free=_claim_room(claim, possible, daemons, given),
            taken=tuple(one for shape in daemons for one in exclusives(shape)),
            possible=possible,
            daemons=tuple(shape.id for shape in daemons),
        )


def _may_run_on(
    ask: Ask, labels: Mapping[str, str], claim: NodeClaim, possible: Possible | None
) -> bool:
    """Tell whether a daemon pod could come to a claim in flight: in doubt it will."""
    if not bears(ask.shape, claim.taints, ask.effects):
        return False
    if possible is None:
        return any(place.requirements.allows(labels) for place in ask.places)
    return any(possible.may_meet(place.requirements) for place in ask.places)


def _may_have_devices(
    shape: PodShape, claim: NodeClaim, possible: Possible | None, devices: ClaimedDevices
) -> bool:
    """Tell whether a claim in flight could have what a daemon claims: in doubt it will."""
    if not shape.device_claims:
        return True
    if possible is None:
        return devices.on_claim(shape, claim)
    columns, offerings = possible.columns, possible.offerings
    if columns is None or offerings is None:
        return True
    numbers = np.unique(columns.row_type[columns.row[offerings]])
    types = [columns.types[one] for one in numbers.tolist()]
    return bool(devices.on_types(shape, types).any())


def _claim_room(
    claim: NodeClaim, possible: Possible | None, daemons: list[PodShape], given: StandingInput
) -> Ints:
    """Return what is surely free for pods, by the measure by which the claim was bought."""
    overhead = _overhead(daemons, given)
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
            foreseen = {one.ask.shape.id for one in template.daemons if one.offerings.any()}
            # Those that the pool's nodes do not get, but this one, by labels that it lacks.
            others = [shape for shape in daemons if shape.id not in foreseen]
            room: Ints = template.room[rows].min(axis=0) - _overhead(others, given)
            return room
    rows = np.unique(possible.columns.row[possible.offerings])
    least: Ints = possible.columns.matrix(given.dimensions.names)[rows].min(axis=0)
    return least - overhead


def _overhead(daemons: Iterable[PodShape], given: StandingInput) -> Ints:
    """Return (n_resources,): what daemons take."""
    return given.dimensions.requests(total(shape.requests for shape in daemons))
