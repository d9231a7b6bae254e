"""Check a plan: could kube-scheduler bind every pod where the plan says?

kube-scheduler binds one pod at a time, so a plan is right if *some* order works. Placements are
bound in rounds, each judged by every filter against the cluster as it is by then, until a round
binds none. What is left over cannot follow what was bound: each such pod is a violation, judged
against the final state. The plan's own order is tried first, then pods with rules about other pods
first (one bound too late may find its domain filled by pods that would not have minded), then, a
few times, what was refused before everything else, at first with all that have the same rules. Pods
that come first are bound, in rounds of their own, as far as they can be before the others begin.

All new nodes are there from the start, with their daemons: they come up in an order that nobody
knows, and each is a domain, empty or not, for whoever is bound after it. If no order works so, pods
of nodes that exist are bound before any new one comes, which takes minutes where binding takes
seconds.

Apart from the filters because it judges plans, not pods.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from libs.domain.errors import InvalidRequest
from libs.domain.labels import HOSTNAME
from libs.oracle.binding import bind_pod
from libs.oracle.cluster import Cluster
from libs.oracle.daemons import bring_daemons
from libs.oracle.objects import KubeObject, name_of, spec_of
from libs.oracle.verdict import Rejection, judge_node

Placement = tuple[str, str]
"""(`namespace/name` of a pending pod, name of the node it shall run on)."""

_ATTEMPTS = 6
"""Orders tried before a plan counts as wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One rule that one placement, or one new node, breaks."""

    pod: str
    """`namespace/name`; empty if the violation is the node's own."""
    node: str
    rule: str
    """The kube-scheduler plugin that refuses, or one of UnknownPod, UnknownNode, PlacedTwice,
    DuplicateNode, InvalidObject."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What comes of a plan."""

    cluster: Cluster
    """With the new nodes, and every pod bound that could be, in the best order that was found."""
    violations: tuple[Violation, ...]


def check(
    cluster: Cluster,
    new_nodes: Iterable[KubeObject],
    placements: Iterable[Placement],
    *,
    daemon_sets: Iterable[KubeObject] = (),
) -> list[Violation]:
    """Return every rule that the plan violates; empty if kube-scheduler could follow it.

    Arguments as of `carry_out`.
    """
    outcome = carry_out(cluster, new_nodes, placements, daemon_sets=daemon_sets)
    return list(outcome.violations)


def carry_out(
    cluster: Cluster,
    new_nodes: Iterable[KubeObject],
    placements: Iterable[Placement],
    *,
    daemon_sets: Iterable[KubeObject] = (),
) -> Outcome:
    """Bind the pods as the plan says, and tell which rules it violates.

    Args:
        cluster: What is there: nodes, bound pods, and all pods that may be placed, as pending.
            It is not changed.
        new_nodes: Node objects as they would register, allocatable and taints included; it is up
            to the caller to make them from instance types.
        placements: In the order in which the plan placed them, if it knows.
        daemon_sets: Their pods are put on the new nodes first.
    """
    ground = _Ground(cluster=cluster, nodes=tuple(new_nodes), daemon_sets=tuple(daemon_sets))
    state, wrong = _with_nodes(cluster.copy(), ground.nodes, ground.daemon_sets)
    sound, unsound = _sort_out(state, list(placements))
    best = _at_best(ground, sound, early=False)
    if best.violations:
        other = _at_best(ground, sound, early=True)
        best = min(best, other, key=lambda outcome: len(outcome.violations))
    return Outcome(cluster=best.cluster, violations=(*wrong, *unsound, *best.violations))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """What placements are tried on."""

    cluster: Cluster
    nodes: tuple[KubeObject, ...]
    daemon_sets: tuple[KubeObject, ...]


def _at_best(ground: _Ground, placements: list[Placement], *, early: bool) -> Outcome:
    """Return what comes of the best of some orders.

    Args:
        ground: what is there and what comes.
        placements: sound ones.
        early: whether pods of nodes that exist are bound before the new ones come.
    """
    groups = [placements]
    best: Outcome | None = None
    for attempt in range(_ATTEMPTS):
        state = ground.cluster.copy()
        for group in groups if early else ():
            _bind_in_rounds(state, [one for one in group if one[1] in state.nodes])
        _with_nodes(state, ground.nodes, ground.daemon_sets)
        refused: list[Placement] = []
        for group in groups:
            still = [one for one in group if one[0] in state.pending]
            refused = _bind_in_rounds(state, [*refused, *still])
        found = Outcome(cluster=state, violations=tuple(_reasons(state, refused)))
        if best is None or len(found.violations) < len(best.violations):
            best = found
        if not best.violations:
            break
        tried = groups
        groups = _next_order(ground.cluster, tried, refused, attempt)
        if attempt and groups == tried:
            break
    assert best is not None
    return best


