from datetime import UTC, datetime
from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.domain.pod import PodPhase
from libs.domain.taint import Effect, TolerationOperator
from libs.domain.topology import NodeInclusionPolicy
from libs.kube.convert.pod import claims_of, raw_shape, row
from tests.unit.libs.kube.manifests import WAITING, a_container, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def _node_affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def _spread(**more: Any) -> dict[str, Any]:
    given = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **more}
    return {"topologySpreadConstraints": [given]}


def _near(*terms: dict[str, Any], kind: str = "podAffinity") -> dict[str, Any]:
    return {"affinity": {kind: {REQUIRED: list(terms)}}}


def test_a_node_selector_demands_its_labels_under_their_current_names() -> None:
    shape = raw_shape(pod(nodeSelector={"beta.kubernetes.io/arch": "arm64"}))

    assert shape.node_selector.allows({"kubernetes.io/arch": "arm64"})
    assert not shape.node_selector.allows({"kubernetes.io/arch": "amd64"})


def test_terms_of_a_required_affinity_keep_their_order_and_empty_ones_match_nothing() -> None:
    terms: tuple[dict[str, Any], ...] = (
        {"matchExpressions": [_expression("a", "In", "1")]},
        {},
        {"matchExpressions": [_expression("b", "Gt", "3")]},
    )

    shape = raw_shape(pod(**_node_affinity(*terms)))

    assert [str(term.requirements) for term in shape.required_node_terms] == [
        "a In [1]",
        "b >=4",
    ]


def test_a_term_with_a_value_that_is_none_leaves_the_others() -> None:
    terms = [
        {"matchExpressions": [_expression("a", "Gt", "x")]},
        {"matchExpressions": [_expression("a", "In", "b c")]},
        {"matchExpressions": [_expression("a", "In", "1")]},
    ]

    (term,) = raw_shape(pod(**_node_affinity(*terms))).required_node_terms

    assert str(term.requirements) == "a In [1]"


def test_match_fields_name_nodes() -> None:
    fields = [
        _expression("metadata.name", "In", "n1"),
        _expression("metadata.name", "NotIn", "n2"),
    ]

    (term,) = raw_shape(pod(**_node_affinity({"matchFields": fields}))).required_node_terms

    assert (term.node_names, term.excluded_node_names) == (("n1",), ("n2",))


def test_terms_that_all_match_nothing_leave_no_node() -> None:
    (term,) = raw_shape(pod(**_node_affinity({}))).required_node_terms

    assert not term.requirements.satisfiable


def test_preferences_come_heaviest_first() -> None:
    def preference(weight: int, key: str) -> dict[str, Any]:
        return {"weight": weight, "preference": {"matchExpressions": [_expression(key, "Exists")]}}

    affinity = {"nodeAffinity": {PREFERRED: [preference(1, "a"), preference(9, "b")]}}

    shape = raw_shape(pod(affinity=affinity))

    assert [str(one.requirements) for one in shape.preferred_node_terms] == ["b Exists", "a Exists"]


def test_tolerations_have_defaults_and_an_order() -> None:
    given = [
        {"key": "b", "effect": "NoExecute", "tolerationSeconds": 5},
        {"key": "b", "effect": "NoExecute"},
        {"operator": "Exists"},
    ]

    every, one = raw_shape(pod(tolerations=given)).tolerations

    assert (every.key, every.operator, every.effect) == ("", TolerationOperator.EXISTS, None)
    assert (one.operator, one.effect, one.seconds) == (
        TolerationOperator.EQUAL,
        Effect.NO_EXECUTE,
        None,
    )


def test_policies_of_a_spread_have_defaults() -> None:
    (spread,) = raw_shape(pod(**_spread(labelSelector={"matchLabels": {"a": "b"}}))).topology_spread

    assert spread.node_affinity_policy is NodeInclusionPolicy.HONOR
    assert spread.node_taints_policy is NodeInclusionPolicy.IGNORE


@pytest.mark.parametrize("selector", [None, {}], ids=["missing", "empty"])
def test_a_spread_without_a_selector_counts_no_pod(selector: dict[str, Any] | None) -> None:
    (spread,) = raw_shape(pod(**_spread(labelSelector=selector))).topology_spread

    assert spread.selector is None


def test_match_label_keys_narrow_a_spread_to_the_pods_own_values() -> None:
    constraint = _spread(
        labelSelector={"matchLabels": {"app": "web"}}, matchLabelKeys=["hash", "absent"]
    )

    (spread,) = raw_shape(pod(labels={"app": "web", "hash": "h1"}, **constraint)).topology_spread

    assert spread.selector is not None
    assert spread.selector.matches({"app": "web", "hash": "h1"})
    assert not spread.selector.matches({"app": "web", "hash": "h2"})


