"""Tallies of one solve: one for each kind of pods that any constraint is about.

Apart from `topology.py`, which counts: here it is found out what has to be counted, and what that
means for whom.
"""

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from libs.domain import labels as label_keys
from libs.domain.pod import PodShape, SharedVolume
from libs.domain.topology import PodAffinityTerm, TopologySpread
from libs.domain.workload import Namespace
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.shape_index import ShapeIndex
from services.solver.core.reading.bound_pods import BoundPods
from services.solver.core.topology.algebra import Algebra
from services.solver.core.topology.entangled import entangled
from services.solver.core.topology.rules import AffinityRule, Keeper, Rules, SpreadRule
from services.solver.core.topology.tally import Tally, admission, admission_key


class Tallies:
    """Made by `build`; afterwards only their counts change."""

    def __init__(self, algebra: Algebra) -> None:
        self._algebra = algebra
        self.all: dict[object, Tally] = {}
        self.counting: dict[int, list[Tally]] = defaultdict(list)
        """Those that count pods of a shape, by its id."""
        self._keepers: dict[int, list[Keeper]] = defaultdict(list)
        """Who may keep pods of a shape away, by its id."""
        self.entangled: frozenset[int] = frozenset()
        """Ids of shapes whose rules are too many, so that they wait; nothing is made for them."""
        self._index = ShapeIndex((), {})
        self._rules: dict[_Likeness, Rules] = {}
        self._by_terms: dict[tuple[int, ...], _Matching] = {}
        """By the identities of the terms."""
        self._spread: dict[_Likeness, list[Tally]] = {}
        """One per constraint."""
        self._asks: list[Ask] = []
        """Kept, so that nothing else gets the identity of their rules."""
        self._alone: Container[int] = ()
        self._hard: Mapping[int, Ask] = {}
        """What is asked for in any case, by id of the shape."""

    def build(
        self,
        asks: list[Ask],
        coming: Mapping[int, PodShape],
        bound: BoundPods,
        namespaces: Mapping[str, Namespace],
        alone: Container[int],
    ) -> None:
        """Make every tally that these asks need.

        Args:
            asks: of all pods that wait; of each shape the last one is without preferences.
            coming: the shapes of those, and of daemons, by id.
            bound: the pods that run.
            namespaces: as selectors see them.
            alone: ids of the shapes of which there is one pod.
        """
        self._alone = alone
        self._index = ShapeIndex(coming.values(), namespaces, bound)
        largest = _with_all_wishes(asks)
        self.entangled = entangled(_alike(largest), self._index, bound)
        asks = [ask for ask in asks if ask.shape.id not in self.entangled]
        self._asks = asks
        hard = self._hard = {ask.shape.id: ask for ask in asks}
        owning = {one: shape for one, shape in coming.items() if one not in self.entangled}
        self._own_tallies(owning, frozenset(hard), bound)
        self._volume_tallies((*coming.values(), *bound.with_shared_volumes()))
        largest = [ask for ask in largest if ask.shape.id not in self.entangled]
        for many in _alike((*largest, *hard.values())):
            for tally in self._tallies_of(many[0]):
                tally.hard |= any(hard[ask.shape.id] is ask for ask in many)
                tally.readers.update(ask.shape.id for ask in many)

    def rules(self, ask: Ask) -> Rules:
        """Return what other pods mean for an ask."""
        known = _likeness(ask)
        found = self._rules.get(known)
        if found is None:
            self._asks.append(ask)
            found = self._rules[known] = self._make_rules(ask)
        return found

    def keepers(self, shape: PodShape) -> Sequence[Keeper]:
        """Return who may keep pods of a shape away, pods of that shape included."""
        return self._keepers.get(shape.id, ())

    def _tallies_of(self, ask: Ask) -> list[Tally]:
        """Return the tallies that the constraints of an ask are about."""
        found = self._spread_tallies(ask)
        for terms in (*ask.affinity, *((term,) for term in ask.anti_affinity)):
            found += self._matching(terms).tallies
        return found

    def _own_tallies(
        self, coming: Mapping[int, PodShape], waiting: frozenset[int], bound: BoundPods
    ) -> None:
        owners: dict[PodAffinityTerm, dict[int, PodShape]] = defaultdict(dict)
        for shape in coming.values():
            for term in shape.anti_affinity:
                owners[term][shape.id] = shape
        for term, owning in owners.items():
            if away := self._index.matching_all((term,)) & waiting:
                self._add_keeper(term, owning | bound.owners(term), away)
        met = ((term, coming[one]) for one in waiting for term in bound.terms_about(coming[one]))
        about: dict[PodAffinityTerm, set[int]] = defaultdict(set)
        for term, shape in met:
            if term not in owners and self._index.matches(term, shape):
                about[term].add(shape.id)
        for term in sorted(about, key=bound.turn):
            self._add_keeper(term, bound.owners(term), frozenset(about[term]))

    def _add_keeper(
        self, term: PodAffinityTerm, owning: Mapping[int, PodShape], away: frozenset[int]
    ) -> None:
        """Let pods of these shapes keep others away."""
        key = label_keys.canonical_key(term.topology_key)
        self._add(("owner", term), tally := _of_shapes(key, owning, away))
        keeper = Keeper(term=term, owners=tuple(owning.values()), tally=tally)
        for number in away:
            self._keepers[number].append(keeper)

    def _spread_tallies(self, ask: Ask) -> list[Tally]:
        alike = _likeness(ask)
        known = self._spread.get(alike)
        if known is None:
            known = [self._spread_tally(constraint, ask) for constraint in ask.spread]
            self._spread[alike] = known
        return [*known]

    def _spread_tally(self, constraint: TopologySpread, ask: Ask) -> Tally:
        rule = admission(constraint, ask)
        key = label_keys.canonical_key(constraint.topology_key)
        name = ("spread", key, constraint.selector, ask.shape.namespace, admission_key(rule))
        found = self.all.get(name)
        if found is None:
            found = Tally(
                key=key,
                admission=rule,
                terminating=False,
                shapes=self._index.spread(constraint, ask.shape.namespace),
                admitted=self._algebra.ground.admitted_bins(rule),
            )
            self._add(name, found)
        return found

    def _volume_tallies(self, shapes: Iterable[PodShape]) -> None:
        users: dict[SharedVolume, set[int]] = defaultdict(set)
        for shape in shapes:
            for one in shape.shared_volumes:
                if one.topology_key:
                    users[one].add(shape.id)
        for one, ids in users.items():
            key = label_keys.canonical_key(one.topology_key)
            tally = _of_shapes(key, ids, ids)
            self._add(("volume", one), tally)
            self._algebra.tie(one.claim, tally)

    def _matching(self, terms: tuple[PodAffinityTerm, ...]) -> "_Matching":
        """Return what is known of terms, by their identity.

        As preferences are given up, those that are left are asked about again, one time each.
        """
        identity = tuple(map(id, terms))
        found = self._by_terms.get(identity)
        if found is None:
            found = self._by_terms[identity] = _Matching(
                terms=terms,
                tallies=tuple(self._matching_tally(terms, key) for key in _keys(terms)),
                shapes=self._index.matching_all(terms),
            )
        return found

    def _matching_tally(self, terms: tuple[PodAffinityTerm, ...], key: str) -> Tally:
        name = ("matching", terms, key)
        found = self.all.get(name)
        if found is None:
            found = Tally(
                key=key,
                admission=None,
                terminating=True,
                shapes=self._index.matching_all(terms),
            )
            self._add(name, found)
        return found

    def _add(self, name: object, tally: Tally) -> None:
        self.all[name] = tally
        self._algebra.add_tally(tally, map(self._index.shape, sorted(tally.shapes)))
        for shape in tally.shapes:
            self.counting[shape].append(tally)

    def _make_rules(self, ask: Ask) -> Rules:
        shape = ask.shape
        apart = []
        for term in ask.anti_affinity:
            (tally,) = self._matching((term,)).tallies
            apart.append((tally, shape.id in tally.shapes))
        apart += [(one.tally, shape.id in one.tally.shapes) for one in self.keepers(shape)]
        apart += [(tally, False) for tally in self._followers_apart(ask)]
        affinity = tuple(
            AffinityRule(tallies=known.tallies, own=shape.id in known.shapes)
            for known in map(self._matching, ask.affinity)
        )
        spread = [
            SpreadRule(tally=tally, constraint=constraint, own=_counts_itself(constraint, shape))
            for tally, constraint in zip(self._spread_tallies(ask), ask.spread, strict=True)
        ]
        spread += self._followers_spread(ask)
        # Who is only preferred to be near or far does not have to be in one domain for that.
        read = [tally for tally in self.counting.get(shape.id, ()) if tally.hard]
        read += [tally for rule in affinity for tally in rule.tallies]
        read += [tally for tally, own in apart if own]
        keys = {tally.key for tally in read if not self._concerns_itself(tally, shape)}
        keys |= {rule.tally.key for rule in spread}
        return Rules(
            spread=tuple(spread),
            affinity=affinity,
            apart=tuple(dict.fromkeys(apart)),
            together=tuple(
                self.all["volume", one] for one in shape.shared_volumes if one.topology_key
            ),
            exclusive=tuple(one.claim for one in shape.shared_volumes if one.exclusive),
            pins=tuple(sorted(keys - {label_keys.HOSTNAME})),
        )

    def _followers_apart(self, ask: Ask) -> Iterator[Tally]:
        """Yield who counts pods that whoever has to follow a pod cannot meet where that one is."""
        # Of some pods that are tried without the others, the follower may be none.
        if ask.leads is None or ask.leads in self.entangled or ask.leads not in self._index:
            return
        follower = self._index.shape(ask.leads)
        shared = _keys(follower.affinity)
        terms = ((term,) for term in follower.anti_affinity)
        found = [tally for one in terms for tally in self._matching(one).tallies]
        found += [one.tally for one in self.keepers(follower)]
        # On one host they are in one domain of every key.
        yield from (one for one in found if one.key in shared or label_keys.HOSTNAME in shared)

    def _followers_spread(self, ask: Ask) -> Iterator[SpreadRule]:
        """Yield what spreads whoever has to follow a pod over domains that it shares with that."""
        follower = None if ask.leads is None else self._hard.get(ask.leads)
        if follower is None:
            return
        shared = _keys(follower.shape.affinity)
        pairs = zip(self._spread_tallies(follower), follower.spread, strict=True)
        for tally, constraint in pairs:
            if tally.key in shared or label_keys.HOSTNAME in shared:
                own = _counts_itself(constraint, follower.shape) + (ask.shape.id in tally.shapes)
                yield SpreadRule(tally=tally, constraint=constraint, own=own)

    def _concerns_itself(self, tally: Tally, shape: PodShape) -> bool:
        """Tell whether a tally is about one pod only, and nobody else asks where that is."""
        if shape.id not in self._alone:
            return False
        own = {shape.id}
        return tally.shapes == own and tally.readers <= own


