"""What daemons take of the devices of a node that is yet to come: pods do not count on it.

Apart from what pods take because nobody places daemons: they come first, each gets what it finds on
a node where nobody has anything yet, and what they take depends on the node alone.

Only devices of the node itself are kept; which of the cluster's devices daemons get on which node
is not foreseen.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from libs.domain.device import DeviceClaim
from libs.domain.pod import PodShape
from services.solver.core.devices.kinds import Kind
from services.solver.core.devices.offer import Offer
from services.solver.core.devices.search import Found, search
from services.solver.core.devices.selecting import Selectors
from services.solver.core.devices.sharing import ways
from services.solver.core.devices.usage import Ledger, View
from services.solver.core.devices.ways import Seen
from services.solver.core.offers.claim_class import ClaimClass

_MOST_STEPS = 1_000
"""Devices that are tried for one daemon and one kind of node; it gets none if they are too few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What daemons take on one node."""

    published: Ledger = field(default_factory=Ledger)
    own: Ledger = field(default_factory=Ledger)
    """Of what a node brings that has published nothing yet."""


NOTHING_KEPT = Kept()


class Reserved:
    """What daemons take on nodes, remembered by what these are."""

    def __init__(self, selectors: Selectors, held: Ledger) -> None:
        """Begin with nothing known.

        Args:
            selectors: judge devices.
            held: what is held as things are.
        """
        self._selectors = selectors
        self._held = held
        self._known: dict[object, Kept] = {}

    def on_standing(self, spot: tuple[int, int], offer: Offer, daemons: Sequence[PodShape]) -> Kept:
        """Return what daemons that are still to come take on a standing bin.

        Args:
            spot: its position, and which of the kinds it may become it is.
            offer: what it sees then.
            daemons: shapes of those that come.
        """
        return self._remembered(("standing", spot), offer, daemons) if daemons else NOTHING_KEPT

    def on_new(self, known: ClaimClass, kind: Kind, offer: Offer) -> Kept:
        """Return what daemons take on a new node of a kind, which sees so much; in doubt all."""
        columns = known.template.columns
        rows = known.offerings & kind.rows[columns.row]
        coming = [
            one.ask.shape
            for one in known.template.daemons
            if one.ask.shape.device_claims and (one.offerings & rows).any()
        ]
        if not coming:
            return NOTHING_KEPT
        key = "new", known.template.index, kind.number, tuple(shape.id for shape in coming)
        return self._remembered(key, offer, coming)

    def _remembered(self, key: object, offer: Offer, daemons: Iterable[PodShape]) -> Kept:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._taken(offer, daemons)
        return found

    def _taken(self, offer: Offer, daemons: Iterable[PodShape]) -> Kept:
        kept = Kept()
        for shape in daemons:
            # A claim by name is for all pods of the DaemonSet, wherever the first one of them is.
            claims = tuple(one for one in shape.device_claims if not one.claim)
            if not claims or not all(map(self._selectors.has_class, _classes(claims))):
                continue
            seen = Seen(
                offer=offer,
                cluster=View((self._held, kept.published)),
                template=View((kept.own,)),
            )
            found = search(claims, seen, self._selectors, _MOST_STEPS)
            if isinstance(found, Found) and _is_local(found):
                take(found, kept.published, kept.own)
        return kept


def take(found: Found, published: Ledger, own: Ledger) -> None:
    """Write down what was found: devices that are published, and those that the node brings."""
    for given in found.given:
        for one in given:
            if one.admin_access:
                continue
            ledger = own if one.candidate.template else published
            ledger.take(one.candidate.id, one.part)
            if one.counted:
                ledger.count(one.candidate.id, one.candidate.device)


def _classes(claims: Sequence[DeviceClaim]) -> Iterable[str]:
    return (sub.device_class for sub in ways(claims))


def _is_local(found: Found) -> bool:
    """Tell whether all of it is the node's."""
    given = (one.candidate for each in found.given for one in each)
    return all(one.template or bool(one.pool.node_name) for one in given)
