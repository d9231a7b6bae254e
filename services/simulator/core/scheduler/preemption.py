"""Preemption: which pods of lower priority would have to go for one that found no place.

Apart from the filters, which it asks again of nodes from which pods were taken. Law: the cluster is
afterwards as it was before; who evicts is the scheduler.

Source: kube-scheduler's DefaultPreemption with its default arguments (1.36). It begins its search
at a node drawn by lot, and takes any of those that are equally good; here it is the first by name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from libs.oracle.cluster import Cluster, Node, occupy, vacate
from libs.oracle.objects import spec_of, status_of
from libs.oracle.pods import Pod, read_pod
from libs.oracle.selectors import LabelSelector, read_selector
from libs.oracle.verdict import Rejection, Tests, Verdict, first_refusal, prepare, try_node
from services.simulator.core.objects import Object, condition_of, read_stamp

BY_PREEMPTION = "PreemptionByScheduler"
"""Reason of the DisruptionTarget condition of a victim."""

_NO_VICTIMS = ("No preemption victims found for incoming pod",)
_NOT_HELPFUL = ("Preemption is not helpful for scheduling",)
_NEVER = "not eligible due to preemptionPolicy=Never."
_TERMINATING = "not eligible due to a terminating pod on the nominated node."

_LEAST_CANDIDATES = 100
_CANDIDATES_PERCENT = 10
_LOWEST = 2**31
"""Added to priorities so that more victims never count for less."""

_NODE_ALONE = frozenset(
    {
        "NodeAffinity",
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodePorts",
        "NodeResourcesFit",
        "NodeDeclaredFeatures",
    }
)
"""Filters that look at nothing but the node as it is when they are asked."""

_ALWAYS_HELPED = frozenset({"NodePorts", "VolumeRestrictions", "NodeVolumeLimits"})
_HELPED = frozenset(
    {
        "node(s) didn't match pod topology spread constraints",
        "node(s) didn't match pod anti-affinity rules",
        "node(s) didn't satisfy existing pods anti-affinity rules",
    }
)
"""Reasons that removing pods from the node may take away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A node on which the pod would have room without some others."""

    node: str
    victims: tuple[Pod, ...]
    """Those that would have to go, the most important first."""
    violations: int
    """How many of them a disruption budget protects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preemption:
    """What a search for victims found."""

    candidate: Candidate | None = None
    message: str = ""
    """Without a candidate: why, as the pod's condition says it."""
    keeps_nomination: bool = False
    """Whether the pod's nominated node stays what it was."""


def search(
    cluster: Cluster,
    pod: Object,
    verdict: Verdict,
    budgets: Iterable[Object],
    now: datetime,
) -> Preemption:
    """Find the node where the least important pods would have to go for a refused pod."""
    if spec_of(pod).get("preemptionPolicy") == "Never":
        return Preemption(message=_NEVER, keeps_nomination=True)
    if _waits_for_victims(cluster, pod, verdict):
        return Preemption(message=_TERMINATING, keeps_nomination=True)
    candidates, refused = _candidates(cluster, pod, verdict, tuple(map(_read_budget, budgets)), now)
    if not candidates:
        message = Verdict(feasible=(), rejected=_all_of(cluster, refused)).message
        return Preemption(message=message)
    return Preemption(candidate=min(candidates, key=lambda one: _badness(one, now)))


def priority_of(pod: Mapping[str, Any]) -> int:
    """Return the priority that admission gave a pod."""
    return int(spec_of(pod).get("priority") or 0)


def may_help(pod: Pod, node: Node, rejection: Rejection) -> bool:
    """Tell whether a node that was refused might pass once pods have gone from it."""
    if rejection.plugin == "NodeResourcesFit":
        lacking = (reason.removeprefix("Insufficient ") for reason in rejection.reasons)
        return all(pod.requests.get(one, 0) <= node.allocatable.get(one, 0) for one in lacking)
    return rejection.plugin in _ALWAYS_HELPED or _HELPED.issuperset(rejection.reasons)


# Who may preempt, and where


def _waits_for_victims(cluster: Cluster, pod: Object, verdict: Verdict) -> bool:
    """Tell whether pods that the pod has preempted are still about to leave its node."""
    name = status_of(pod).get("nominatedNodeName")
    node = cluster.nodes.get(name or "")
    if node is None or name not in verdict.rejected:
        return False
    if not may_help(read_pod(pod), node, verdict.rejected[node.name]):
        return False
    return any(_leaves_by_preemption(one.obj) for one in _lower(node, priority_of(pod)))


def _leaves_by_preemption(pod: Mapping[str, Any]) -> bool:
    if "deletionTimestamp" not in pod["metadata"]:
        return False
    condition = condition_of(pod, "DisruptionTarget") or {}
    return condition.get("status") == "True" and condition.get("reason") == BY_PREEMPTION


