"""Tallies: how many pods of a kind there are per topology domain.

Apart because spread, affinity, anti-affinity and its inverse differ only in which pods they count
and what they conclude; counting is one mechanism, and the kernel's. Hosts are counted per bin, all
other keys per domain.

Source: kube-scheduler's PodTopologySpread and InterPodAffinity (as in their documentation, and as
the verdicts in `tests/data` show): a spread constraint counts no terminating pods,
none at all with an empty selector, and only on nodes that its policies admit and that have all
hard keys of the pod; an affinity counts pods that match all its terms.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import joiner_kernel

from libs.domain import labels as label_keys
from libs.domain.pod import PodShape
from libs.domain.topology import NodeInclusionPolicy, TopologySpread
from services.solver.core.domains import ABSENT
from services.solver.core.offers.claim_class import ClaimClass, ClaimClasses
from services.solver.core.pods.ask import Ask, Place
from services.solver.core.pods.bearing import bears
from services.solver.core.vectors import Bools


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
    admitted: Bools | None = None
    """(n_standing,): which standing bins it looks at; None for all."""
    number: int = -1
    """By which the kernel, which counts, knows it."""
    _packing: joiner_kernel.Packing | None = None

    def register(self, packing: joiner_kernel.Packing, number: int) -> None:
        """Let it be counted by this packing under this number."""
        self._packing, self.number = packing, number

    @property
    def on_hosts(self) -> bool:
        """Return whether every bin is a domain of its own."""
        return self.key == label_keys.HOSTNAME

    @property
    def total(self) -> int:
        """Return how many pods there are for certain, wherever that is."""
        return 0 if self._packing is None else self._packing.total(self.number)

    @property
    def counts(self) -> Mapping[int, int]:
        """Return how many pods there are by domain number, or by bin; those with any."""
        if self._packing is None:
            return {}
        counted = enumerate(self._packing.counted(self.number).tolist())
        return {number: count for number, count in counted if count}


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


def may_count(rule: Admission, known: ClaimClass, classes: ClaimClasses) -> Iterator[ClaimClass]:
    """Yield what claims of a class may become of all that counts for a spread constraint."""
    keys = [key for key in rule.keys if key != label_keys.HOSTNAME]
    if any(classes.domains(known, key) == ABSENT for key in keys):
        return
    if rule.asker is not None and not bears(rule.asker, known.template.pool.template.taints):
        return
    if rule.places is None:
        yield known
        return
    for place in rule.places:
        narrower = classes.narrow(known, place.requirements) if place.node_names is None else None
        if narrower is not None:
            yield narrower
