"""An explanation in lines for people, up to 100 columns wide."""

from collections.abc import Iterable, Iterator
from textwrap import wrap

from cli.formats import counted, dollars, few
from libs.domain.explanation import (
    Change,
    Explanation,
    NodeExplanation,
    NodePoolExplanation,
    PodExplanation,
    PodSituation,
    Refusal,
)
from libs.domain.plan import LaunchOption
from libs.domain.reason import Rule, TargetKind
from libs.domain.resources import PODS, Resources, named_amount, readable_amount
from libs.domain.snapshot import ClusterSnapshot

_WIDTH = 100
_LABEL = 18
_OPTIONS_SHOWN = 5
_PODS_SHOWN = 10

_FILTERS = {
    Rule.NODE_UNAVAILABLE: "unschedulable",
    Rule.TAINTS: "untolerated taint",
    Rule.NODE_AFFINITY: "node affinity/selector",
    Rule.HOST_PORTS: "host ports not free",
    Rule.RESOURCES: "insufficient resources",
    Rule.VOLUME_TOPOLOGY: "volume node affinity",
    Rule.STORAGE_CAPACITY: "not enough free storage",
    Rule.VOLUME_LIMITS: "max volume count",
    Rule.VOLUME_CLAIM: "volume in use",
    Rule.TOPOLOGY_SPREAD: "pod topology spread",
    Rule.POD_AFFINITY: "pod affinity",
    Rule.POD_ANTI_AFFINITY: "pod anti-affinity",
    Rule.NODE_FEATURES: "pod's required features",
    Rule.VOLUME_BINDING: "free persistent volumes",
    Rule.DEVICES: "devices",
}
"""What kube-scheduler's filters are called, where that is not the name of the rule."""


def explained(snapshot: ClusterSnapshot, answer: Explanation) -> Iterator[str]:
    """Yield the lines of an explanation."""
    names = {
        uid: f"{namespace}/{name}"
        for uid, namespace, name in zip(
            snapshot.pods.uids, snapshot.pods.namespaces, snapshot.pods.names, strict=True
        )
    }
    if answer.pod is not None:
        yield from _pod(answer, answer.pod)
    if answer.node is not None:
        yield from _node(answer, answer.node, names)
    if answer.nodepool is not None:
        yield from _pool(answer, answer.nodepool, names)


