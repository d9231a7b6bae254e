"""`Ask`: what a pod of some shape asks for, with some of its preferences given up.

Apart because everything downstream knows only hard constraints: preferences are held for hard and
given up one by one, so that each rule has one implementation.

Source: `docs/sources.md` A2.4, D10, D13. Differences on purpose, where kube-scheduler is right: the
terms of a required node affinity are alternatives of equal right (Karpenter takes the first and
gives terms up one by one), and `PreferNoSchedule` is a preference on every node.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from libs.domain.pod import NodeTerm, PodShape, StorageRoom
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.solution import PreferencePolicy
from libs.domain.taint import ALL_EFFECTS, HARD_EFFECTS, Effect
from libs.domain.topology import PodAffinityTerm, TopologySpread

_MOST_ALTERNATIVES = 256

MOST_STEPS = 256
"""Preferences of one kind that a pod gives up one at a time."""

_Wish = TypeVar("_Wish")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One alternative of where a pod may run: labels, and names of nodes that exist."""

    requirements: Requirements
    node_names: frozenset[str] | None = None
    """Allowed names; None allows all."""
    excluded_node_names: frozenset[str] = frozenset()

    def names_allow(self, name: str) -> bool:
        """Tell whether a node of this name is allowed."""
        if self.node_names is not None and name not in self.node_names:
            return False
        return name not in self.excluded_node_names