def test_mismatch_label_keys_exclude_the_pods_own_value() -> None:
    term = {
        "topologyKey": "zone",
        "labelSelector": {},
        "mismatchLabelKeys": ["tenant"],
        "matchLabelKeys": ["app"],
    }

    shape = raw_shape(
        pod(labels={"app": "web", "tenant": "t1"}, **_near(term, kind="podAntiAffinity"))
    )

    selector = shape.anti_affinity[0].selector
    assert selector is not None
    assert selector.matches({"app": "web", "tenant": "t2"})
    assert not selector.matches({"app": "web", "tenant": "t1"})
    assert not selector.matches({"app": "db", "tenant": "t2"})


@pytest.mark.parametrize(
    ("term", "namespaces"),
    [
        pytest.param({}, ("default",), id="neither: its own"),
        pytest.param({"namespaces": ["b", "a"]}, ("a", "b"), id="by name"),
        pytest.param({"namespaceSelector": {}}, (), id="by selector only"),
        pytest.param({"namespaces": ["a"], "namespaceSelector": {}}, ("a",), id="both"),
    ],
)
def test_namespaces_of_an_affinity_term(term: dict[str, Any], namespaces: tuple[str, ...]) -> None:
    (found,) = raw_shape(pod(**_near({"topologyKey": "zone", **term}))).affinity

    assert found.namespaces == namespaces
    assert (found.namespace_selector is None) == ("namespaceSelector" not in term)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        pytest.param({"nodeSelector": {"a b": "c"}}, "spec.nodeSelector.a b", id="label key"),
        pytest.param(
            _node_affinity({"matchExpressions": [_expression("a", "Gte", "1")]}),
            f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].operator",
            id="operator that only pools have",
        ),
        pytest.param(
            _node_affinity({"matchExpressions": [_expression("a", "Gt", "x")]}, {}),
            f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values",
            id="no number in the only term",
        ),
        pytest.param(
            {"tolerations": [{"key": "a", "operator": "Like"}]},
            "spec.tolerations[0].operator",
            id="toleration operator",
        ),
        pytest.param(
            {"tolerations": [{"key": "a", "effect": "Never"}]},
            "spec.tolerations[0].effect",
            id="toleration effect",
        ),
        pytest.param(_spread(maxSkew=0), "spec.topologySpreadConstraints[0].maxSkew", id="skew"),
        pytest.param(
            _spread(whenUnsatisfiable="Maybe"),
            "spec.topologySpreadConstraints[0].whenUnsatisfiable",
            id="whenUnsatisfiable",
        ),
        pytest.param(
            _spread(nodeTaintsPolicy="Perhaps"),
            "spec.topologySpreadConstraints[0].nodeTaintsPolicy",
            id="policy",
        ),
        pytest.param(
            _near({"topologyKey": ""}),
            f"spec.affinity.podAffinity.{REQUIRED}[0].topologyKey",
            id="no topology key",
        ),
        pytest.param(
            _near(
                {
                    "topologyKey": "z",
                    "labelSelector": {"matchExpressions": [_expression("a", "Near")]},
                }
            ),
            f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector.matchExpressions[0].operator",
            id="selector operator",
        ),
    ],
)
def test_what_kubernetes_refuses_is_refused_with_its_field(
    spec: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        raw_shape(pod(**spec))

    assert caught.value.field == field


def _owned(api_version: str, kind: str) -> dict[str, Any]:
    owner = {"apiVersion": api_version, "kind": kind, "name": "o", "uid": "u", "controller": True}
    return {"ownerReferences": [owner]}


@pytest.mark.parametrize(
    ("more", "waits"),
    [
        pytest.param({}, True, id="unschedulable and unbound"),
        pytest.param({"status": {"phase": "Pending"}}, False, id="not seen by a scheduler"),
        pytest.param({"nodeName": "n", "status": WAITING}, False, id="bound"),
        pytest.param({"status": {"nominatedNodeName": "n"}}, True, id="preemption under way"),
        pytest.param(
            {"status": {"nominatedNodeName": "n"}, "meta": _owned("apps/v1", "DaemonSet")},
            False,
            id="preemption for a DaemonSet",
        ),
        pytest.param({"meta": _owned("apps/v1", "DaemonSet")}, False, id="a DaemonSet's"),
        pytest.param({"meta": _owned("v1", "Node")}, False, id="a mirror pod"),
        pytest.param(
            {"meta": _owned("apps.kruise.io/v1alpha1", "DaemonSet")}, True, id="another DaemonSet's"
        ),
        pytest.param(
            {"meta": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, False, id="terminating"
        ),
        pytest.param({"status": {**WAITING, "phase": "Failed"}}, False, id="ended"),
    ],
)
def test_which_pods_wait_for_a_node(more: dict[str, Any], waits: bool) -> None:
    assert row(pod(**more)).provisionable is waits


@pytest.mark.parametrize(
    ("more", "waits"),
    [
        pytest.param({"status": {}}, True, id="unbound"),
        pytest.param({"status": {}, "schedulingGates": [{"name": "g"}]}, False, id="gated"),
        pytest.param({"nodeName": "n"}, False, id="bound"),
        pytest.param({"status": {"phase": "Succeeded"}}, False, id="ended"),
    ],
)
def test_a_pod_out_of_a_file_waits_without_a_condition(more: dict[str, Any], waits: bool) -> None:
    assert row(pod(**more), offline=True).provisionable is waits


def test_a_row_holds_what_decides_when_and_which() -> None:
    meta = {
        "creationTimestamp": "2026-01-01T00:00:01Z",
        "annotations": {
            "controller.kubernetes.io/pod-deletion-cost": "-7",
            "karpenter.sh/do-not-disrupt": "30m",
        },
        **_owned("apps/v1", "ReplicaSet"),
    }
    status = {
        "phase": "Running",
        "startTime": "2026-01-01T00:00:02Z",
        "conditions": [{"type": "Ready", "status": "True"}],
    }

    found = row(pod(meta=meta, status=status, nodeName="n", priority=5))

    start = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()) * 1000
    assert (found.uid, found.name, found.node) == ("uid-web-0", "web-0", "n")
    assert (found.created_ms, found.started_ms) == (start + 1000, start + 2000)
    assert (found.priority, found.deletion_cost, found.do_not_disrupt_ms) == (5, -7, 1_800_000)
    assert (found.phase, found.ready) == (PodPhase.RUNNING, True)
    assert found.owner is not None
    assert (found.owner.kind, found.owner.uid) == ("ReplicaSet", "u")


def test_a_pod_without_a_uid_is_known_by_its_name() -> None:
    assert row(pod(meta={"uid": ""})).uid == "default/web-0"


@pytest.mark.parametrize("cost", ["", "x", "1.5", "99999999999"], ids=repr)
def test_a_deletion_cost_that_is_no_int32_is_none(cost: str) -> None:
    meta = {"annotations": {"controller.kubernetes.io/pod-deletion-cost": cost}}

    assert row(pod(meta=meta)).deletion_cost == 0


def test_claims_are_those_by_name_and_those_that_live_with_the_pod() -> None:
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
        {"name": "config", "configMap": {}},
    ]

    found = pod(volumes=volumes)

    assert [(one.name, one.owner) for one in claims_of(found)] == [
        ("c", None),
        ("web-0-scratch", found.metadata.uid),
    ]
    assert row(found).volume_claims == ("c", "web-0-scratch")


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"schedulingGroup": {"podGroupName": "g"}}, id="field"),
        pytest.param({"labels": {"scheduling.x-k8s.io/pod-group": "g"}}, id="label"),
    ],
)
def test_the_gang_of_a_pod(more: dict[str, Any]) -> None:
    assert row(pod(**more)).gang == "default/g"


RESTARTS = "RestartAllContainersOnContainerExits"
USERS = "UserNamespacesHostNetworkSupport"
RESTARTS_ALL: dict[str, Any] = {"restartPolicyRules": [{"action": "RestartAllContainers"}]}


@pytest.mark.parametrize(
    ("spec", "features"),
    [
        pytest.param({"containers": [a_container(**RESTARTS_ALL)]}, [RESTARTS], id="container"),
        pytest.param({"initContainers": [RESTARTS_ALL]}, [RESTARTS], id="init container"),
        pytest.param({"hostNetwork": True, "hostUsers": False}, [USERS], id="own users"),
        pytest.param({"hostNetwork": True}, [], id="nothing said of users"),
        pytest.param({"hostUsers": False}, [], id="own network"),
        pytest.param(
            {"initContainers": [RESTARTS_ALL], "hostNetwork": True, "hostUsers": False},
            [RESTARTS, USERS],
            id="both",
        ),
    ],
)
def test_what_a_kubelet_has_to_declare(spec: dict[str, Any], features: list[str]) -> None:
    assert list(raw_shape(pod(**spec)).required_features) == features
