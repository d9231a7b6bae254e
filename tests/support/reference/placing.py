"""Find each pod a place: a node that exists, one that is planned, a new one.

A planned node stays open as to its size: it is the cheapest option that fits all its pods, and
becomes a larger one for another pod as long as no label changes that a rule about places reads.
All else about it, such as its zone, is settled when it is opened. That is simple, and can only
place fewer pods than a solver that leaves zones open, too.

Source: `docs/sources.md` D4.2, D5, D6.2-3, D7, D12.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from libs.domain.resources import Resources
from libs.domain.solution import MinValuesPolicy, SolveOptions
from libs.oracle.binding import bind_pod
from libs.oracle.cluster import Cluster
from libs.oracle.devices.extended import classes_of_resources
from libs.oracle.objects import KubeObject, key_of, spec_of, status_of
from libs.oracle.pods import Pod, read_pod
from libs.oracle.verdict import judge, judge_node
from tests.support.reference.options import (
    Market,
    Option,
    put_option,
    remove,
    unwelcoming,
)
from tests.support.reference.wishes import Wish, wishes


@dataclass(slots=True, kw_only=True)
class NewNode:
    """A node that the reference buys."""

    name: str
    option: Option
    """What it is at this point."""
    options: list[Option]
    """What fits its pods, the cheapest first."""
    pods: list[KubeObject] = field(default_factory=list)
    requested: Counter[str] = field(default_factory=Counter)

    @property
    def reservations(self) -> frozenset[str]:
        """The reservations of which it holds an instance: all that it may become."""
        return frozenset(one.reservation for one in self.options if one.reservation)


@dataclass(slots=True, kw_only=True)
class Placing:
    """A cluster that fills up."""

    cluster: Cluster
    existing: Sequence[str]
    """Names of nodes that exist or are on their way, in the order in which they are tried."""
    market: Market
    options: SolveOptions
    gives_devices: bool
    """Whether pods that claim devices get a place."""
    left: dict[str, Resources]
    """Per pool what its limits leave; only limited resources are in it."""
    instances: Counter[str]
    """Instances left, by reservation."""
    settled: frozenset[str]
    """Labels that stay when a planned node grows."""
    new: list[NewNode] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    """Node by `namespace/name` of the pod."""

    def place(self, pod: KubeObject) -> bool:
        """Bind the pod where it is accepted first, giving up its preferences one by one."""
        if self.ignores(pod):
            return False
        for wish in wishes(pod, self.options.preference_policy):
            name = self._find(wish)
            if name is not None:
                self.bind(pod, name)
                return True
        return False

    def ignores(self, pod: KubeObject) -> bool:
        """Tell whether the pod gets no place whatever there is."""
        return not self.gives_devices and bool(spec_of(pod).get("resourceClaims"))

    def nominated(self, pod: KubeObject) -> str:
        """Return the node nominated for a pod, if it stays: none is bought for it then."""
        name = str(status_of(pod).get("nominatedNodeName") or "")
        return name if name in self.existing else ""

    def new_node(self, wish: Wish) -> NewNode | None:
        """Return the node that could be bought for the pod; nothing is changed."""
        if self.nominated(wish.pod):
            return None
        name = f"reference-{len(self.new) + 1}"
        pod = read_pod(wish.pod)
        for pool in self.market.pools:
            options = self._affordable(pool, self.market.fitting(wish, pod, pool))
            had = [
                one for one in options if not one.reservation or self.instances[one.reservation] > 0
            ]
            if any(one.reservation for one in options) and not any(one.reservation for one in had):
                # All instances are promised: the pod waits rather than buy beside a reservation.
                return None
            option = self._accepted(wish, name, had)
            if option is not None:
                return NewNode(name=name, option=option, options=had)
        return None

    def keeps_choice(self, node: NewNode, wish: Wish) -> bool:
        """Tell whether the node's pool would have values enough to choose from with the pod."""
        if not _wants_choice(node.option):
            return True
        if self._claims_devices(wish.pod):
            # Which of the types have the devices that are left is not looked at.
            return False
        options = self._narrowed(node, wish, read_pod(wish.pod))
        return self._enough_choice(options, node.option)

    def charge(self, node_options: Sequence[Option]) -> None:
        """Count a node that may become any of these against its pool and its reservations."""
        pool = node_options[0].pool.name
        self.left[pool] = self.left[pool].subtract(largest_charge(node_options))
        self.instances.subtract({one.reservation for one in node_options if one.reservation})

    def bind(self, pod: KubeObject, name: str) -> None:
        """Put the pod on the node and give its claims what the filters promised."""
        bind_pod(self.cluster, pod, name)
        self.note(pod, name)

    def note(self, pod: KubeObject, name: str) -> None:
        """Remember that the pod is on the node."""
        self.places[key_of(pod)] = name
        for node in self.new:
            if node.name == name:
                node.pods.append(pod)
                node.requested.update({**read_pod(pod).requests, "pods": 1})

    def _find(self, wish: Wish) -> str | None:
        """Return the node for the pod; one that is not there yet is made."""
        pod = read_pod(wish.pod)
        accepting = [
            name
            for name in judge(self.cluster, wish.pod).feasible
            if not (wish.avoids_soft_taints and unwelcoming(self.cluster.nodes[name], pod))
        ]
        nominated = self.nominated(wish.pod)
        for name in (nominated,) if nominated else self.existing:
            if name in accepting:
                return name
        if nominated:
            return None
        for node in sorted(self.new, key=lambda one: len(one.pods)):
            options = self._narrowed(node, wish, pod)
            if self._joins(node, wish, options, as_it_is=node.name in accepting):
                return node.name
        bought = self.new_node(wish)
        if bought is None:
            return None
        self.new.append(bought)
        self.charge(bought.options)
        put_option(self.cluster, bought.option, bought.name, self.market.daemon_sets)
        return bought.name

    def _narrowed(self, node: NewNode, wish: Wish, pod: Pod) -> list[Option]:
        """Return what a planned node may still become with one more pod."""
        fitting = self.market.fitting(wish, pod, node.option.pool.name)
        requested = Counter(node.requested)
        requested.update({**pod.requests, "pods": 1})
        for resource in classes_of_resources(self.cluster, tuple(requested)):
            del requested[resource]
        return [
            one
            for one in node.options
            if one in fitting
            and all(amount <= one.free.get(name, 0) for name, amount in requested.items())
        ]

    def _joins(self, node: NewNode, wish: Wish, options: list[Option], *, as_it_is: bool) -> bool:
        """Tell whether the pod can go on a planned node, and let that grow for it."""
        held = node.reservations
        kept = held.intersection(one.reservation for one in options)
        if not self._enough_choice(options, node.option) or (held and not kept):
            return False
        if not (as_it_is and node.option in options) and not self._grows(node, wish, options):
            return False
        self.instances.update(held - kept)
        node.options = options
        return True

    def _grows(self, node: NewNode, wish: Wish, options: Sequence[Option]) -> bool:
        if any(self._claims_devices(pod) for pod in (wish.pod, *node.pods)):
            return False
        before = node.option
        for option in options:
            if option is before or not self._looks_like(option, before):
                continue
            self._remake(node, option)
            if not judge_node(self.cluster, wish.pod, node.name):
                return True
        self._remake(node, before)
        return False

    def _claims_devices(self, pod: KubeObject) -> bool:
        resources = classes_of_resources(self.cluster, read_pod(pod).requests)
        return bool(spec_of(pod).get("resourceClaims") or resources)

    def _remake(self, node: NewNode, option: Option) -> None:
        if option is node.option:
            return
        remove(self.cluster, node.name)
        node.option = option
        put_option(self.cluster, option, node.name, self.market.daemon_sets)
        for pod in node.pods:
            self.cluster.bind(pod, node.name)

    def _looks_like(self, option: Option, other: Option) -> bool:
        return all(option.labels.get(key) == other.labels.get(key) for key in self.settled)

    def _affordable(self, pool: str, options: Iterable[Option]) -> list[Option]:
        """Return those of the pool's options that its limits allow."""
        left = self.left[pool]
        return [
            option
            for option in options
            if all(option.charge.get(name) <= amount for name, amount in left.items())
        ]

    def _accepted(self, wish: Wish, name: str, options: Sequence[Option]) -> Option | None:
        """Return the first option that takes the pod with all that is around.

        Of the options in the same place there must be enough to choose from.
        """
        if any(map(_wants_choice, options)) and self._claims_devices(wish.pod):
            options = [one for one in options if self._takes(wish, name, one)]
        for option in options:
            if self._enough_choice(options, option) and self._takes(wish, name, option):
                return option
        return None

    def _takes(self, wish: Wish, name: str, option: Option) -> bool:
        """Tell whether a node of this name, were it this option, would take the pod."""
        put_option(self.cluster, option, name, self.market.daemon_sets)
        refusals = judge_node(self.cluster, wish.pod, name)
        remove(self.cluster, name)
        return not refusals

    def _enough_choice(self, options: Iterable[Option], chosen: Option) -> bool:
        """Tell whether the options where the chosen one is have all the values that are wanted."""
        alike = [one for one in options if self._looks_like(one, chosen)]
        if self.options.min_values_policy is MinValuesPolicy.BEST_EFFORT:
            return bool(alike)
        for wanted in chosen.pool.template.requirements:
            # A claim says of which values it is: what none of the nodes can be does not count.
            offered = {one.labels[wanted.key] for one in alike if wanted.key in one.labels}
            if wanted.min_values is not None and len(offered) < wanted.min_values:
                return False
        return bool(alike)


def _wants_choice(option: Option) -> bool:
    """Tell whether the pool has minValues."""
    return any(one.min_values is not None for one in option.pool.template.requirements)


def largest_charge(options: Iterable[Option]) -> Resources:
    """Return the most that any of the options takes of its pool's limits, per resource."""
    most = Resources()
    for one in options:
        most = most.maximum(one.charge)
    return most
