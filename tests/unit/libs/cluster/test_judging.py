"""Files with objects that no API server would take: what is said, and what goes on."""

from typing import Any

import pytest

from libs.cluster.files import LoadedCluster, load
from libs.domain.capacity import NodeClassRef
from libs.domain.reason import Rule
from tests.unit.libs.cluster.clusters import taken
from tests.unit.libs.kube.manifests import (
    CLASS,
    Document,
    a_node,
    a_nodepool,
    a_pod,
    an_object,
)

KWOK = NodeClassRef(**CLASS)


def _load(*documents: object) -> LoadedCluster:
    return load([("dump.yaml", one) for one in documents], default_class=KWOK)


def _pod(name: str, **spec: Any) -> Document:
    pod = a_pod(name)
    pod["spec"].update(spec)
    return pod


_BAD = {"tolerations": [{"key": "a", "effect": "Maybe"}]}


def _waiting(loaded: LoadedCluster) -> list[tuple[tuple[str, ...], str]]:
    taken(loaded.state)
    return [(one.pod_uids, one.reason.message) for one in loaded.state.left_out()]


def test_a_refused_pod_waits_in_vain_and_the_others_go_on() -> None:
    loaded = _load(_pod("bad", preemptionPolicy="Maybe"), a_pod("good"), a_nodepool())

    snapshot = taken(loaded.state)
    [left] = loaded.state.left_out()
    assert [row.name for row in snapshot.pods.rows()] == ["good"]
    assert left.reason.existing == ((Rule.INVALID_POD, 0),)
    assert left.reason.message.startswith("spec.preemptionPolicy: Unsupported value")
    assert [one.message.partition(": U")[0] for one in loaded.refused] == [
        'dump.yaml: Pod "default/bad": spec.preemptionPolicy'
    ]


def test_an_illegible_pod_waits_in_vain_too() -> None:
    loaded = _load(_pod("bad", priority="high"), a_nodepool())

    [(uids, message)] = _waiting(loaded)
    assert len(uids) == 1
    assert message.startswith("spec.priority: expected")


def test_a_refused_pod_weighs_on_its_node() -> None:
    pod = _pod("bad", nodeName="n", preemptionPolicy="Maybe")

    loaded = _load(pod, a_node("n"), a_nodepool())

    assert [row.node for row in taken(loaded.state).pods.rows()] == ["n"]
    assert len(loaded.refused) == 1


def test_a_refused_object_does_not_take_the_place_of_one_that_counts() -> None:
    documents = [a_pod("a"), _pod("a", preemptionPolicy="Maybe"), a_nodepool()]

    for given in (documents, documents[::-1]):
        loaded = _load(*given)
        assert [row.name for row in taken(loaded.state).pods.rows()] == ["a"]
        assert len(loaded.refused) == 1


def test_no_pool_is_assumed_where_one_is_refused() -> None:
    loaded = _load(a_nodepool(weight=-1), a_pod("a"))

    assert taken(loaded.state).nodepools == {}
    assert "no NodePool of the input counts: nothing can be bought" in loaded.notes


def test_an_old_version_of_a_pool_is_refused_with_what_to_do() -> None:
    loaded = _load({**a_nodepool(), "apiVersion": "karpenter.sh/v1beta1"})

    [refused] = loaded.refused
    assert "apiVersion: karpenter.sh/v1beta1 is not read; write the object as karpenter.sh/v1" in (
        refused.message
    )


def test_a_version_that_is_read_as_another_is_told_of() -> None:
    budget = an_object("policy/v1beta1", "PodDisruptionBudget", "b", "default", spec={})

    assert _load(budget, a_nodepool()).notes == (
        "1 of policy/v1beta1 PodDisruptionBudget read as policy/v1: fields that differ are passed "
        "over",
    )


def test_an_unknown_field_is_told_of_once_for_all_that_have_it() -> None:
    pods = [_pod(name, nodeSelecter={"a": "b"}) for name in "abc"]

    assert _load(*pods, a_nodepool()).notes == (
        'dump.yaml: Pod "default/a" and 2 more: unknown field spec.nodeSelecter, which is passed '
        "over; did you mean nodeSelector?",
    )


def test_unknown_fields_are_told_of_within_bounds() -> None:
    loaded = _load(_pod("a", **{f"x{number}": 1 for number in range(50)}), a_nodepool())

    assert len(loaded.notes) == 21
    assert loaded.notes[-1] == "30 more unknown fields"


def _near(selector: Document) -> Document:
    term = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": selector}
    key = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"affinity": {"podAffinity": {key: [term]}}}


@pytest.mark.parametrize(
    ("selector", "others", "told"),
    [
        pytest.param({"matchLabels": {"a": "b"}}, [], True, id="by label"),
        pytest.param({}, [], False, id="all of them"),
        pytest.param(
            {"matchLabels": {"a": "b"}}, [an_object("v1", "Namespace", "x")], False, id="known"
        ),
    ],
)
def test_selectors_of_namespaces_that_nobody_knows_are_told_of(
    selector: Document, others: list[Document], told: bool
) -> None:
    loaded = _load(*others, _pod("a", **_near(selector)), a_nodepool())

    assert any("1 pod selects namespaces by labels" in note for note in loaded.notes) == told