def _candidates(
    cluster: Cluster,
    pod: Object,
    verdict: Verdict,
    budgets: "Sequence[_Budget]",
    now: datetime,
) -> tuple[list[Candidate], dict[str, Rejection]]:
    """Return where preemption would do, and why not on the other nodes that were looked at."""
    seen = read_pod(pod)
    helped = sorted(
        name
        for name, rejection in verdict.rejected.items()
        if verdict.pod_refused is None and may_help(seen, cluster.nodes[name], rejection)
    )
    wanted = max(len(helped) * _CANDIDATES_PERCENT // 100, _LEAST_CANDIDATES)
    dry_run = _DryRun(cluster, pod, seen, budgets, now)
    found: list[Candidate] = []
    refused: dict[str, Rejection] = {}
    for name in helped:
        tried = dry_run.on(cluster.nodes[name])
        if isinstance(tried, Rejection):
            refused[name] = tried
            continue
        found.append(tried)
        if len(found) >= wanted and any(not one.violations for one in found):
            break
    return found, refused


def _all_of(cluster: Cluster, refused: Mapping[str, Rejection]) -> dict[str, Rejection]:
    unhelpful = Rejection(plugin="DefaultPreemption", reasons=_NOT_HELPFUL)
    return {name: refused.get(name, unhelpful) for name in cluster.nodes}


def _badness(candidate: Candidate, now: datetime) -> tuple[Any, ...]:
    """Return what candidates are compared by: budgets, priorities, numbers, age."""
    victims = candidate.victims
    priorities = [priority_of(victim.obj) for victim in victims]
    highest = max(priorities)
    oldest = min(
        _started(victim.obj, now)
        for victim, priority in zip(victims, priorities, strict=True)
        if priority == highest
    )
    return (
        candidate.violations,
        priorities[0],
        sum(priority + _LOWEST for priority in priorities),
        len(victims),
        -oldest.timestamp(),
        candidate.node,
    )


# One node


class _DryRun:
    """Takes pods off a node until the pod has room, and puts them all back."""

    def __init__(
        self,
        cluster: Cluster,
        pod: Object,
        seen: Pod,
        budgets: "Sequence[_Budget]",
        now: datetime,
    ) -> None:
        self._cluster = cluster
        self._pod = pod
        self._seen = seen
        self._budgets = budgets
        self._now = now
        tests = prepare(cluster, seen)
        self._lasting: Tests | None = None
        """The filters, if what they were prepared for does not change with the node's pods."""
        if not isinstance(tests, Rejection) and all(name in _NODE_ALONE for name, _ in tests):
            self._lasting = tests

    def on(self, node: Node) -> Candidate | Rejection:
        """Return who would have to leave the node, or why that does not help."""
        lower = _lower(node, priority_of(self._pod))
        if not lower:
            return Rejection(plugin="DefaultPreemption", reasons=_NO_VICTIMS)
        gone = {one.key: one for one in lower}
        for one in lower:
            self._take_off(node, one)
        try:
            rejection = self._refusal(node)
            return rejection if rejection is not None else self._reprieve(node, lower, gone)
        finally:
            for one in gone.values():
                self._put_back(node, one)

    def _reprieve(self, node: Node, lower: Iterable[Pod], gone: dict[str, Pod]) -> Candidate:
        """Let pods stay that can, those first that matter most; what is left are the victims."""
        ranked = sorted(lower, key=lambda one: _importance(one.obj, self._now))
        protected = _protected(ranked, self._budgets)
        for one in [
            *(one for one in ranked if one.key in protected),
            *(one for one in ranked if one.key not in protected),
        ]:
            self._put_back(node, gone.pop(one.key))
            if self._refusal(node) is not None:
                gone[one.key] = one
                self._take_off(node, one)
        victims = tuple(one for one in ranked if one.key in gone)
        violations = sum(one.key in protected for one in victims)
        return Candidate(node=node.name, victims=victims, violations=violations)

    def _is_alone(self, node: Node) -> bool:
        """Tell whether nothing but the node itself is asked."""
        return self._lasting is not None and node.name not in self._cluster.nominated

    def _take_off(self, node: Node, pod: Pod) -> None:
        if self._is_alone(node):
            vacate(node, pod)
        else:
            self._cluster.unseat(pod.key)

    def _put_back(self, node: Node, pod: Pod) -> None:
        if self._is_alone(node):
            occupy(node, pod)
        else:
            self._cluster.seat(pod)

    def _refusal(self, node: Node) -> Rejection | None:
        if self._lasting is not None and self._is_alone(node):
            return first_refusal(self._lasting, node)
        tests = prepare(self._cluster, self._seen)
        if isinstance(tests, Rejection):
            return tests
        return try_node(self._cluster, self._pod, tests, node.name)


def _lower(node: Node, priority: int) -> list[Pod]:
    return [one for one in node.pods.values() if priority_of(one.obj) < priority]


def _importance(pod: Mapping[str, Any], now: datetime) -> tuple[int, datetime]:
    return -priority_of(pod), _started(pod, now)


def _started(pod: Mapping[str, Any], now: datetime) -> datetime:
    started = status_of(pod).get("startTime")
    return read_stamp(started) if started else now


# Disruption budgets


@dataclass(frozen=True, slots=True)
class _Budget:
    namespace: str
    selector: LabelSelector | None
    allowed: int
    disrupted: frozenset[str]


def _read_budget(budget: Object) -> _Budget:
    status = status_of(budget)
    return _Budget(
        namespace=budget["metadata"].get("namespace", ""),
        selector=read_selector(spec_of(budget).get("selector")),
        allowed=int(status.get("disruptionsAllowed") or 0),
        disrupted=frozenset(status.get("disruptedPods") or ()),
    )


def _protected(ranked: Iterable[Pod], budgets: Sequence[_Budget]) -> frozenset[str]:
    """Return the keys of the pods whose eviction one of their budgets does not allow any more."""
    left = [budget.allowed for budget in budgets]
    protected = set()
    for pod in ranked:
        for index in _budgets_of(pod, budgets):
            left[index] -= 1
            if left[index] < 0:
                protected.add(pod.key)
    return frozenset(protected)


def _budgets_of(pod: Pod, budgets: Sequence[_Budget]) -> Iterator[int]:
    name = pod.obj["metadata"]["name"]
    for index, budget in enumerate(budgets):
        selector = budget.selector
        if budget.namespace != pod.namespace or selector is None or not selector.requirements:
            continue
        if pod.labels and selector.matches(pod.labels) and name not in budget.disrupted:
            yield index
