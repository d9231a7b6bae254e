"""Who has which device in one plan: asks the search about a place, and writes down what is taken.

What a planned claim takes depends on the instance type that it becomes: for each kind of type that
is left the devices are found separately, and devices of the cluster count as taken by the most that
any of them takes.

Source: `docs/sources.md` D11.9-15.
"""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np

from libs.domain.device import DeviceClaim
from libs.domain.pod import PodShape
from services.solver.core.devices.inventory import Inventory, Terms, allows, for_new_nodes
from services.solver.core.devices.kinds import Kind, Kinds
from services.solver.core.devices.offer import Candidate, Offer, with_own
from services.solver.core.devices.places import Places
from services.solver.core.devices.refusing import why_not
from services.solver.core.devices.reserved import Kept, Reserved, take
from services.solver.core.devices.search import MOST_STEPS, Found, search
from services.solver.core.devices.selecting import Selectors
from services.solver.core.devices.sharing import Sharing, Spot, described, ways
from services.solver.core.devices.usage import Ledger, Total, View, filled, most
from services.solver.core.devices.ways import NotFound, Seen
from services.solver.core.offers.claim_class import ClaimClass, ClaimClasses
from services.solver.core.vectors import Bools, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a pod gets on a standing bin."""

    claims: tuple[DeviceClaim, ...]
    """Those that it is the first to use."""
    found: dict[int, Found]
    """By kind of what the bin may become, of which a node has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedGrant:
    """What a pod gets on a planned claim."""

    claims: tuple[DeviceClaim, ...]
    known: ClaimClass
    """What the claim becomes."""
    found: dict[int, Found]
    """By kind of instance type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A pod gets no devices at a place."""

    explain: Callable[[], str]
    """Gives the reason, on the state as it is when asked."""


@dataclass(slots=True)
class _Open:
    """What is taken at a spot that may become several kinds of node, by kind."""

    cluster: dict[int, Ledger] = field(default_factory=dict)
    template: dict[int, Ledger] = field(default_factory=dict)
    drivers: dict[int, set[str]] = field(default_factory=dict)
    """Those whose devices pods get of the node itself."""


MOST_STEPS_OF_PLAN = 300_000
"""Devices that are tried in one plan, some three seconds, before each search gets only a few."""
_LEAST_STEPS = 1_000
_NOTHING = Ledger()
_EVERYWHERE = Spot(planned=False, number=-1)
"""Stands for what all places see; its revision grows with devices that no node has to itself."""


