"""Tallies: how many pods of a kind there are per topology domain.

Apart because spread, affinity, anti-affinity and its inverse differ only in which pods they count
and what they conclude; counting is one mechanism. Hosts are counted per bin in an array, all
other keys per domain.

Source: kube-scheduler's PodTopologySpread and InterPodAffinity (as in their documentation, and as
the verdicts in `tests/data` show): a spread constraint counts no terminating pods,
none at all with an empty selector, and only on nodes that its policies admit and that have all
hard keys of the pod; an affinity counts pods that match all its terms.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.pod import PodShape
from libs.domain.topology import NodeInclusionPolicy, TopologySpread
from services.solver.core.ask import Ask, Place
from services.solver.core.bearing import bears
from services.solver.core.claim_class import ClaimClass, ClaimClasses
from services.solver.core.domains import ABSENT
from services.solver.core.vectors import Bools, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Which nodes a spread constraint looks at."""

    keys: tuple[str, ...]
    """Topology keys that a node must have."""
    places: tuple[Place, ...] | None
    """Node selector and affinity to honour; None to ignore them."""
    asker: PodShape | None
    """Whose tolerations are honoured; None to ignore taints."""


@dataclass(slots=True, kw_only=True, eq=False)
class Tally:
    """Counts of one kind of pods over one topology key."""

    key: str
    admission: Admission | None
    terminating: bool
    """Whether terminating pods count."""
    shapes: frozenset[int]
    """Ids of the shapes that count."""
    readers: set[int] = field(default_factory=set)
    """Ids of the shapes of waiting pods with a constraint about it."""
    hard: bool = False
    """Whether a constraint is about it that no pod gives up."""
    by_domain: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """By domain number; unused for hosts."""
    by_bin: Ints = field(default_factory=lambda: np.zeros(64, np.int64))
    """(at least n_bins,); used for hosts only."""
    admitted: Bools | None = None
    """(n_standing,): which standing bins it looks at; None for all."""
    doubtful: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """How many of those counted may not be there, by domain number or by bin."""
    total: int = 0
    """How many there are for certain, wherever that is."""
    opened_domains: int = 0
    """Domains of claims that it looks at."""
    open_domains: int = 0
    """Domains of such claims that may still come up in several."""
    opened_seen: int = 0
    """How many opened claims are already in `opened_domains`."""
    admits: dict[int, bool] = field(default_factory=dict)
    """Whether it looks at claims, by their class, as far as known."""

    @property
    def on_hosts(self) -> bool:
        """Return whether every bin is a domain of its own."""
        return self.key == label_keys.HOSTNAME

    def hosts(self, bins: int) -> Ints:
        """Return (bins,): the counts per bin."""
        if len(self.by_bin) < bins:
            grown = np.zeros(max(bins, 2 * len(self.by_bin)), np.int64)
            grown[: len(self.by_bin)] = self.by_bin
            self.by_bin = grown
        return self.by_bin[:bins]

    @property
    def certain(self) -> Mapping[int, int]:
        """Return how many there are at least, by domain number."""
        if not self.doubtful:
            return self.by_domain
        return {one: count - self.doubtful.get(one, 0) for one, count in self.by_domain.items()}

    def certain_hosts(self, bins: int) -> Ints:
        """Return (bins,): how many there are at least per bin."""
        counts = self.hosts(bins)
        if self.doubtful:
            counts = counts.copy()
            counts[list(self.doubtful)] -= list(self.doubtful.values())
        return counts


@dataclass(frozen=True, slots=True)
class Opened:
    """A claim of this plan at some moment."""

    known: ClaimClass
    used: Ints
    """(n_resources,)."""


def admission(constraint: TopologySpread, ask: Ask) -> Admission:
    """Return which nodes count for a spread constraint of this pod."""
    keys = {label_keys.canonical_key(one.topology_key) for one in ask.spread if one.required}
    keys.add(label_keys.canonical_key(constraint.topology_key))
    honours_affinity = constraint.node_affinity_policy is NodeInclusionPolicy.HONOR
    honours_taints = constraint.node_taints_policy is NodeInclusionPolicy.HONOR
    return Admission(
        keys=tuple(sorted(keys)),
        places=ask.node_places if honours_affinity else None,
        asker=ask.shape if honours_taints else None,
    )


def admission_key(rule: Admission) -> object:
    """Return what two equal admissions have in common."""
    return rule.keys, rule.places, None if rule.asker is None else rule.asker.tolerations


def admits_claim(rule: Admission, opened: Opened, classes: ClaimClasses) -> bool:
    """Tell whether a node bought for this claim may count for a spread constraint."""
    return any(True for _ in admitted(rule, opened, classes))


def admitted(rule: Admission, opened: Opened, classes: ClaimClasses) -> Iterator[ClaimClass]:
    """Yield what this claim may become of all that counts for a spread constraint."""
    keys = [key for key in rule.keys if key != label_keys.HOSTNAME]
    if any(classes.domains(opened.known, key) == ABSENT for key in keys):
        return
    taints = opened.known.template.pool.template.taints
    if rule.asker is not None and not bears(rule.asker, taints):
        return
    if rule.places is None:
        yield opened.known
        return
    for place in rule.places:
        if place.node_names is None:
            narrower = classes.narrow(opened.known, place.requirements)
            if narrower is None:
                continue
            if narrower is opened.known or narrower.rows_for(opened.used).any():
                yield narrower
