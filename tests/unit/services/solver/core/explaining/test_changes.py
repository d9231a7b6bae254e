"""Which single change is proposed for which rule; that each of them helps is a property."""

from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.explanation import Change, ChangeKind, PodExplanation
from libs.domain.pod import NOWHERE, SharedVolume, StorageRoom
from libs.domain.question import SubjectKind
from libs.domain.reason import Rule, TargetKind
from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from libs.domain.solution import SolveOptions
from libs.domain.taint import Effect, Toleration
from libs.domain.topology import NodeInclusionPolicy
from services.solver.core.explaining.explain import explain
from services.solver.core.explaining.trial import Desk, Trials, most_trials
from services.solver.core.offers.market import NOTHING_REMEMBERED
from tests.support.builders import (
    a_catalogue,
    a_node,
    a_node_term,
    a_pod,
    a_pool,
    a_port,
    a_shape,
    a_snapshot,
    a_spread,
    a_taint,
    a_term,
    a_type,
    amounts,
    an_offering,
    pods,
    require,
    selecting,
    some_types,
)

ZONE = label_keys.ZONE

_NODE_AFFINITY = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"


def _explained(**snapshot: Any) -> PodExplanation:
    """Return the explanation of the pod `it`."""
    rows = [a_pod("it", created_ms=9), *snapshot.pop("pods", ())]
    answer = explain(a_snapshot(pods=rows, **snapshot), SolveOptions(), SubjectKind.POD, "uid-it")
    assert answer.pod is not None
    return answer.pod


def _smallest(**snapshot: Any) -> Change:
    return _explained(**snapshot).changes[0]


def _kinds(pod: PodExplanation) -> list[ChangeKind]:
    return [one.kind for one in pod.changes]


def _required(key: str, *values: str, least: int | None = None) -> Requirements:
    return Requirements([Requirement.of(key, "In", values, least)])


def _toleration(
    key: str = "dedicated", value: str = "", effect: Effect = Effect.NO_SCHEDULE
) -> Toleration:
    return Toleration(key=key, value=value, effect=effect)


