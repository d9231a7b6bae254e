"""The verdict on an ask: where may its next pods go, given where all others are.

Apart from `topology.py`, which counts: here the counts are read.

Source: kube-scheduler's PodTopologySpread and InterPodAffinity; on hosts the minimum is zero while
anything can be bought, since an empty node can always be had (`docs/sources.md` D8.6).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from services.solver.core.arrivals import NOBODY, Arrivals
from services.solver.core.ask import Ask
from services.solver.core.claim_class import Bounds
from services.solver.core.domains import ABSENT, members
from services.solver.core.rules import AffinityRule, Rules, SpreadRule
from services.solver.core.tally import Tally
from services.solver.core.topology import Topology
from services.solver.core.vectors import UNBOUNDED, Bools, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Where the next pods of an ask may go."""

    bounds: Bounds
    """Allowed domains by key."""
    ranked: tuple[tuple[str, tuple[int, ...]], ...]
    """For each key of a spread constraint its allowed domains as sets of one, emptiest first.

    Of equally empty ones that comes first in which the first pool buys a node most cheaply.
    """
    pins: tuple[str, ...]
    """Keys of which a claim must be in one domain, since the pod is counted there."""
    caps: Ints | None
    """(n_bins,): most pods per bin, counted down as they come; None where there is no bound."""
    new_cap: int
    """Most pods on a bin that is still to be opened."""
    batch: int
    """How many pods may be placed before asking again."""


UNBOUND = Verdict(bounds=(), ranked=(), pins=(), caps=None, new_cap=UNBOUNDED, batch=UNBOUNDED)


def verdict(topology: Topology, ask: Ask, arrivals: Arrivals = NOBODY) -> Verdict | None:
    """Return where the next pods of this ask may go; None if nowhere.

    Args:
        topology: where all others are.
        ask: what is asked for.
        arrivals: who comes to a new node first; then the verdict is about new nodes only.
    """
    rules = topology.rules(ask)
    found = UNBOUND if rules.none else _Judgement(topology, ask, rules, arrivals).verdict()
    if found is None or not arrivals.pins:
        return found
    return replace(found, pins=tuple(sorted({*found.pins, *arrivals.pins})))


def stricter(one: Verdict, other: Verdict) -> Verdict | None:
    """Return where the next pods may go by both verdicts on new nodes; None if nowhere."""
    bounds = dict(one.bounds)
    for key, bits in other.bounds:
        bounds[key] = bounds.get(key, -1) & bits
    if not all(bounds.values()):
        return None
    return Verdict(
        bounds=tuple(sorted(bounds.items())),
        ranked=tuple(
            (key, tuple(bits for bits in order if bits & bounds[key])) for key, order in one.ranked
        ),
        pins=tuple(sorted({*one.pins, *other.pins})),
        caps=None,
        new_cap=min(one.new_cap, other.new_cap),
        batch=min(one.batch, other.batch),
    )