_Likeness = tuple[int, int | None, int, int, int]
"""What asks with the same rules have in common: their kind, whom the pod leads, and the identities
of what they say of others."""


def _likeness(ask: Ask) -> _Likeness:
    return ask.kind, ask.leads, id(ask.spread), id(ask.affinity), id(ask.anti_affinity)


def _alike(asks: Iterable[Ask]) -> Collection[list[Ask]]:
    """Return the asks, those with the same rules in one."""
    found: dict[_Likeness, list[Ask]] = defaultdict(list)
    for ask in asks:
        found[_likeness(ask)].append(ask)
    return found.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matching:
    """Terms for one and the same pod, and what counts those that match."""

    terms: tuple[PodAffinityTerm, ...]
    """Kept, so that nothing else gets their identity."""
    tallies: tuple[Tally, ...]
    """One per topology key, in order of the key."""
    shapes: frozenset[int]


def _with_all_wishes(asks: Iterable[Ask]) -> list[Ask]:
    """Return the largest ask of each shape: whatever else its pods ask for is part of that."""
    found: dict[int, Ask] = {}
    for ask in asks:
        if _rules_of(ask) > _rules_of(found.setdefault(ask.shape.id, ask)):
            found[ask.shape.id] = ask
    return list(found.values())


def _rules_of(ask: Ask) -> int:
    return len(ask.spread) + len(ask.affinity) + len(ask.anti_affinity)


def _keys(terms: tuple[PodAffinityTerm, ...]) -> tuple[str, ...]:
    return tuple(sorted({label_keys.canonical_key(term.topology_key) for term in terms}))


def _of_shapes(key: str, shapes: Iterable[int], readers: Iterable[int]) -> Tally:
    """Return a tally of what is hard whoever asks."""
    return Tally(
        key=key,
        admission=None,
        terminating=True,
        shapes=frozenset(shapes),
        readers=set(readers),
        hard=True,
    )


def _counts_itself(constraint: TopologySpread, shape: PodShape) -> int:
    selector = constraint.selector
    return int(selector is not None and selector.matches(dict(shape.labels)))
