"""What is sold to whom: to each pool its catalogue after the overlays, as columns.

Apart because new claims, claims in flight and the cost of what exists must all be counted with the
same prices and capacities.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from libs.domain import feature_gates
from libs.domain.capacity import Catalogue
from libs.domain.feature_gates import FeatureGate
from libs.domain.nodeclaim import NodeClaim
from libs.domain.nodepool import NodePool
from libs.domain.overlay import Overlaid, OverlaidOffer, overlaid, untouched
from libs.domain.plan import OverlayVerdict
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from libs.domain.workload import NodeOverlay
from services.solver.core.offers.catalogue import CatalogueColumns, build
from services.solver.core.reading.reader import Reader
from services.solver.core.vectors import Ints

T = TypeVar("T")

ColumnsOf = Callable[[Catalogue], CatalogueColumns]
OverlaidOf = Callable[
    [Iterable[NodePool], Mapping[str, Catalogue], Iterable[NodeOverlay]], Overlaid
]


class Remember(Protocol):
    """Gives what was made earlier, or makes it."""

    def __call__(self, name: Hashable, make: Callable[[], T], /, *objects: object) -> T:
        """Return what `make` made under this name of these objects, known by identity."""


def _made_anew(name: Hashable, make: Callable[[], T], /, *objects: object) -> T:
    return make()


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is worth remembering between calls; by default nothing is."""

    columns_of: ColumnsOf = build
    """Gives the columns of a catalogue."""
    overlaid_of: OverlaidOf = overlaid
    """Gives what overlays make of the catalogues."""
    reader: Callable[[], Reader] = Reader
    """Gives what reads clusters."""
    few: Remember = _made_anew
    """Keeps what is large and of what there are few."""
    many: Remember = _made_anew
    """Keeps what is small, such as there is one of for each shape."""
    cost_of: "Callable[[ClusterSnapshot, Market], int] | None" = None
    """Knows what exists costs, where it need not be added up."""


NOTHING_REMEMBERED = Memory()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Offers:
    """What is sold to one pool."""

    columns: CatalogueColumns
    listed_price: Ints
    """(n_offerings,): before the overlays; by it a provider chooses, who knows nothing of them."""
    paid_price: Ints
    """(n_offerings,): after the overlays; `columns.price` is by what an offering is chosen, more
    than is paid where the objective weighs nodes."""
    overlay: OverlaidOffer

    @property
    def misleading(self) -> bool:
        """Return whether a provider may take for cheapest what is not chosen first."""
        return bool(self.overlay.priced) or self.columns.price is not self.paid_price


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """What is sold at all."""

    by_pool: Mapping[str, Offers]
    """Pools whose catalogue is known."""
    by_class: Mapping[str, CatalogueColumns]
    """Before the overlays, by key of the class, of every class that a pool or a claim has."""
    verdicts: tuple[OverlayVerdict, ...]

    def of_claim(self, claim: NodeClaim) -> CatalogueColumns | None:
        """Return what the claim was chosen from; its pool may be gone or have another class."""
        own = self.by_pool.get(claim.nodepool)
        if own is not None and own.columns.source.node_class == claim.node_class:
            return own.columns
        return self.by_class.get(claim.node_class.key)


def market(snapshot: ClusterSnapshot, options: SolveOptions, memory: Memory) -> Market:
    """Return what is sold; overlays count where their feature gate is open."""
    by_class = {
        key: memory.columns_of(snapshot.catalogues[key])
        for key in _node_classes(snapshot, memory)
        if key in snapshot.catalogues
    }
    pools, catalogues = snapshot.nodepools.values(), snapshot.catalogues
    if feature_gates.is_open(FeatureGate.NODE_OVERLAY, options.feature_gates):
        found = memory.overlaid_of(pools, catalogues, snapshot.overlays.values())
        verdicts = (*found.verdicts, *_illegible(snapshot))
    else:
        make = partial(untouched, pools, catalogues)
        found = memory.few("untouched", make, *pools, *catalogues.values())
        verdicts = ()
    return Market(
        by_pool={
            pool: _offers(offer, by_class[offer.catalogue.key], memory)
            for pool, offer in found.offers.items()
        },
        by_class=by_class,
        verdicts=tuple(sorted(verdicts, key=lambda verdict: verdict.name)),
    )


def _offers(offer: OverlaidOffer, listed: CatalogueColumns, memory: Memory) -> Offers:
    touched = offer.catalogue is not listed.source
    columns = memory.columns_of(offer.catalogue) if touched else listed
    return Offers(
        columns=columns, listed_price=listed.price, paid_price=columns.price, overlay=offer
    )


def _node_classes(snapshot: ClusterSnapshot, memory: Memory) -> list[str]:
    bought = {pool.template.node_class.key for pool in snapshot.nodepools.values()}
    claims = memory.reader().claims.of(snapshot.nodeclaims)
    return sorted(bought.union(claims.node_classes()))


def _illegible(snapshot: ClusterSnapshot) -> Iterable[OverlayVerdict]:
    """Yield the verdicts on overlays that are not in the snapshot because something is wrong."""
    for item in snapshot.set_aside.values():
        if item.kind == "NodeOverlay":
            problem = f"{item.field}: {item.message}" if item.field else item.message
            yield OverlayVerdict(name=item.name, applied=False, problem=problem)