@pytest.mark.parametrize(
    ("shape", "snapshot", "kind", "old", "new"),
    [
        pytest.param(
            {},
            {"nodepools": [a_pool(taints=(a_taint(),))]},
            ChangeKind.TOLERATION,
            "",
            "dedicated:NoSchedule",
            id="taint of a pool",
        ),
        pytest.param(
            {},
            {"nodepools": [], "nodes": [a_node(taints=(a_taint(value="x"),))]},
            ChangeKind.TOLERATION,
            "",
            "dedicated=x:NoSchedule",
            id="taint of a node",
        ),
        pytest.param(
            {"selector": {ZONE: "zonea"}}, {}, ChangeKind.VALUE, "zonea", "zone-a", id="typo"
        ),
        pytest.param(
            {"selector": {label_keys.NODEPOOL: "defualt"}},
            {},
            ChangeKind.VALUE,
            "defualt",
            "default",
            id="typo of the name of a pool",
        ),
        pytest.param(
            {"selector": {f"{ZONE}e": "zone-a"}},
            {},
            ChangeKind.VALUE,
            f"{ZONE}e In [zone-a]",
            f"{ZONE} In [zone-a]",
            id="typo of a label",
        ),
        pytest.param(
            {"tolerations": (_toleration(value="bach"),)},
            {"nodepools": [a_pool(taints=(a_taint(value="batch"),))]},
            ChangeKind.VALUE,
            "dedicated=bach:NoSchedule",
            "dedicated=batch:NoSchedule",
            id="typo of the value of a toleration",
        ),
        pytest.param(
            {"tolerations": (_toleration(key="dedicatd", value="batch"),)},
            {"nodepools": [a_pool(taints=(a_taint(value="batch"),))]},
            ChangeKind.VALUE,
            "dedicatd=batch:NoSchedule",
            "dedicated=batch:NoSchedule",
            id="typo of the key of a toleration",
        ),
        pytest.param(
            {"tolerations": (_toleration(effect=Effect.NO_EXECUTE),)},
            {"nodepools": [a_pool(taints=(a_taint(),))]},
            ChangeKind.VALUE,
            "dedicated:NoExecute",
            "dedicated:NoSchedule",
            id="toleration of another effect",
        ),
        pytest.param(
            {"tolerations": (_toleration(value="bach"),)},
            {
                "nodepools": [a_pool(taints=(a_taint(value="batch"),))],
                "nodes": [a_node(taints=(a_taint(value="bach"),), unschedulable=True)],
            },
            ChangeKind.TOLERATION,
            "dedicated=bach:NoSchedule",
            "dedicated=bach:NoSchedule, dedicated=batch:NoSchedule",
            id="no typo where some node has that taint",
        ),
        pytest.param(
            {"selector": {label_keys.ARCH: "s390x"}},
            {},
            ChangeKind.NODE_SELECTION,
            f"{label_keys.ARCH} In [s390x]",
            "",
            id="selector",
        ),
        pytest.param(
            {"required_node_terms": (a_node_term((label_keys.ARCH, "In", ["s390x"])),)},
            {},
            ChangeKind.NODE_SELECTION,
            f"{label_keys.ARCH} In [s390x]",
            "",
            id="affinity term",
        ),
        pytest.param(
            {"required_node_terms": (a_node_term(node_names=("gone",)),)},
            {},
            ChangeKind.NODE_SELECTION,
            "gone",
            "",
            id="name of a node",
        ),
        pytest.param(
            {"selector": {"team": "red"}},
            {},
            ChangeKind.NODE_SELECTION,
            "team In [red]",
            "",
            id="label that nobody has",
        ),
        pytest.param(
            {"affinity": (a_term(selector=selecting(app="gone")),)},
            {},
            ChangeKind.AFFINITY,
            f"pods with app=gone by {label_keys.HOSTNAME}",
            "",
            id="affinity to nobody",
        ),
        pytest.param(
            {"cpu": "17"}, {}, ChangeKind.REQUEST, "17", "16", id="more than any type has"
        ),
        pytest.param(
            {"cpu": "5"},
            {"nodepools": [], "nodes": [a_node()]},
            ChangeKind.REQUEST,
            "5",
            "4",
            id="more than the node has",
        ),
        pytest.param(
            {"host_ports": (a_port(80), a_port(81))},
            {
                "nodepools": [],
                "nodes": [a_node()],
                "pods": [a_pod("other", 2, node="node-1")],
                "other": {"host_ports": (a_port(81),)},
            },
            ChangeKind.HOST_PORT,
            "81/TCP",
            "",
            id="host port",
        ),
        pytest.param(
            {"volumes": ((require((ZONE, "In", ["zone-z"])),),)},
            {},
            ChangeKind.VOLUME,
            "zone-z",
            "zone-a",
            id="volume in a zone that is not sold",
        ),
        pytest.param(
            {"shared_volumes": (SharedVolume(claim="default/data", exclusive=True),)},
            {
                "nodes": [a_node()],
                "pods": [a_pod("other", 2, node="node-1")],
                "other": {"shared_volumes": (SharedVolume(claim="default/data", exclusive=True),)},
            },
            ChangeKind.VOLUME,
            "ReadWriteOncePod",
            "ReadWriteOnce",
            id="volume claim in use",
        ),
        pytest.param(
            {"storage_rooms": (StorageRoom(storage_class="late", size=10 << 30),)},
            {"nodes": [a_node()]},
            ChangeKind.VOLUME,
            "",
            "",
            id="no room for a new volume",
        ),
        pytest.param(
            {},
            {"nodepools": [a_pool(limits=amounts(cpu=1))]},
            ChangeKind.POOL_LIMIT,
            "1",
            "2",
            id="limit",
        ),
        pytest.param(
            {},
            {"nodepools": [a_pool(limits=amounts(nodes=0))]},
            ChangeKind.POOL_LIMIT,
            "0",
            "1",
            id="limit of nodes",
        ),
        pytest.param(
            {},
            {"nodepools": [a_pool(requirements=_required(ZONE, "zone-x"))]},
            ChangeKind.POOL_REQUIREMENT,
            f"{ZONE} In [zone-x]",
            f"{ZONE} In [zone-a zone-x]",
            id="requirement of the pool that leaves nothing",
        ),
        pytest.param(
            {},
            {
                "nodepools": [
                    a_pool(requirements=_required(ZONE, "zone-a", "zone-b", "zone-c", least=3))
                ],
                "catalogues": [a_catalogue(a_type(offerings=(an_offering(),)))],
            },
            ChangeKind.POOL_MIN_VALUES,
            "3",
            "1",
            id="minValues",
        ),
        pytest.param(
            {},
            {"catalogues": [a_catalogue(a_type(offerings=(an_offering(available=False),)))]},
            ChangeKind.OFFERING,
            "unavailable",
            "available",
            id="sold out",
        ),
    ],
)
def test_the_smallest_change(
    shape: dict[str, Any], snapshot: dict[str, Any], kind: ChangeKind, old: str, new: str
) -> None:
    others = snapshot.pop("other", None)
    shapes = [a_shape(**shape)] + ([] if others is None else [a_shape(2, **others)])

    change = _smallest(shapes=shapes, **snapshot)

    assert (change.kind, change.old, change.new) == (kind, old, new)