def _next_order(
    cluster: Cluster, tried: list[list[Placement]], refused: Sequence[Placement], attempt: int
) -> list[list[Placement]]:
    """Return in which order to try after one in which some were refused."""
    if not attempt:
        return _constrained_first(cluster, tried[0])
    rules = {_rules(cluster.pending[pod]) for pod, _ in refused}
    kin = [one for group in tried for one in group if _rules(cluster.pending[one[0]]) in rules]
    by_kind = _refused_first(tried, kin)
    return _refused_first(tried, refused) if by_kind == tried else by_kind


def _constrained_first(cluster: Cluster, placements: Sequence[Placement]) -> list[list[Placement]]:
    groups: list[list[Placement]] = [[], [], [], []]
    for one in placements:
        groups[-1 - _strictness(cluster.pending[one[0]])].append(one)
    return groups


def _refused_first(
    groups: Sequence[Sequence[Placement]], refused: Sequence[Placement]
) -> list[list[Placement]]:
    first = set(refused)
    left = [[one for one in group if one not in first] for group in groups]
    return [list(refused), *(group for group in left if group)]


def _rules(pod: KubeObject) -> str:
    """Return what pods with the same rules about others have in common."""
    spec = spec_of(pod)
    return repr((spec.get("topologySpreadConstraints"), spec.get("affinity")))


def _strictness(pod: KubeObject) -> int:
    spec = spec_of(pod)
    affinity = spec.get("affinity") or {}
    constraints = spec.get("topologySpreadConstraints") or ()
    keys = [
        one.get("topologyKey")
        for one in constraints
        if one.get("whenUnsatisfiable") != "ScheduleAnyway"
    ]
    if keys:
        return 2 if set(keys) == {HOSTNAME} else 3
    return 1 if affinity.get("podAffinity") or affinity.get("podAntiAffinity") else 0


def _with_nodes(
    state: Cluster, nodes: Sequence[KubeObject], daemon_sets: Sequence[KubeObject]
) -> tuple[Cluster, list[Violation]]:
    violations = []
    for node in nodes:
        name = name_of(node)
        if name in state.nodes:
            violations.append(_violation("", name, "DuplicateNode", "a node of this name exists"))
            continue
        try:
            state.put("Node", node)
        except InvalidRequest as error:
            violations.append(_violation("", name, "InvalidObject", str(error)))
            continue
        bring_daemons(state, daemon_sets, name)
    return state, violations


def _sort_out(
    state: Cluster, placements: Sequence[Placement]
) -> tuple[list[Placement], list[Violation]]:
    """Part the placements that can be judged from those that name nothing, or a pod again."""
    sound, unsound = [], []
    placed: dict[str, str] = {}
    for pod, node in placements:
        if node not in state.nodes:
            unsound.append(_violation(pod, node, "UnknownNode", "no such node"))
        elif pod in state.pods:
            message = f"already runs on {state.pods[pod].node_name}"
            unsound.append(_violation(pod, node, "PlacedTwice", message))
        elif pod not in state.pending:
            unsound.append(_violation(pod, node, "UnknownPod", "no such pending pod"))
        elif pod in placed:
            message = f"also placed on {placed[pod]}"
            unsound.append(_violation(pod, node, "PlacedTwice", message))
        else:
            placed[pod] = node
            sound.append((pod, node))
    return sound, unsound


def _bind_in_rounds(state: Cluster, placements: list[Placement]) -> list[Placement]:
    """Bind what can be bound until nothing more can; return the rest."""
    while True:
        left = [placement for placement in placements if not _bind(state, *placement)]
        if len(left) == len(placements):
            return left
        placements = left


def _reasons(state: Cluster, refused: Sequence[Placement]) -> list[Violation]:
    return [
        _violation(pod, node, refusal.plugin, ", ".join(refusal.reasons))
        for pod, node in refused
        for refusal in _refusals(state, pod, node)
    ]


def _bind(state: Cluster, pod: str, node: str) -> bool:
    if _refusals(state, pod, node):
        return False
    obj = state.pending[pod]
    bind_pod(state, obj, node)
    return True


def _refusals(state: Cluster, pod: str, node: str) -> Sequence[Rejection]:
    try:
        return judge_node(state, state.pending[pod], node)
    except InvalidRequest as error:
        return (Rejection(plugin="InvalidObject", reasons=(str(error),)),)


def _violation(pod: str, node: str, rule: str, message: str) -> Violation:
    return Violation(pod=pod, node=node, rule=rule, message=message)
