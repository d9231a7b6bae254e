"""What may be wrong with a claim that a plan creates, pods apart.

Apart from `plan` because these rules are Joiner's own: its pool, what is sold, what it costs, what
it may become. kube-scheduler knows none of them.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from libs.checker.nodes import find_offering, planned_name
from libs.domain import feature_gates
from libs.domain import labels as keys
from libs.domain.allocatable import allocatable
from libs.domain.capacity import Catalogue, InstanceType, Offering
from libs.domain.feature_gates import FeatureGate
from libs.domain.nodepool import NodePool
from libs.domain.overlay import OverlaidOffer, overlaid
from libs.domain.plan import LaunchOption, PlannedNodeClaim
from libs.domain.requirement import Operator
from libs.domain.requirements import Requirements
from libs.domain.resources import NOTHING, Resources, total
from libs.domain.snapshot import ClusterSnapshot
from libs.oracle.check import Violation


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """A claim and what it buys if nothing is in the way."""

    claim: PlannedNodeClaim
    pool: NodePool
    catalogue: Catalogue
    kind: InstanceType
    offering: Offering
    observed: Mapping[str, Resources]
    """Allocatable that live nodes of the class turned out to have, by type."""


@dataclass(frozen=True, slots=True, eq=False)
class _Item:
    """An offering of a type that is available, and what a claim makes of it."""

    offering: Offering
    room: Resources
    meets: bool
    """Whether the claim may be launched so, if there is room."""
    allowed: bool
    """Whether it will be launched so, should the cloud choose it."""


class Shelf:
    """What one pool is sold; looked up once for all claims that ask for the same."""

    def __init__(self, catalogue: Catalogue, observed: Mapping[str, Resources]) -> None:
        self._kinds = {one.name: one for one in catalogue.instance_types}
        self._well_known = keys.WELL_KNOWN.union(catalogue.well_known_keys)
        self._observed = observed
        self._found: dict[Requirements, dict[str, tuple[_Item, ...]]] = {}

    def of(self, requirements: Requirements) -> Callable[[str], tuple[_Item, ...]]:
        """Return what gives the available offerings of a type, as a claim asking so sees them."""
        found = self._found.setdefault(requirements, {})
        asked = requirements.without([keys.NODEPOOL])

        def look_up(name: str) -> tuple[_Item, ...]:
            if name not in found:
                found[name] = tuple(self._items(requirements, asked, name))
            return found[name]

        return look_up

    def _items(self, claimed: Requirements, asked: Requirements, name: str) -> Iterator[_Item]:
        kind = self._kinds.get(name)
        if kind is None:
            return
        observed = self._observed.get(name, NOTHING)
        fits_kind = asked.has_intersection(kind.requirements)
        for one in kind.offerings:
            if one.available:
                yield _Item(
                    one,
                    allocatable(kind, one, observed),
                    fits_kind and asked.has_intersection(one.requirements),
                    claimed.is_compatible(one.requirements, allow_undefined=self._well_known),
                )


def purchase(
    snapshot: ClusterSnapshot,
    claim: PlannedNodeClaim,
    sold: Mapping[str, OverlaidOffer] | None = None,
) -> Purchase | Violation:
    """Return what the claim buys, or why it buys nothing.

    Args:
        snapshot: what the plan was made from.
        claim: the claim.
        sold: what is sold to each pool; without it overlays do not count.
    """
    pool = snapshot.nodepools.get(claim.nodepool)
    if pool is None:
        return _wrong(claim, "NodePool", f'nodepool "{claim.nodepool}" does not exist')
    if not pool.ready:
        why = "; ".join(pool.problems)
        return _wrong(claim, "NodePool", f'nodepool "{pool.name}" is not ready: {why}')
    if pool.replicas is not None:
        return _wrong(claim, "NodePool", f'nodepool "{pool.name}" has a fixed number of nodes')
    if sold is None:
        sold = offers(snapshot, feature_gates.NONE_GIVEN)
    offer = sold.get(pool.name)
    catalogue = offer.catalogue if offer else None
    found = find_offering(catalogue, claim) if catalogue else None
    if catalogue is None or found is None or not found[1].available:
        return _wrong(claim, "Offering", f"{_shown(claim.cheapest)} is not sold")
    return Purchase(
        claim=claim,
        pool=pool,
        catalogue=catalogue,
        kind=found[0],
        offering=found[1],
        observed={
            one.instance_type: one.allocatable
            for one in snapshot.observed_allocatable.values()
            if one.node_class == catalogue.node_class
        },
    )


def offers(snapshot: ClusterSnapshot, gates: Mapping[str, bool]) -> Mapping[str, OverlaidOffer]:
    """Return what is sold to each pool, after the overlays where these count."""
    is_open = feature_gates.is_open(FeatureGate.NODE_OVERLAY, gates)
    overlays = snapshot.overlays.values() if is_open else ()
    return overlaid(snapshot.nodepools.values(), snapshot.catalogues, overlays).offers


def claim_violations(
    bought: Purchase,
    pods: Iterable[Resources],
    of_devices: Collection[str] = (),
    shelf: Shelf | None = None,
) -> Iterator[Violation]:
    """Yield what is wrong with a claim that buys something.

    Args:
        bought: the claim.
        pods: requests of the pods that it is for.
        of_devices: resources that device classes stand for.
        shelf: of the claim's pool, shared with its other claims.
    """
    claim = bought.claim
    if (claim.nodepool_uid, claim.nodepool_hash) != (bought.pool.uid, bought.pool.hash):
        yield _wrong(
            claim, "StalePool", f'nodepool "{claim.nodepool}" is not the one that was planned with'
        )
    yield from _requirement_violations(bought)
    yield from _price_violations(bought)
    yield from _launch_list_violations(bought, shelf or Shelf(bought.catalogue, bought.observed))
    missing = _of_node(bought, total(pods), of_devices).shortage(claim.requests)
    if len(missing):
        yield _wrong(claim, "Requests", f"its pods ask for {missing} more than it says")
    for key, value in claim.labels:
        known = claim.requirements.get(key)
        if known is not None and not known.has(value):
            yield _wrong(claim, "Labels", f"label {key}={value} is not what {known} allows")


def _of_node(bought: Purchase, asked: Resources, of_devices: Collection[str]) -> Resources:
    """Return what the node itself has to offer of what is asked for.

    Where it offers none of a resource that devices are, they serve it; a claim that asked for it
    all the same would wait for it for ever.
    """
    offered = allocatable(bought.kind, bought.offering)
    return Resources(
        (name, amount)
        for name, amount in asked.items()
        if name not in of_devices or offered.get(name)
    )


def _requirement_violations(bought: Purchase) -> Iterator[Violation]:
    claim, pool = bought.claim, bought.pool
    wanted = pool.template.requirements.intersection(
        Requirements.from_labels(dict(pool.template.labels))
    )
    offered = bought.kind.requirements.intersection(bought.offering.requirements)
    for what, requirements in (("pool", wanted), ("claim", claim.requirements)):
        # The pool's own label is no provider's matter, and a claim may name it.
        for clash in requirements.without([keys.NODEPOOL]).intersection(offered):
            if not clash.satisfiable:
                yield _wrong(
                    claim,
                    "Requirements",
                    f"the {what} does not allow {_shown(claim.cheapest)}: {clash.key}",
                )
    for one in claim.requirements:
        if one.operator is Operator.IN and len(one.values) < (one.min_values or 0):
            yield _wrong(claim, "Requirements", f"the API refuses {one}: too few values")
    for one in wanted:
        asked = claim.requirements.get(one.key)
        if asked is None or not one.contains(asked):
            yield _wrong(
                claim,
                "Requirements",
                f"the pool asks for {one}, the claim for {asked or 'nothing of that key'}",
            )


def _price_violations(bought: Purchase) -> Iterator[Violation]:
    claim, price = bought.claim, bought.offering.price_nanos_per_hour
    if price != claim.cheapest.price_nanos_per_hour:
        yield _wrong(
            claim,
            "Price",
            f"{_shown(claim.cheapest)} costs {price} nano-dollars per hour, the plan says "
            f"{claim.cheapest.price_nanos_per_hour}",
        )


def _launch_list_violations(bought: Purchase, shelf: Shelf) -> Iterator[Violation]:
    claim, price = bought.claim, bought.offering.price_nanos_per_hour
    if claim.cheapest.instance_type not in claim.instance_types:
        yield _wrong(claim, "LaunchList", "the cheapest type is not in the launch list")
    cheaper: set[str] = set()
    candidates = shelf.of(claim.requirements)
    for name in claim.instance_types:
        items = candidates(name)
        fitting = [one for one in items if one.meets and claim.requests.fits(one.room)]
        if not fitting:
            yield _wrong(claim, "LaunchList", f'"{name}" is not sold, or is too small')
            continue
        if len(fitting) < len(items):
            yield from _holes(claim, name, [one for one in items if one not in fitting])
        if min(one.offering.price_nanos_per_hour for one in fitting) < price:
            cheaper.add(name)
    if cheaper:
        yield _wrong(claim, "Cheapest", f"{min(cheaper)} fits and costs less")


def _holes(claim: PlannedNodeClaim, name: str, unfit: Iterable[_Item]) -> Iterator[Violation]:
    """Yield offerings that are allowed and too small, of a type that otherwise is not."""
    for one in unfit:
        if one.allowed:
            where = f"{name} in {one.offering.zone} as {one.offering.capacity_type}"
            yield _wrong(claim, "LaunchList", f"{where} is allowed, and is too small")


def _shown(option: LaunchOption) -> str:
    return f"{option.instance_type} in {option.zone} as {option.capacity_type}"


def _wrong(claim: PlannedNodeClaim, rule: str, message: str) -> Violation:
    return Violation(pod="", node=planned_name(claim), rule=rule, message=message)