@pytest.mark.parametrize(
    ("constraint", "kinds", "new"),
    [
        pytest.param(
            a_spread(max_skew=1),
            [ChangeKind.MAX_SKEW, ChangeKind.SOFT_SPREAD],
            "4",
            id="skew: the smallest number that suffices",
        ),
        pytest.param(
            a_spread(max_skew=1, min_domains=3),
            [ChangeKind.MAX_SKEW, ChangeKind.SOFT_SPREAD],
            "4",
            id="skew where minDomains is not what is wrong",
        ),
    ],
)
def test_a_spread_that_cannot_be_kept(constraint: Any, kinds: list[ChangeKind], new: str) -> None:
    """Three pods run in zone-a, which is the only one with room."""
    nodes = [a_node(f"n-{one}", labels={ZONE: f"zone-{one}"}) for one in "abc"]
    full = [a_pod(f"full-{one}", 3, node=f"n-{one}") for one in "bc"]

    pod = _explained(
        shapes=[
            a_shape(topology_spread=(constraint,)),
            a_shape(2, cpu="100m"),
            a_shape(3, cpu="4", labels={}),
        ],
        nodes=nodes,
        pods=[*pods(3, 2, node="n-a"), *full],
        nodepools=[],
    )

    assert _kinds(pod)[: len(kinds)] == kinds
    assert pod.changes[0].new == new


def test_fewer_domains_where_there_are_not_as_many_as_wanted() -> None:
    pod = _explained(
        shapes=[a_shape(topology_spread=(a_spread(min_domains=5),)), a_shape(2)],
        nodes=[a_node("n-a")],
        pods=[a_pod("other", 2, node="n-a")],
        nodepools=[],
    )

    by_kind = {one.kind: one for one in pod.changes}
    assert by_kind[ChangeKind.MIN_DOMAINS].new == "1"
    assert by_kind[ChangeKind.MAX_SKEW].new == "2"


def test_nodes_whose_taints_keep_the_pod_away_need_not_count() -> None:
    spread = a_spread(node_taints_policy=NodeInclusionPolicy.IGNORE)
    nodes = [a_node("n-a"), a_node("n-b", labels={ZONE: "zone-b"}, taints=(a_taint(),))]

    pod = _explained(
        shapes=[a_shape(topology_spread=(spread,)), a_shape(2)],
        nodes=nodes,
        pods=[a_pod("other", 2, node="n-a")],
        nodepools=[],
    )

    assert ChangeKind.TAINTS_POLICY in _kinds(pod)