class _Judgement:
    """One verdict in the making."""

    def __init__(self, topology: Topology, ask: Ask, rules: Rules, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._topology = topology
        self._ask = ask
        self._rules = rules
        self._bounds: dict[str, int] = {}
        self._ranked: dict[str, list[int]] = {}
        self._caps: Ints | None = None
        self._new_cap = UNBOUNDED
        self._batch = UNBOUNDED

    def verdict(self) -> Verdict | None:
        if self._topology.in_use(self._ask):
            return None
        if self._rules.exclusive:
            self._batch = 1
        for rule in self._rules.affinity:
            if not self._affinity(rule):
                return None
        for tally in self._rules.together:
            self._together(tally)
        for tally, own in self._rules.apart:
            self._apart(tally, own)
        for spread in self._rules.spread:
            if spread.tally.on_hosts:
                self._spread_hosts(spread)
            else:
                self._spread_domains(spread)
        ranked = self._kept()
        if any(bits == 0 for bits in self._bounds.values()):
            return None
        return Verdict(
            bounds=tuple(sorted(self._bounds.items())),
            ranked=ranked,
            pins=self._rules.pins,
            caps=self._caps,
            new_cap=self._new_cap,
            batch=self._batch,
        )

    def _kept(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Return the ranked domains within all bounds, which are drawn in to them."""
        ranked = []
        for key, order in self._ranked.items():
            allowed = self._bounds.get(key, -1)
            kept = tuple(bits for bits in order if bits & allowed)
            self._bounds[key] = sum(kept)
            ranked.append((key, kept))
        return tuple(ranked)

    def _affinity(self, rule: AffinityRule) -> bool:
        topology = self._topology
        if any(self._arrivals.count(tally) for tally in rule.tallies):
            self._bound_to_keys(rule)
            return True
        if not any(tally.total for tally in rule.tallies):
            if not rule.own:
                return False
            # The first pod of its kind may go anywhere that has the keys.
            self._batch = 1
            self._bound_to_keys(rule)
            return True
        for tally in rule.tallies:
            if tally.on_hosts:
                hosts = tally.certain_hosts(topology.bins)
                self._cap(np.where(hosts > 0, UNBOUNDED, 0), 0)
            else:
                self._bound(tally.key, _positive(tally.certain))
        return True

    def _bound_to_keys(self, rule: AffinityRule) -> None:
        for tally in rule.tallies:
            if tally.on_hosts:
                self._bound_bins(self._topology.ground.standing.hostnames, UNBOUNDED)
            else:
                self._bound(tally.key, ~ABSENT)

    def _together(self, tally: Tally) -> None:
        if not tally.total:
            self._batch = 1
        elif tally.on_hosts:
            self._cap(np.where(tally.certain_hosts(self._topology.bins) > 0, UNBOUNDED, 0), 0)
        else:
            self._bound(tally.key, _positive(tally.certain) or ABSENT)

    def _apart(self, tally: Tally, own: bool) -> None:
        if tally.on_hosts:
            most = 0 if self._arrivals.count(tally) else 1 if own else UNBOUNDED
            hosts = tally.hosts(self._topology.bins)
            caps = np.where(hosts > 0, 0, most)
            named = self._topology.ground.standing.hostnames
            caps[: len(named)][~named] = UNBOUNDED
            self._cap(caps, most)
            return
        # A daemon that comes along is in every domain of the new node: it may have none.
        is_coming = self._arrivals.count(tally) > 0
        self._bound(tally.key, ABSENT if is_coming else ~_positive(tally.by_domain))
        if own:
            self._batch = 1

    def _spread_hosts(self, rule: SpreadRule) -> None:
        topology = self._topology
        hosts = rule.tally.hosts(topology.bins)
        least = topology.least_on_hosts(self._ask, rule)
        if least is not None or rule.constraint.min_domains is not None:
            self._batch = 1
        if least is None:
            least = topology.least_expected(self._ask, rule)
        room = rule.constraint.max_skew + least - hosts
        # A new host that is counted may itself be the one with the fewest.
        coming = self._arrivals.count(rule.tally)
        least = min(least, coming)
        if coming and rule.constraint.min_domains is not None:
            least = topology.least_with_new_host(rule, coming)
        most = rule.constraint.max_skew + least - coming
        if not rule.own:
            room = np.where(room >= 0, UNBOUNDED, 0)
            most = UNBOUNDED if most >= 0 else 0
        self._cap(np.maximum(room, 0), max(most, 0))
        self._bound_bins(topology.ground.standing.hostnames, UNBOUNDED)

    def _spread_domains(self, rule: SpreadRule) -> None:
        topology, tally, key = self._topology, rule.tally, rule.tally.key
        real, paper = topology.eligible(self._ask, tally)
        certain = tally.certain
        counts = {number: certain.get(number, 0) for number in members(real)}
        counts |= dict.fromkeys(members(paper), topology.least_arriving(self._ask, tally))
        few = rule.constraint.min_domains or 0
        coming = self._arrivals.count(tally)
        if coming:
            self._batch = 1
        lowest = sorted(counts.values())[:2]
        allowed = []
        for number in range(1, topology.ground.domains.count(key)):
            there = tally.by_domain.get(number, 0) + coming
            # A domain on paper is not there to be counted, but for the one of the new node.
            enough = len(members(real | (paper & 1 << number))) >= few
            least = lowest[0] if enough and lowest else 0
            if coming and enough and counts.get(number) == least:
                # The daemon that comes may fill the emptiest domain, or the only one.
                least = min([there, *lowest[1:]])
            if there + rule.own - least <= rule.constraint.max_skew:
                allowed.append((there, number))
        order = [1 << number for _, number in sorted(allowed, key=self._rank_of(key))]
        known = self._ranked.get(key)
        self._ranked[key] = order if known is None else [bits for bits in known if bits in order]
        if rule.own:
            self._batch = 1

    def _rank_of(self, key: str) -> Callable[[tuple[int, int]], tuple[object, ...]]:
        """Return what a domain with so many pods is ranked by: pods, turn of a new node, name."""
        ground = self._topology.ground
        turns = ground.turns(self._ask, key)
        last = len(ground.templates), 0
        return lambda one: (
            one[0],
            turns.get(one[1], last),
            ground.domains.value(key, one[1]),
        )

    def _bound(self, key: str, bits: int) -> None:
        self._bounds[key] = self._bounds.get(key, -1) & bits

    def _bound_bins(self, allowed: Bools, most: int) -> None:
        if allowed.all():
            return
        caps = np.full(self._topology.bins, most, np.int64)
        caps[: len(allowed)][~allowed] = 0
        self._cap(caps, most)

    def _cap(self, caps: Ints, new: int) -> None:
        self._caps = caps if self._caps is None else np.minimum(self._caps, caps)
        self._new_cap = min(self._new_cap, new)


def _positive(counts: Mapping[int, int]) -> int:
    found = 0
    for number, count in counts.items():
        if count > 0:
            found |= 1 << number
    return found