def _line(label: str, text: str) -> Iterator[str]:
    """Yield a labelled text, wrapped; what follows the label is in one column."""
    head = f"  {label:<{_LABEL}}"
    if len(head) > _LABEL + 2:
        yield head.rstrip()
        head = " " * (_LABEL + 2)
    rest = " " * (_LABEL + 2)
    yield from wrap(
        text or "none",
        _WIDTH,
        initial_indent=head + " ",
        subsequent_indent=rest + " ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _title(text: str) -> Iterator[str]:
    yield from wrap(text, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


# Pods.


def _pod(answer: Explanation, pod: PodExplanation) -> Iterator[str]:
    yield from _title(f"Pod {pod.namespace}/{pod.name} is {_situation(pod)}: {pod.message}")
    if pod.situation is PodSituation.PLACED:
        yield from _options("may become", answer.options_by_price)
        yield from _existing(pod, answer)
    if answer.unplaceable is None or pod.situation is not PodSituation.UNPLACED:
        return
    for one in answer.unplaceable.rejections:
        repeated = one.message.startswith(one.rule)
        told = one.message if repeated else f"{one.rule}: {one.message}"
        yield from _line(f"nodepool {one.target}", told)
        if one.suggestion:
            yield from _line("", f"would take it: {one.suggestion}")
    yield from _existing(pod, answer)
    yield from _changes(pod)


def _situation(pod: PodExplanation) -> str:
    return "waiting and has a place" if pod.situation is PodSituation.PLACED else str(pod.situation)


def _existing(pod: PodExplanation, answer: Explanation) -> Iterator[str]:
    counts = dict(answer.unplaceable.existing) if answer.unplaceable is not None else {}
    for one in pod.nearest:
        many = counts.get(one.rule)
        label = counted(many, "node") if many else "node"
        what = _FILTERS.get(one.rule, str(one.rule))
        nearest = f"{one.target_kind} {one.target}"
        yield from _line(label, f"{what}; nearest is {nearest}: {one.message}")
    told = {one.rule for one in pod.nearest}
    for rule, many in counts.items():
        if rule not in told and many:
            yield from _line(counted(many, "node"), _FILTERS.get(rule, str(rule)))


def _changes(pod: PodExplanation) -> Iterator[str]:
    tried = f"{counted(pod.trials, 'decision')} made anew to find out"
    if not pod.changes:
        some = "that was tried" if pod.cut_short else "of a kind that is tried"
        told = f" ({tried})" if pod.trials else ""
        yield from _title(f"No single change {some} gives it a place{told}.")
        return
    yield from _title(f"Single changes that give it a place, smallest first ({tried}):")
    for number, change in enumerate(pod.changes, start=1):
        yield from _change(number, change)


def _change(number: int, change: Change) -> Iterator[str]:
    where = {
        TargetKind.NODE: f"node {change.landing}",
        TargetKind.NODECLAIM: f"claim in flight {change.landing}",
        TargetKind.NODEPOOL: f"a new node of nodepool {change.landing}",
    }[change.landing_kind]
    text = f"{number}. {change.message}; it then goes to {where}"
    yield from wrap(
        text, _WIDTH, initial_indent="  ", subsequent_indent="     ", break_on_hyphens=False
    )
    if change.field:
        values = " → ".join(part or "nothing" for part in (change.old, change.new))
        yield from wrap(
            f"{change.field}: {values}",
            _WIDTH,
            initial_indent="     ",
            subsequent_indent="     ",
            break_long_words=False,
            break_on_hyphens=False,
        )


# Nodes.


def _node(answer: Explanation, node: NodeExplanation, names: dict[str, str]) -> Iterator[str]:
    title = f"Node {node.name}" if node.name else f"NodeClaim {node.nodeclaim} (in flight)"
    yield from _title(f"{title}: {', '.join(node.states) or 'in use'}")
    if node.name:
        yield from _line("nodeclaim", node.nodeclaim)
    yield from _line("nodepool", _owner(node.nodepool, answer))
    yield from _line("offering", _offering(node))
    yield from _line("taints", ", ".join(map(str, node.taints)))
    yield from _line("allocatable", _amounts(node.allocatable))
    yield from _line(
        "used", f"{_amounts(node.used, without=PODS)} by {counted(len(node.pods), 'pod')}"
    )
    if len(node.daemons):
        yield from _line("daemons to come", _amounts(node.daemons))
    yield from _line("free", _amounts(node.free))
    yield from _pods(node)
    yield from _waiting(node.could_take, node.refusals, names)
    yield from _cheaper(answer, node)
    if answer.decision is not None:
        kept = [f"{one.kind}: {one.message}" for one in answer.decision.blockers]
        yield from _several("keeps it", kept, "nothing that the snapshot shows")


def _owner(pool: str, answer: Explanation) -> str:
    if not pool or answer.node_class is None:
        return pool
    return f"{pool} ({answer.node_class.kind} {answer.node_class.name})"


def _offering(node: NodeExplanation) -> str:
    parts = (node.instance_type, node.zone, node.capacity_type)
    price = "price not known"
    if node.price_nanos_per_hour is not None:
        price = f"{dollars(node.price_nanos_per_hour)} $/h"
    return ", ".join((*(part or "?" for part in parts), price))


def _pods(node: NodeExplanation) -> Iterator[str]:
    listed = [
        f"{pod.namespace}/{pod.name}: {_amounts(pod.requests, without=PODS)}"
        for pod in node.pods[:_PODS_SHOWN]
    ]
    hidden = len(node.pods) - _PODS_SHOWN
    if hidden > 0:
        listed.append(f"and {hidden} more; --format json has all")
    yield from _several("pods", listed, "none")


def _cheaper(answer: Explanation, node: NodeExplanation) -> Iterator[str]:
    if not node.options_known:
        yield from _line("cheaper", "cannot be told: no nodepool with a catalogue")
    elif not answer.options_by_price:
        yield from _line("cheaper", "no offering of its pool holds its pods for less")
    else:
        yield from _options("cheaper", answer.options_by_price)


# Pools.


def _pool(answer: Explanation, pool: NodePoolExplanation, names: dict[str, str]) -> Iterator[str]:
    usable = "nodes can be bought from it" if pool.usable else "nothing is bought from it"
    yield from _title(f"NodePool {pool.name}: {usable}")
    for message in answer.pool_messages:
        yield from _line("message", message.message)
    if answer.node_class is not None:
        yield from _line("node class", f"{answer.node_class.kind} {answer.node_class.name}")
    order = f"weight {pool.weight}, tried as number {pool.position} of {pool.pools}"
    yield from _line("order", order)
    if pool.replicas is not None:
        yield from _line("static", counted(pool.replicas, "node"))
    yield from _line("taints", ", ".join(map(str, pool.taints)))
    steps = [
        f"{step.step}: {counted(step.instance_types, 'type')}, "
        f"{counted(step.offerings, 'offering')} left"
        for step in pool.funnel
    ]
    yield from _several("could buy", steps, "nothing is known of what is sold")
    yield from _options("cheapest", answer.options_by_price)
    yield from _limits(pool)
    overhead = [_amounts(one) for one in (pool.least_overhead, pool.most_overhead)]
    same = overhead[0] == overhead[1]
    yield from _line("daemons take", overhead[0] if same else f"{overhead[0]} to {overhead[1]}")
    yield from _waiting(pool.could_take, pool.refusals, names)


def _limits(pool: NodePoolExplanation) -> Iterator[str]:
    counted_up = len(pool.used) or len(pool.left)
    parts = [
        f"{name}: {readable_amount(name, pool.used.get(name))} of "
        f"{readable_amount(name, limit)} used, "
        f"{readable_amount(name, pool.left.get(name))} left"
        if counted_up
        else f"{name}: {readable_amount(name, limit)}"
        for name, limit in pool.limits.items()
    ]
    yield from _several("limits", parts, f"none; it has {counted(pool.nodes, 'node')}")


# Both.


def _waiting(
    could_take: tuple[str, ...], refusals: tuple[Refusal, ...], names: dict[str, str]
) -> Iterator[str]:
    listed = few(names.get(uid, uid) for uid in could_take)
    if could_take or not refusals:
        text = f"{counted(len(could_take), 'waiting pod')}: {listed}" if could_take else "none wait"
        yield from _line("could take", text)
    for one in refusals:
        shown = few(names.get(uid, uid) for uid in one.pod_uids)
        text = f"{counted(len(one.pod_uids), 'waiting pod')} by {one.rule} ({one.message}): {shown}"
        yield from _line("refuses", text)


def _options(label: str, options: tuple[LaunchOption, ...]) -> Iterator[str]:
    if not options:
        return
    listed = [
        f"{one.instance_type} in {one.zone}, {one.capacity_type}: "
        f"{dollars(one.price_nanos_per_hour)} $/h"
        for one in options[:_OPTIONS_SHOWN]
    ]
    hidden = len(options) - _OPTIONS_SHOWN
    if hidden > 0:
        listed.append(f"and {hidden} dearer ones; --format json has them")
    yield from _several(label, listed, "")


def _several(label: str, texts: Iterable[str], none: str) -> Iterator[str]:
    """Yield one line for each text, the first of them labelled."""
    listed = list(texts)
    for index, text in enumerate(listed or [none]):
        yield from _line(label if index == 0 else "", text)


def _amounts(resources: Resources, without: str = "") -> str:
    parts = [named_amount(name, number) for name, number in resources.items() if name != without]
    return ", ".join(parts) or "nothing"