ANYWHERE: tuple[Place, ...] = (Place(requirements=ANYTHING),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is hard of a shape; the terms of one set in `affinity` are for one and the same pod."""

    shape: PodShape
    kind: int
    """Id of the first shape that has the same rules: what asks of one kind have in common, such as
    their terms, is the same object."""
    node_places: tuple[Place, ...]
    """By node selector and node affinity: what topology spread counts nodes by."""
    places: tuple[Place, ...]
    """The same, volumes and room for new ones included; empty if they contradict each other."""
    spread: tuple[TopologySpread, ...]
    affinity: tuple[tuple[PodAffinityTerm, ...], ...]
    anti_affinity: tuple[PodAffinityTerm, ...]
    effects: frozenset[Effect]
    """Effects of taints that have to be tolerated."""
    lacking: frozenset[str] = frozenset()
    """Names of nodes whose kubelets do not say that they can do what the pod needs."""
    near_companions: bool = False
    """Whether the places are only those where its companions may run, too."""
    leads: int | None = None
    """Id of a shape that has to follow a pod of this one: the places are those where it may run,
    and one pod is enough."""

    @property
    def topological(self) -> bool:
        """Return whether other pods decide where this one may run."""
        return bool(self.spread or self.affinity or self.anti_affinity or self.shape.shared_volumes)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNodes:
    """What is known of nodes that are there, and of those that are yet to start."""

    started: frozenset[str] = frozenset()
    """Names of the nodes whose storage drivers have said how much room there is."""
    features: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """What the kubelet of each of these nodes says that it can do."""
    label_keys: frozenset[str] = frozenset()
    """Keys of labels that a node which is yet to start may be known to have."""

    def lacking(self, features: tuple[str, ...]) -> frozenset[str]:
        """Return the names of the nodes that do not have all of these features."""
        if not features:
            return frozenset()
        return frozenset(
            name for name, there in self.features.items() if not there.issuperset(features)
        )


NOTHING_KNOWN = KnownNodes()


def asks(
    shape: PodShape,
    policy: PreferencePolicy,
    *,
    prefer_no_schedule: bool,
    nodes: KnownNodes = NOTHING_KNOWN,
) -> tuple[Ask, ...]:
    """Return what a shape asks for, most wishes first, only the hard ones last.

    Args:
        shape: the shape.
        policy: `IGNORE` leaves preferences out from the start.
        prefer_no_schedule: whether any node or pool has a taint with that effect.
        nodes: what is known of nodes that are there, and of those that are yet to start.
    """
    if policy is PreferencePolicy.IGNORE:
        shape = _without_preferences(shape)
    found = [_ask(wishes, ALL_EFFECTS, nodes) for wishes in _relaxations(shape)]
    if prefer_no_schedule:
        found.append(replace(found[-1], effects=HARD_EFFECTS))
    return tuple(found)


def alike(made: tuple[Ask, ...], first: PodShape, shape: PodShape) -> tuple[Ask, ...]:
    """Return what a shape asks for.

    Args:
        made: what the first one of its kind asks for.
        first: that one.
        shape: the shape.
    """
    if shape is first:
        return made
    own = (shape if one.shape is first else _requesting(one.shape, shape) for one in made)
    return tuple(replace(one, shape=mine) for one, mine in zip(made, own, strict=True))


def _requesting(wishes: PodShape, shape: PodShape) -> PodShape:
    """Return the shape with some wishes given up, as one of its kind has done."""
    return replace(
        wishes,
        id=shape.id,
        requests=shape.requests,
        request_fields=shape.request_fields,
    )


def daemon(shape: PodShape) -> Ask:
    """Return what a daemon pod asks of its node: labels and taints, no more."""
    bare = _without_preferences(shape)
    return _ask(replace(bare, affinity=(), anti_affinity=(), topology_spread=()), HARD_EFFECTS)


def _without_preferences(shape: PodShape) -> PodShape:
    return replace(
        shape,
        preferred_node_terms=(),
        preferred_affinity=(),
        preferred_anti_affinity=(),
        topology_spread=tuple(one for one in shape.topology_spread if one.required),
    )


def _relaxations(shape: PodShape) -> Iterator[PodShape]:
    """Yield the shape, then with one preference less each time, in Karpenter's order."""
    yield shape
    for near in _shorter(shape.preferred_affinity):
        shape = replace(shape, preferred_affinity=near)
        yield shape
    for apart in _shorter(shape.preferred_anti_affinity):
        shape = replace(shape, preferred_anti_affinity=apart)
        yield shape
    for terms in _shorter(shape.preferred_node_terms):
        shape = replace(shape, preferred_node_terms=terms)
        yield shape
    every = shape.topology_spread
    for soft in _shorter(tuple(one for one in every if not one.required)):
        kept = frozenset(map(id, soft))
        spread = tuple(one for one in every if one.required or id(one) in kept)
        shape = replace(shape, topology_spread=spread)
        yield shape


def _shorter(wishes: tuple[_Wish, ...]) -> Iterator[tuple[_Wish, ...]]:
    """Yield the wishes without the first, without the first two, and so on until none is left.

    Where they are many, several at a time: each time all that are left are looked at.
    """
    step = -(-len(wishes) // MOST_STEPS)
    for given_up in range(step, len(wishes) + step, step or 1):
        yield wishes[given_up:]


def _ask(shape: PodShape, effects: frozenset[Effect], nodes: KnownNodes = NOTHING_KNOWN) -> Ask:
    hard_places = _node_places(shape)
    node_places = hard_places
    if shape.preferred_node_terms:
        wish = Place(requirements=shape.preferred_node_terms[0].requirements)
        node_places = combined(node_places, (wish,))
    places = with_volumes(node_places, shape)
    for room in shape.storage_rooms:
        places = combined(places, _with_room(room, nodes))
    preferred = tuple((wish.term,) for wish in shape.preferred_affinity)
    return Ask(
        shape=shape,
        kind=shape.id,
        node_places=hard_places,
        places=places,
        spread=shape.topology_spread,
        affinity=((shape.affinity,) if shape.affinity else ()) + preferred,
        anti_affinity=shape.anti_affinity
        + tuple(wish.term for wish in shape.preferred_anti_affinity),
        effects=effects,
        lacking=nodes.lacking(shape.required_features),
    )


def with_volumes(places: tuple[Place, ...], shape: PodShape) -> tuple[Place, ...]:
    """Return those of the places where the volumes can be used, whether or not there is room."""
    for alternatives in shape.volumes:
        options = tuple(Place(requirements=one) for one in dict.fromkeys(alternatives))
        places = combined(places, options)
    return places


def _with_room(room: StorageRoom, nodes: KnownNodes) -> tuple[Place, ...]:
    published = (Place(requirements=one) for one in room.published)
    starting = (
        Place(requirements=at_start(one, nodes), excluded_node_names=nodes.started)
        for one in room.starting
    )
    return (*published, *starting)


def at_start(requirements: Requirements, nodes: KnownNodes) -> Requirements:
    """Return what is asked of nodes that are yet to start: nothing of labels nobody knows yet."""
    return requirements.without(
        own.key for own in requirements if own.absent and own.key not in nodes.label_keys
    )


def _node_places(shape: PodShape) -> tuple[Place, ...]:
    selected = (Place(requirements=shape.node_selector),) if shape.node_selector else ANYWHERE
    if not shape.required_node_terms:
        return selected
    return combined(selected, tuple(_term_place(term) for term in shape.required_node_terms))


def _term_place(term: NodeTerm) -> Place:
    return Place(
        requirements=term.requirements,
        node_names=frozenset(term.node_names) if term.node_names else None,
        excluded_node_names=frozenset(term.excluded_node_names),
    )


def without_nodes(ask: Ask, names: frozenset[str]) -> Ask:
    """Return what is asked for, but not on nodes of these names."""
    if not names:
        return ask
    places = tuple(
        replace(one, excluded_node_names=one.excluded_node_names | names) for one in ask.places
    )
    return replace(ask, places=places)


def combined(left: tuple[Place, ...], right: tuple[Place, ...]) -> tuple[Place, ...]:
    """Return what both sides allow: every pair that does not contradict itself, each once."""
    if right == ANYWHERE:
        return left
    found: dict[Place, None] = {}
    for one in left:
        for other in right:
            both = _both(one, other)
            if both.requirements.satisfiable and both.node_names != frozenset():
                found[both] = None
    return tuple(found)[:_MOST_ALTERNATIVES]


def _both(one: Place, other: Place) -> Place:
    names = one.node_names
    if other.node_names is not None:
        names = other.node_names if names is None else names & other.node_names
    return Place(
        requirements=one.requirements.intersection(other.requirements),
        node_names=names,
        excluded_node_names=one.excluded_node_names | other.excluded_node_names,
    )