def test_a_request_is_lowered_to_what_a_new_node_of_the_plan_has_left() -> None:
    """The node that is bought for the other one uses up the limit."""
    pod = _explained(
        shapes=[a_shape(cpu="3"), a_shape(2, cpu="3")],
        pods=[a_pod("other", 2)],
        nodepools=[a_pool(limits=amounts(cpu=4))],
        catalogues=[a_catalogue(*some_types(4))],
    )

    change = pod.changes[0]
    assert (change.kind, change.old, change.new) == (ChangeKind.REQUEST, "3", "1")


def test_a_request_is_not_lowered_to_what_only_another_kind_of_node_has_free() -> None:
    """The larger node has a taint, so that the smaller one is what it can come to."""
    large = amounts(cpu=8, memory="8Gi", pods=9)
    pod = _explained(
        shapes=[a_shape(cpu="9")],
        nodes=[a_node(), a_node("large", allocatable=large, taints=(a_taint(),))],
        nodepools=[],
    )

    change = pod.changes[0]
    assert (change.kind, change.new, change.landing) == (ChangeKind.REQUEST, "4", "node-1")


def test_the_nodes_of_a_pool_are_not_labelled_with_a_misspelt_label() -> None:
    pod = _explained(shapes=[a_shape(selector={f"{ZONE}e": "zone-a"})])

    assert _kinds(pod) == [ChangeKind.VALUE, ChangeKind.NODE_SELECTION]


@pytest.mark.parametrize(
    ("shape", "pool", "field"),
    [
        pytest.param(
            {"cpu": "17"}, {}, "spec.containers[*].resources.requests.cpu", id="sum of containers"
        ),
        pytest.param(
            {
                "required_node_terms": (
                    a_node_term(
                        (label_keys.ARCH, "In", ["s390x"]), (label_keys.OS, "In", ["linux"])
                    ),
                )
            },
            {},
            f"{_NODE_AFFINITY}.nodeSelectorTerms[0]."
            f'matchExpressions[?(@.key=="{label_keys.ARCH}")]',
            id="expression of a term",
        ),
        pytest.param(
            {"required_node_terms": (a_node_term((label_keys.ARCH, "In", ["s390x"])),)},
            {},
            _NODE_AFFINITY,
            id="the last expression of a term: an empty one would match no node",
        ),
        pytest.param(
            {"required_node_terms": (a_node_term(node_names=("gone",)),)},
            {},
            _NODE_AFFINITY,
            id="the names of a term of nothing else",
        ),
        pytest.param(
            {},
            {"requirements": _required(ZONE, "zone-a", "zone-b", "zone-c", least=4)},
            f'spec.template.spec.requirements[?(@.key=="{ZONE}")].minValues',
            id="minValues of a requirement",
        ),
        pytest.param(
            {},
            {"requirements": _required(ZONE, "zone-x")},
            f'spec.template.spec.requirements[?(@.key=="{ZONE}")]',
            id="requirement of a pool",
        ),
    ],
)
def test_the_path_is_one_of_the_object(
    shape: dict[str, Any], pool: dict[str, Any], field: str
) -> None:
    change = _smallest(shapes=[a_shape(**shape)], nodepools=[a_pool(**pool)])

    assert change.field == field


def test_a_volume_is_told_apart_from_others_by_where_it_is() -> None:
    there = tuple((require((ZONE, "In", [zone])),) for zone in ("zone-a", "zone-b"))

    pod = _explained(shapes=[a_shape(volumes=there)])

    assert pod.changes[0].message == "move one of its 2 volumes from zone-a to zone-b"


def test_terms_that_match_no_node_are_dropped_together() -> None:
    change = _smallest(shapes=[a_shape(required_node_terms=(NOWHERE,))], nodes=[a_node()])

    assert change.message == "drop the terms, none of which matches a node"
    assert change.field == _NODE_AFFINITY


