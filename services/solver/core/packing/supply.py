"""Where there is room for one pod: on nodes as they are, or on such as can be bought.

Apart from packing because it is asked before anything is placed: who has to share a domain with
others begins where there is room for all of them.
"""

from dataclasses import dataclass

import numpy as np

from libs.domain.requirements import ANYTHING
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.pods.ask import Ask
from services.solver.core.topology.grants import Grants, needs_grant
from services.solver.core.topology.ground import Ground
from services.solver.core.vectors import Ints, covering


@dataclass(frozen=True, slots=True)
class _Request:
    """What pods ask for."""

    ask: Ask
    vector: Ints
    """(n_resources,): for one of them."""
    count: int


class Supply:
    """Room as it is before a plan; other pods that wait do not count."""

    def __init__(self, ground: Ground, grants: Grants) -> None:
        self._ground = ground
        self._grants = grants
        self._known: dict[tuple[int, str, int], frozenset[str]] = {}

    def values(self, ask: Ask, key: str, count: int) -> frozenset[str]:
        """Return the values of a label key in which nodes take so many pods, topology apart.

        Where a node can be bought for one of them there is room for all.
        """
        memo = (ask.shape.id, key, count)
        if memo not in self._known:
            self._known[memo] = self._values(ask, key, count)
        return self._known[memo]

    def _values(self, ask: Ask, key: str, count: int) -> frozenset[str]:
        if self._grants.ignores(ask.shape):
            return frozenset()
        vector = self._ground.dimensions.requests(ask.shape.requests)
        request = _Request(ask, vector, count)
        bits = self._standing(request, key)
        for known in self._ground.new_nodes_by_all(ask):
            bits |= self._new(known, request, key, bits)
        return frozenset(self._ground.domains.values(key, bits))

    def _standing(self, request: _Request, key: str) -> int:
        """Return the domains of the standing bins with room."""
        if not len(self._ground.standing):
            return 0
        asked = np.flatnonzero(request.vector)
        room = covering(self._ground.standing.free[:, asked], request.vector[asked])
        able = self._ground.compatible(request.ask) & room
        numbers = self._ground.domain_of(key)
        positions = np.flatnonzero(able & (numbers > 0))
        if needs_grant(request.ask.shape):
            has = self._grants.has_on_standing
            there = (has(request.ask.shape, one) for one in positions.tolist())
            positions = positions[np.fromiter(there, np.bool_, count=len(positions))]
        free, vector = self._ground.standing.free[positions][:, asked], request.vector[asked]
        pods = np.minimum((free // vector).min(axis=1, initial=request.count), request.count)
        room_in = np.zeros(1 + int(numbers.max(initial=0)), np.int64)
        np.add.at(room_in, numbers[positions], pods)
        return sum(1 << number for number in np.flatnonzero(room_in >= request.count).tolist())

    def _new(self, known: ClaimClass, request: _Request, key: str, found: int) -> int:
        """Return the domains in which a node of the class can be bought, but for those found."""
        classes, bits = self._ground.classes, 0
        for number in classes.prices(known, key, request.vector):
            bit = 1 << number
            if not found & bit and self._can_buy(known, request, key, bit):
                bits |= bit
        return bits

    def _can_buy(self, known: ClaimClass, request: _Request, key: str, bit: int) -> bool:
        shape = request.ask.shape
        if not needs_grant(shape):
            return True
        there = self._ground.classes.narrow(known, ANYTHING, (), ((key, bit),))
        if there is None:
            return False
        return self._grants.find_on_planned(shape, None, there, request.vector) is not None