@pytest.mark.parametrize(
    ("document", "message"),
    [
        pytest.param("text", "dump.yaml: document 1: 'text' is not a", id="text"),
        pytest.param({"kind": "Pod"}, "dump.yaml: document 1: an object: apiVersion", id="version"),
        pytest.param(
            {"kind": "List", "items": [a_node("n"), 3]}, "dump.yaml: document 1: item 2: 3", id="3"
        ),
    ],
)
def test_what_is_no_object_is_named_by_its_place(document: object, message: str) -> None:
    loaded = _load(document, a_pod("a"), a_nodepool())

    assert [one.message[: len(message)] for one in loaded.refused] == [message]
    assert [row.name for row in taken(loaded.state).pods.rows()] == ["a"]


def test_every_item_of_a_list_is_read_whatever_those_before_it_are() -> None:
    items = [3, {"kind": "Pod"}, {"apiVersion": "v1", "kind": "PodList", "items": 5}, a_pod("a")]

    loaded = _load({"apiVersion": "v1", "kind": "List", "items": items}, a_nodepool())

    assert len(loaded.refused) == 3
    assert [row.name for row in taken(loaded.state).pods.rows()] == ["a"]


@pytest.mark.parametrize("name", ["a\nb\x1b[31m", "a" * 100_000], ids=["control", "long"])
def test_messages_stay_in_one_line_of_modest_length(name: str) -> None:
    [refused] = _load(a_pod(name), a_nodepool()).refused

    assert refused.message.isprintable()
    assert len(refused.message) < 2_000


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")], ids=str)
def test_what_is_no_number_in_json_costs_its_object_at_most(number: float) -> None:
    pool = a_nodepool()
    pool["spec"]["limits"] = {"cpu": number}

    loaded = _load(pool, a_pod("a", containers=[{"resources": {"requests": {"cpu": number}}}]))

    assert len(loaded.refused) == 2
    assert all(str(number) in one.message for one in loaded.refused)


def test_nonsense_of_any_size_is_told_of_within_bounds() -> None:
    loaded = _load([3] * 5_000, a_nodepool())

    assert len(loaded.refused) == 1_001
    assert loaded.refused[-1].message == "4000 more things in the input are no objects"


@pytest.mark.parametrize(
    ("api_version", "spec", "message"),
    [
        pytest.param(
            "scheduling.k8s.io/v1alpha2",
            {"schedulingPolicy": {"gang": {"minCount": 0}}},
            "spec.schedulingPolicy.gang.minCount: Required value",
            id="a gang of none",
        ),
        pytest.param(
            "scheduling.k8s.io/v1alpha2",
            {"schedulingPolicy": {"gang": {"minCount": -1}}},
            "spec.schedulingPolicy.gang.minCount: Invalid value: -1",
            id="a gang of less than none",
        ),
        pytest.param(
            "scheduling.k8s.io/v1alpha2",
            {"schedulingPolicy": {"gang": {"minCount": 1}, "basic": {}}},
            "spec.schedulingPolicy: Invalid value",
            id="two policies",
        ),
        pytest.param(
            "scheduling.x-k8s.io/v1alpha1",
            {"minMember": 0},
            "spec.minMember: Invalid value: 0",
            id="a group of scheduler plug-ins",
        ),
    ],
)
def test_a_group_that_no_api_server_lets_in_does_not_count(
    api_version: str, spec: dict[str, Any], message: str
) -> None:
    [refused] = _load(an_object(api_version, "PodGroup", "g", "d", spec=spec), a_nodepool()).refused

    assert message in refused.message


def test_a_pool_that_no_api_server_lets_in_is_refused_and_told_of_in_the_plan() -> None:
    pool = a_nodepool()
    pool["spec"]["weight"] = 101

    loaded = _load(pool, a_pod("a"))

    assert ["spec.weight" in one.message for one in loaded.refused] == [True]
    assert [one.problems for one in taken(loaded.state).nodepools.values()] != [()]


def test_kubernetes_own_priority_classes_count_as_every_cluster_has_them() -> None:
    def a_class(name: str, value: int) -> Document:
        kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        return {**kind, "metadata": {"name": name}, "value": value}

    loaded = _load(
        a_class("system-node-critical", 2_000_001_000),
        a_class("system-cluster-critical", 2_000_000_000),
        a_class("mine", 2_000_000_000),
    )

    assert [one.name for one in loaded.refused] == ["mine"]


def test_the_header_of_a_dump_is_passed_over() -> None:
    loaded = _load({"apiVersion": "joiner.io/v1", "kind": "ClusterDump"}, a_nodepool())

    assert (loaded.refused, loaded.notes) == ((), ())