def test_a_spread_with_minimal_domains_is_preferred_without_them() -> None:
    pod = _explained(
        shapes=[a_shape(topology_spread=(a_spread(min_domains=9, max_skew=1),))],
        pods=[a_pod("a"), a_pod("b")],
        nodes=[a_node()],
        nodepools=[],
    )

    (soft,) = [one for one in pod.changes if one.kind is ChangeKind.SOFT_SPREAD]
    assert soft.field == "spec.topologySpreadConstraints[0]"
    assert (soft.old, soft.new) == ("DoNotSchedule with minDomains 9", "ScheduleAnyway")
    assert soft.message.endswith(", without minDomains")


def test_no_single_change_is_proposed_where_two_are_needed() -> None:
    pool = a_pool(taints=(a_taint(), a_taint("other")))

    pod = _explained(shapes=[a_shape(cpu="17")], nodepools=[pool])

    assert pod.changes == ()
    assert pod.trials > 0
    assert not pod.cut_short


def test_the_limit_counts_those_who_come_first() -> None:
    """The pod is the youngest of three that each need a node."""
    pod = _explained(
        shapes=[a_shape(cpu="2")],
        pods=pods(2),
        nodepools=[a_pool(limits=amounts(cpu=2))],
        catalogues=[a_catalogue(*some_types(2))],
    )

    change = pod.changes[0]
    assert (change.kind, change.old, change.new) == (ChangeKind.POOL_LIMIT, "2", "6")
    assert (change.landing_kind, change.landing) == (TargetKind.NODEPOOL, "default")


def test_what_is_wrong_is_changed_before_what_only_helps() -> None:
    """Without its anti-affinity it would fit on the node; but it is the limit that refuses."""
    pod = _explained(
        shapes=[a_shape(anti_affinity=(a_term(),)), a_shape(2)],
        nodes=[a_node(), a_node("tiny", allocatable=amounts(cpu="100m", memory="1Gi", pods=9))],
        pods=[a_pod("other", 2, node="node-1")],
        nodepools=[a_pool(limits=amounts(cpu=0))],
    )

    rules = {one.rule for one in pod.nearest}
    assert rules == {Rule.POD_ANTI_AFFINITY, Rule.RESOURCES}
    assert _kinds(pod)[0] is ChangeKind.ANTI_AFFINITY
    assert ChangeKind.POOL_LIMIT in _kinds(pod)


def test_a_large_cluster_is_tried_less_often() -> None:
    small, large = a_snapshot(pods=pods(10)), a_snapshot(pods=pods(40_000))

    assert most_trials(small) > most_trials(large) >= 8


def test_where_no_trial_is_left_the_search_says_that_it_was_cut_short() -> None:
    desk = Desk(options=SolveOptions(), memory=NOTHING_REMEMBERED, cancelled=lambda: False)
    trials = Trials(desk=desk, uid="uid-it", most=1)
    snapshot = a_snapshot(pods=[a_pod("it")])

    landed = [trials.land(snapshot) is not None for _ in range(2)]

    assert landed == [True, False]
    assert (trials.done, trials.cut_short) == (1, True)


def test_a_smaller_request_of_an_extended_resource_takes_its_limit_along() -> None:
    disk = "example.com/disk"
    large = a_type("large", capacity=amounts(cpu=8, memory="32Gi", pods=110, **{disk: 2}))

    change = _smallest(
        shapes=[a_shape(extra=amounts(**{disk: 3}))], catalogues=[a_catalogue(large)]
    )

    assert (change.field, change.new) == (f"spec.containers[*].resources.requests.{disk}", "2")
    assert change.message.endswith("; its limit has to be the same")


def test_the_label_of_a_pool_is_named_by_its_key() -> None:
    pod = _explained(shapes=[a_shape(selector={"example.com/disk": "ssd"})])

    (label,) = [one for one in pod.changes if one.kind is ChangeKind.POOL_LABEL]
    assert label.field == 'spec.template.metadata.labels["example.com/disk"]'
    assert (label.old, label.new) == ("", "ssd")
