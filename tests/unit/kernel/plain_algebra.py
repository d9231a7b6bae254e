"""An algebra for the kernel that is as plain as can be.

Offerings have one domain of each key, pods ask for no label, every standing bin suits everybody.
What the kernel asks is so simple to answer that only its own part can be wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import joiner_kernel
import numpy as np
import numpy.typing as npt

Wanted = tuple[int, npt.NDArray[np.int64], list[list[int]], int]
"""A minValues: how many values, (n_offerings,) an index, the values by it, how many there are."""
NEVER = -1


@dataclass(frozen=True, slots=True)
class Sold:
    """What one pool sells; one offering for each row."""

    room: Sequence[Sequence[int]]
    prices: Sequence[int]
    reservations: Sequence[int] = ()
    domains: Mapping[int, Sequence[int]] | None = None
    """(n_offerings,) by key: the domain of each offering."""
    wanted: Sequence[Wanted] = ()
    capacities: Sequence[Sequence[int]] = ()
    left: Sequence[int] = ()
    nodes: int | None = None


class PlainPacker:
    """Has nothing to say in a round: nobody waits for anything that may come."""

    def cancelled(self) -> bool:
        return False

    def ask(self, group: int, position: int) -> int:
        raise AssertionError("all asks are known")

    def causes(self, group: int) -> list[int]:
        return []


class PlainAlgebra:
    """Answers the kernel, and keeps the bounds by which it was asked to narrow."""

    def __init__(
        self,
        standing: Sequence[Sequence[int]] = (),
        *,
        resources: int = 1,
        reservations: Sequence[int] = (),
        strict_min_values: bool = True,
    ) -> None:
        self.free = np.array(standing, np.int64).reshape(-1, resources)
        self.standing_domains: dict[int, Sequence[int]] = {}
        self.asked_bounds: list[tuple[int, int]] = []
        self.pools: list[Sold] = []
        self._classes: list[tuple[int, tuple[bool, ...]]] = []
        self.domains = joiner_kernel.Domains()
        self.packing = joiner_kernel.Packing(
            self,
            self.domains,
            self.free,
            np.ones(len(self.free), np.bool_),
            len(self.free),
            list(reservations),
            strict_min_values,
        )

    def sell(self, *pools: Sold) -> None:
        """Add these pools, to the nodes of which nobody comes first."""
        for sold in pools:
            count = len(sold.prices)
            self.pools.append(sold)
            self.packing.add_template(
                np.array(sold.room, np.int64),
                np.arange(count),
                np.array(sold.prices, np.int64),
                np.array(sold.reservations or [-1] * count, np.int64),
                np.array(sold.prices, np.int64).argsort(kind="stable"),
                np.array(sold.capacities, np.int64).reshape(count, -1),
                list(sold.left),
                sold.nodes,
            )
        self.packing.set_arrivals([[([], False, 0, [])] for _ in self.pools])

    def ask(
        self,
        *request: int,
        shape: int | None = None,
        spread: Sequence[tuple[int, int, int, int]] = (),
        affinity: Sequence[tuple[Sequence[int], bool]] = (),
        apart: Sequence[tuple[int, bool]] = (),
    ) -> int:
        """Make pods known that ask for so much, and that these rules are about."""
        number = self.shape() if shape is None else shape
        amounts = np.array(request, np.int64)
        rules = self.packing.add_rules(spread, affinity, apart, [], [], [])
        return self.packing.add_ask(number, number, [0], True, amounts, rules)

    def place(self, ask: int, want: int, *, buys: bool = True, waits: bool = True) -> int:
        """Place so many pods, a group of their own, and return how many found room."""
        group = self.add_group(ask, want, buys=buys, waits=waits)
        assert self.packing.take_turns([group], PlainPacker())
        return want - self.packing.left()[group]

    def add_group(
        self, ask: int, pods: int, *, buys: bool = True, waits: bool = True, **more: Any
    ) -> int:
        """Make a group of pods known that ask for this, and return its number."""
        group = len(self.packing.left())
        plain: dict[str, Any] = {
            "turn": group,
            "is_virtual": False,
            "devices": False,
            "ignored": False,
            "expected": False,
            "awaited": [],
            "more_tied": [],
            "wishes": [(-1, False)],
        }
        self.packing.add_group(buys=buys, waits=waits, pods=pods, **(plain | more))
        self.packing.set_ask(group, 0, ask)
        return group

    def shape(self) -> int:
        """Make a shape known that has nothing for itself."""
        return self.packing.add_shape(False, False, False, [])

    def class_of(self, pool: int, offerings: Sequence[bool]) -> int:
        """Return the number of the class of a pool with these offerings."""
        content = pool, tuple(offerings)
        if content not in self._classes:
            self._classes.append(content)
            self.packing.add_class(
                pool, np.array(offerings, np.bool_), list(self.pools[pool].wanted)
            )
        return self._classes.index(content)

    def _domains_of(self, pool: int, key: int) -> Sequence[int]:
        sold = self.pools[pool]
        return (sold.domains or {}).get(key, [0] * len(sold.prices))

    # What the kernel asks.

    def narrow(self, known: int, place: int, bounds: Sequence[tuple[int, int]]) -> int:
        self.asked_bounds += bounds
        pool, offerings = self._classes[known]
        kept = list(offerings)
        for key, bits in bounds:
            domains = self._domains_of(pool, key)
            kept = [one and bool(bits >> domains[at] & 1) for at, one in enumerate(kept)]
        return self.class_of(pool, kept) if any(kept) else NEVER

    def root(self, pool: int, rows: npt.NDArray[np.bool_] | None) -> int:
        count = len(self.pools[pool].prices)
        return self.class_of(pool, [True] * count if rows is None else rows.tolist())

    def reached(self, known: int, pool: int, kinds: Sequence[int]) -> int:
        return known

    def restrict(self, known: int, offerings: npt.NDArray[np.bool_]) -> int:
        pool, before = self._classes[known]
        return self.class_of(pool, (np.array(before) & offerings).tolist())

    def view(
        self, known: int, key: int
    ) -> tuple[npt.NDArray[np.int64], list[list[int]], bool, bool]:
        pool, offerings = self._classes[known]
        domains = self._domains_of(pool, key)
        group = [at if one else NEVER for at, one in enumerate(offerings)]
        numbers = [[domains[at]] if one else [] for at, one in enumerate(offerings)]
        return np.array(group, np.int64), numbers, False, True

    def new_nodes(self, site: int) -> list[int]:
        return [self.root(pool, None) for pool in range(len(self.pools))]

    def admitted(self, admission: int, known: int) -> list[int]:
        return [known]

    def compatible(self, site: int) -> npt.NDArray[np.bool_]:
        return np.ones(len(self.free), np.bool_)

    def domain_of(self, key: int) -> npt.NDArray[np.int64]:
        return np.array(self.standing_domains.get(key, [0] * len(self.free)), np.int64)
