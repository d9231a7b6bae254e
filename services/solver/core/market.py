"""What is sold to whom: to each pool its catalogue after the overlays, as columns.

Apart because new claims, claims in flight and the cost of what exists must all be counted with the
same prices and capacities.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from libs.domain import feature_gates
from libs.domain.capacity import Catalogue
from libs.domain.feature_gates import FeatureGate
from libs.domain.nodeclaim import NodeClaim
from libs.domain.nodepool import NodePool
from libs.domain.overlay import Overlaid, OverlaidOffer, overlaid, untouched
from libs.domain.plan import OverlayVerdict
from libs.domain.pod_table import PodTable
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from libs.domain.workload import NodeOverlay
from services.solver.core.catalogue import CatalogueColumns, build
from services.solver.core.pod_columns import PodColumns, pod_columns
from services.solver.core.vectors import Ints

ColumnsOf = Callable[[Catalogue], CatalogueColumns]
OverlaidOf = Callable[
    [Iterable[NodePool], Mapping[str, Catalogue], Iterable[NodeOverlay]], Overlaid
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is worth remembering between calls; by default nothing is."""

    columns_of: ColumnsOf = build
    """Gives the columns of a catalogue."""
    overlaid_of: OverlaidOf = overlaid
    """Gives what overlays make of the catalogues."""
    pods_of: Callable[[PodTable], PodColumns] = pod_columns
    """Gives the columns of the pods."""


NOTHING_REMEMBERED = Memory()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Offers:
    """What is sold to one pool."""

    columns: CatalogueColumns
    listed_price: Ints
    """(n_offerings,): before the overlays; by it a provider chooses, who knows nothing of them."""
    overlay: OverlaidOffer


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
        for key in _node_classes(snapshot)
        if key in snapshot.catalogues
    }
    pools, catalogues = snapshot.nodepools.values(), snapshot.catalogues
    if feature_gates.is_open(FeatureGate.NODE_OVERLAY, options.feature_gates):
        found = memory.overlaid_of(pools, catalogues, snapshot.overlays.values())
        verdicts = (*found.verdicts, *_illegible(snapshot))
    else:
        found = untouched(pools, catalogues)
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
    return Offers(columns=columns, listed_price=listed.price, overlay=offer)


def _node_classes(snapshot: ClusterSnapshot) -> list[str]:
    bought = {pool.template.node_class.key for pool in snapshot.nodepools.values()}
    return sorted(bought.union(claim.node_class.key for claim in snapshot.nodeclaims.values()))


def _illegible(snapshot: ClusterSnapshot) -> Iterable[OverlayVerdict]:
    """Yield the verdicts on overlays that are not in the snapshot because something is wrong."""
    for item in snapshot.set_aside.values():
        if item.kind == "NodeOverlay":
            problem = f"{item.field}: {item.message}" if item.field else item.message
            yield OverlayVerdict(name=item.name, applied=False, problem=problem)
