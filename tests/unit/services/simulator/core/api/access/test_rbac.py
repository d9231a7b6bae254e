"""What roles and bindings grant, and who may write them."""

from typing import Any

import pytest

from services.simulator.core.api.access.policy import described, uncovered
from tests.unit.services.simulator.core.api.access.gated import AUTHORIZATION, RBAC, Gated, may

ROLES = f"{RBAC}/namespaces/default/roles"
BINDINGS = f"{RBAC}/namespaces/default/rolebindings"
EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}


def review(gated: Gated, user: str, **asked: str) -> dict[str, Any]:
    spec: dict[str, Any] = {"user": user}
    if "path" in asked:
        spec["nonResourceAttributes"] = asked
    else:
        spec["resourceAttributes"] = asked
    status: dict[str, Any] = gated.ask(
        "POST", f"{AUTHORIZATION}/subjectaccessreviews", {"spec": spec}
    )["status"]
    return status


@pytest.mark.parametrize(
    ("rule", "asked", "allowed"),
    [
        pytest.param(may("get", "pods"), {"resource": "pods"}, True, id="granted"),
        pytest.param(may("list", "pods"), {"resource": "pods"}, False, id="another verb"),
        pytest.param(may("*", "pods"), {"resource": "pods"}, True, id="all verbs"),
        pytest.param(
            may("get", "pods", group="apps"), {"resource": "pods"}, False, id="another group"
        ),
        pytest.param(
            may("get", "*", group="*"), {"resource": "jobs", "group": "batch"}, True, id="all"
        ),
        pytest.param(
            may("get", "pods"), {"resource": "pods", "subresource": "log"}, False, id="subresource"
        ),
        pytest.param(
            may("get", "*/log"),
            {"resource": "pods", "subresource": "log"},
            True,
            id="subresource of all",
        ),
        pytest.param(may("get", "*/log"), {"resource": "log"}, False, id="no subresource"),
        pytest.param(may("get", "pods", "a"), {"resource": "pods", "name": "a"}, True, id="name"),
        pytest.param(
            may("get", "pods", "a"), {"resource": "pods", "name": "b"}, False, id="another name"
        ),
        pytest.param(may("get", "pods", "a"), {"resource": "pods"}, False, id="no name"),
    ],
)
def test_a_rule_grants_what_it_names(
    rule: dict[str, Any], asked: dict[str, str], allowed: bool
) -> None:
    gated = Gated()
    gated.grant("jane", rule)

    assert review(gated, "jane", verb="get", **asked)["allowed"] is allowed


@pytest.mark.parametrize(
    ("url", "path", "allowed"),
    [("/a", "/a", True), ("/a/*", "/a/b", True), ("/a", "/a/b", False), ("*", "/x", True)],
)
def test_a_rule_grants_paths(url: str, path: str, allowed: bool) -> None:
    gated = Gated()
    gated.grant("jane", {"verbs": ["get"], "nonResourceURLs": [url]})

    assert review(gated, "jane", verb="get", path=path)["allowed"] is allowed


def test_a_role_binding_grants_in_its_namespace_only() -> None:
    gated = Gated()
    gated.grant("bob", may("get", "pods"), namespace="default")

    def may_get(user: str, namespace: str) -> bool:
        asked = {"verb": "get", "resource": "pods", "namespace": namespace}
        return bool(review(gated, user, **asked)["allowed"])

    assert [may_get("bob", place) for place in ("default", "other", "")] == [True, False, False]


def test_the_reason_names_the_binding() -> None:
    gated = Gated()
    gated.grant("jane", may("get", "pods"), namespace="default")
    found = review(gated, "jane", verb="get", resource="pods", namespace="default")

    assert found["reason"] == (
        'RBAC: allowed by RoleBinding "of-jane-to-jane/default" of Role "of-jane" to User "jane"'
    )


def test_a_binding_to_a_role_that_is_missing_is_told() -> None:
    gated = Gated()
    gated.bind("nope", "jane")

    assert review(gated, "jane", verb="get", resource="pods") == {
        "allowed": False,
        "reason": 'RBAC: clusterrole.rbac.authorization.k8s.io "nope" not found',
    }


def test_what_changes_holds_at_once() -> None:
    gated = Gated()
    asked = {"verb": "get", "resource": "pods"}
    before = review(gated, "jane", **asked)["allowed"]
    gated.grant("jane", may("get", "pods"))
    between = review(gated, "jane", **asked)["allowed"]
    gated.ask("DELETE", f"{RBAC}/clusterrolebindings/of-jane-to-jane")

    assert (before, between, review(gated, "jane", **asked)["allowed"]) == (False, True, False)


def test_nobody_grants_what_they_do_not_have() -> None:
    gated, group = Gated(), "rbac.authorization.k8s.io"
    writing = [may(verb, "roles", group=group) for verb in ("create", "update")]
    gated.grant("jane", *writing, may("get", "pods"))
    role = {"metadata": {"name": "r"}, "rules": [may("get", "pods"), may("list", "pods")]}
    held = {"metadata": {"name": "r"}, "rules": [may("get", "pods")]}

    assert gated.refusal("POST", ROLES, role, token="jane") == (
        'roles.rbac.authorization.k8s.io "r" is forbidden: user "jane" (groups=["staff" '
        '"system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'
        '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}'
    )
    assert gated.send("POST", ROLES, held, token="jane").status == 201
    assert gated.send("PUT", f"{ROLES}/r", role, token="jane").status == 403


def test_whoever_may_escalate_grants_everything() -> None:
    gated = Gated()
    gated.grant("jane", may("*", "roles", group="rbac.authorization.k8s.io"))
    role = {"metadata": {"name": "r"}, "rules": [EVERYTHING]}

    assert gated.send("POST", ROLES, role, token="jane").status == 201


def test_a_role_is_bound_by_those_who_may_bind_it_or_have_it() -> None:
    gated = Gated()
    group = "rbac.authorization.k8s.io"
    gated.grant(
        "jane",
        may("create", "rolebindings", group=group),
        may("bind", "clusterroles", "edit", group=group),
    )

    def bind(role: str) -> int:
        body = {
            "metadata": {"name": role},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
        }
        return gated.send("POST", BINDINGS, body, token="jane").status

    assert [bind("edit"), bind("of-jane"), bind("cluster-admin")] == [201, 201, 403]


def test_a_change_of_labels_escalates_nothing_for_whom_has_the_rules() -> None:
    gated = Gated()
    gated.grant("jane", may("patch", "clusterroles", group="rbac.authorization.k8s.io"))
    path, change = f"{RBAC}/clusterroles", {"metadata": {"finalizers": ["a/b"]}}

    assert gated.send("PATCH", f"{path}/cluster-admin", change, token="jane").status == 200
    assert (
        gated.send(
            "PATCH", f"{path}/cluster-admin", {"metadata": {"labels": {"a": "b"}}}, token="jane"
        ).status
        == 403
    )


def test_missing_rules_are_shown_by_resource() -> None:
    wanted = [
        {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]},
        {"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["a"]},
        {"verbs": ["get"], "nonResourceURLs": ["/x"]},
    ]

    assert described(uncovered((), wanted)) == [
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get"]}',
        '{NonResourceURLs:["/x"], Verbs:["get"]}',
    ]