class Devices:
    """The devices of one plan."""

    def __init__(
        self, inventory: Inventory, places: Places, selectors: Selectors, classes: ClaimClasses
    ) -> None:
        self._inventory = inventory
        self._places = places
        self._selectors = selectors
        self._classes = classes
        self._sharing = Sharing(inventory)
        self._kinds = Kinds()
        self._reserved = Reserved(selectors, inventory.held)
        self._offers: dict[int, Offer] = {}
        self._taken = Ledger()
        """By pods on nodes, of which there is only one kind each."""
        self._open: dict[Spot, _Open] = {}
        self._at_most = Total()
        """What such spots take of the cluster's devices at most."""
        self._revisions: dict[Spot, int] = {}
        self._refused: dict[object, Refusal] = {}
        self._numbers: dict[tuple[DeviceClaim, ...], int] = {}
        self._alike: dict[int, int] = {}
        self._steps_left = MOST_STEPS_OF_PLAN

    # Standing bins.

    def on_standing(self, shape: PodShape, position: int) -> Grant | Refusal:
        """Return what the next pod of a shape gets on a standing bin."""
        spot = Spot(planned=False, number=position)
        memo = (self._number(shape), spot, self._revision(spot))
        if memo in self._refused:
            return self._refused[memo]
        found = self._on_standing(shape.device_claims, spot)
        if isinstance(found, Refusal):
            self._refused[memo] = found
        return found

    def take_standing(self, shape: PodShape, position: int, grant: Grant) -> None:
        """Give a pod on a standing bin what was found for it."""
        spot = Spot(planned=False, number=position)
        self._give(spot, grant.found)
        self._note(shape, grant.claims, spot, tuple(grant.found.values()))

    def _on_standing(self, claims: Sequence[DeviceClaim], spot: Spot) -> Grant | Refusal:
        if problem := self._obstacle(claims, spot):
            return _refusal(problem)
        facts = self._places.facts(spot.number)
        for claim, terms in self._sharing.needed(claims):
            if not allows(terms, facts):
                return _refusal(f"{described(claim)} is allocated where this node is not")
        asked = self._sharing.to_allocate(claims)
        found: dict[int, Found] = {}
        for kind, offer in enumerate(self._places.offers(spot.number)):
            daemons = self._places.daemons(spot.number)
            kept = self._reserved.on_standing((spot.number, kind), offer, daemons)
            seen = self._seen(spot, kind, offer, kept)
            result = self._search(asked, seen)
            if isinstance(result, NotFound):
                return self._not_found(asked, seen, result)
            found[kind] = result
        return Grant(claims=asked, found=found)

    def most_seen(self, positions: Iterable[int]) -> int:
        """Return that of some standing bins which sees most devices."""
        offers = {one: self._places.offers(one) for one in positions}
        return max(
            offers, key=lambda one: (max(len(each.candidates) for each in offers[one]), -one)
        )

    # Planned claims.

    def on_planned(
        self, shape: PodShape, claim: int | None, known: ClaimClass, total: Ints
    ) -> PlannedGrant | Refusal:
        """Return what the next pod of a shape gets on a planned claim.

        Args:
            shape: of the pod.
            claim: number of the claim; None for one that is yet to be opened.
            known: what the claim becomes with the pod, devices apart.
            total: (n_resources,): what all its pods then request.
        """
        spot = Spot(planned=True, number=-1 if claim is None else claim)
        memo = (self._number(shape), spot, self._revision(spot), known.id, total.tobytes())
        if memo in self._refused:
            return self._refused[memo]
        found = self._on_planned(shape.device_claims, spot, known, total)
        if isinstance(found, Refusal):
            self._refused[memo] = found
        return found

    def take_planned(self, shape: PodShape, claim: int, grant: PlannedGrant) -> None:
        """Give a pod on a planned claim what was found for it."""
        spot = Spot(planned=True, number=claim)
        self._give(spot, grant.found)
        self._note(shape, grant.claims, spot, tuple(grant.found.values()))

    def drivers(self, claim: int) -> tuple[str, ...]:
        """Return the drivers whose devices pods get of a planned claim's own node, sorted."""
        by_kind = self._state(Spot(planned=True, number=claim)).drivers
        return tuple(sorted(set().union(*by_kind.values())))

    def give_back(self, claim: int, known: ClaimClass, total: Ints) -> None:
        """Free what a planned claim took for kinds of types that it cannot become any more.

        Args:
            claim: number of the claim.
            known: what it becomes.
            total: (n_resources,): what all its pods request.
        """
        spot = Spot(planned=True, number=claim)
        state = self._state(spot)
        if len(state.cluster) < 2:
            return
        left = {kind.number for kind in self._kinds.of(known, known.rows_for(total))}
        if not left.issuperset(state.cluster):
            self._keep(spot, left)
            self._revisions[_EVERYWHERE] = self._revisions.get(_EVERYWHERE, 0) + 1

    def _on_planned(
        self, claims: Sequence[DeviceClaim], spot: Spot, known: ClaimClass, total: Ints
    ) -> PlannedGrant | Refusal:
        if problem := self._obstacle(claims, spot):
            return _refusal(problem)
        for claim, terms in self._sharing.needed(claims):
            narrower = self._narrow(known, terms, total)
            if narrower is None:
                return _refusal(f"{described(claim)} is allocated where no such node can be")
            known = narrower
        asked = self._sharing.to_allocate(claims)
        if asked:
            return self._find_somewhere(asked, spot, known, total)
        kinds = self._state(spot).cluster
        return PlannedGrant(claims=(), known=known, found={kind: Found(given=()) for kind in kinds})

    def _find_somewhere(
        self, asked: tuple[DeviceClaim, ...], spot: Spot, known: ClaimClass, total: Ints
    ) -> PlannedGrant | Refusal:
        """Look for devices wherever the claim may come up, then in one domain after the other.

        All devices that a node can see are known only where it is known what those are.
        """
        found = self._find(asked, spot, known, total)
        if isinstance(found, PlannedGrant) or not any(sub.all for sub in ways(asked)):
            return found
        for key in self._inventory.keys_of_new_nodes():
            for narrower in self._classes.split(known, key, total):
                again = self._find(asked, spot, narrower, total)
                if isinstance(again, PlannedGrant):
                    return again
        return found

    def _find(
        self, asked: tuple[DeviceClaim, ...], spot: Spot, known: ClaimClass, total: Ints
    ) -> PlannedGrant | Refusal:
        """Look for devices for each kind of instance type, cheapest first."""
        found: dict[int, Found] = {}
        accepted = np.zeros(len(known.rows), np.bool_)
        refusal, nearest = _refusal("no instance type is left that has room"), -1
        for kind in self._kinds.of(known, known.rows_for(total)):
            seen = self._seen_planned(spot, kind, known, total)
            result = self._search(asked, seen)
            if isinstance(result, NotFound):
                if len(seen.offer.candidates) > nearest:
                    nearest = len(seen.offer.candidates)
                    refusal = self._not_found(asked, seen, result, f"on a new {kind.example}, ")
                continue
            chosen = [one.candidate for given in result.given for one in given]
            narrower = self._settle(known, chosen, kind.rows, total)
            if narrower is not None:
                known, accepted = narrower, accepted | kind.rows
                found[kind.number] = result
        if not found:
            return refusal
        rows = accepted[known.template.columns.row]
        return PlannedGrant(claims=asked, known=self._classes.restrict(known, rows), found=found)

    def _seen_planned(self, spot: Spot, kind: Kind, known: ClaimClass, total: Ints) -> Seen:
        offer = self._offer(kind.number)
        kept = self._reserved.on_new(known, kind, offer)
        seen = self._seen(spot, kind.number, self._within_reach(offer, known, total), kept)
        return replace(
            seen, narrow=lambda chosen: self._settle(known, chosen, kind.rows, total) is not None
        )

    def _offer(self, kind: int) -> Offer:
        """Return what a new node of a kind can see."""
        found = self._offers.get(kind)
        if found is None:
            found = with_own(self._inventory.of_new_nodes(), self._kinds.offer(kind))
            self._offers[kind] = found
        return found

    def _within_reach(self, offer: Offer, known: ClaimClass, total: Ints) -> Offer:
        """Return what nodes of a class may see of an offer."""
        terms = dict.fromkeys(one.terms for one in offer.candidates if one.terms)
        beyond = {one for one in terms if self._narrow(known, one, total) is None}
        if not beyond:
            return offer
        left = tuple(one for one in offer.candidates if one.terms not in beyond)
        return replace(offer, candidates=left)

    def _settle(
        self, known: ClaimClass, chosen: Sequence[Candidate], rows: Bools, total: Ints
    ) -> ClaimClass | None:
        """Return the class of a node that can use all these devices and be one of these rows."""
        for one in chosen:
            if one.terms:
                narrower = self._narrow(known, one.terms, total)
                if narrower is None:
                    return None
                known = narrower
        return known if (known.rows_for(total) & rows).any() else None

    def _narrow(self, known: ClaimClass, terms: Terms, total: Ints) -> ClaimClass | None:
        possible = for_new_nodes(terms)
        if possible is None:
            return None
        for term in possible:
            narrower = self._classes.narrow(known, term)
            if narrower is not None and narrower.rows_for(total).any():
                return narrower
        return None if possible else known

    # Both.

    def _number(self, shape: PodShape) -> int:
        """Return a number that shapes with the same claims share."""
        found = self._alike.get(shape.id)
        if found is None:
            found = self._numbers.setdefault(shape.device_claims, len(self._numbers))
            self._alike[shape.id] = found
        return found

    def _obstacle(self, claims: Sequence[DeviceClaim], spot: Spot) -> str:
        for sub in ways(self._sharing.to_allocate(claims)):
            if not self._selectors.has_class(sub.device_class):
                return self._selectors.why_no_class(sub.device_class)
        return self._sharing.obstacle(claims, spot)

    def _search(self, asked: tuple[DeviceClaim, ...], seen: Seen) -> Found | NotFound:
        """Search within what is left of the steps of a plan; a few are always left."""
        most_steps = max(min(MOST_STEPS, self._steps_left), _LEAST_STEPS)
        found = search(asked, seen, self._selectors, most_steps)
        self._steps_left -= found.steps
        return found

    def _seen(self, spot: Spot, kind: int, offer: Offer, kept: Kept) -> Seen:
        """Return a spot as the search sees it, should it become this kind."""
        state = self._state(spot)
        others = self._at_most.of_others(spot)
        own = state.cluster.get(kind, _NOTHING)
        return Seen(
            offer=offer,
            cluster=View((self._inventory.held, self._taken, others, own, *filled(kept.published))),
            template=View((state.template.get(kind, _NOTHING), *filled(kept.own))),
        )

    def _state(self, spot: Spot) -> _Open:
        return self._open.get(spot) or _Open()

    def _give(self, spot: Spot, found: dict[int, Found]) -> None:
        """Write down what a pod takes, whatever its spot becomes."""
        state = self._open.setdefault(spot, _Open())
        certain = not spot.planned and len(found) == 1
        for kind, one in found.items():
            cluster = self._taken if certain else state.cluster.setdefault(kind, Ledger())
            take(one, cluster, state.template.setdefault(kind, Ledger()))
            state.drivers.setdefault(kind, set()).update(
                device.candidate.pool.driver
                for given in one.given
                for device in given
                if device.candidate.template
            )
        self._keep(spot, found.keys())

    def _keep(self, spot: Spot, kinds: Set[int]) -> None:
        """Forget what is taken at a spot for kinds that it cannot become any more."""
        state = self._open[spot]
        for by_kind in (state.cluster, state.template, state.drivers):
            for kind in by_kind.keys() - kinds:
                del by_kind[kind]
        self._at_most.put(spot, most(state.cluster.values()))

    def _not_found(
        self, asked: tuple[DeviceClaim, ...], seen: Seen, found: NotFound, where: str = ""
    ) -> Refusal:
        return Refusal(explain=lambda: where + why_not(asked, seen, self._selectors, found.problem))

    def _note(
        self, shape: PodShape, fresh: tuple[DeviceClaim, ...], spot: Spot, found: tuple[Found, ...]
    ) -> None:
        """Write down who uses which claim, so that refusals of before are not believed any more."""
        claims = shape.device_claims
        self._sharing.note(claims, fresh, spot, found)
        self._revisions[spot] = self._revisions.get(spot, 0) + 1
        given = (one for each in found for given in each.given for one in given)
        if any(claim.claim for claim in claims) or any(
            not one.candidate.template and not one.candidate.pool.node_name for one in given
        ):
            self._revisions[_EVERYWHERE] = self._revisions.get(_EVERYWHERE, 0) + 1

    def _revision(self, spot: Spot) -> tuple[int, int]:
        return self._revisions.get(spot, 0), self._revisions.get(_EVERYWHERE, 0)


def _refusal(message: str) -> Refusal:
    return Refusal(explain=lambda: message)
