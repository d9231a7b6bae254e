"""Who may do what: tokens, acting as others, roles and bindings, reviews."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.conformance.cluster import Answer, Cluster
from tests.conformance.objects import a_config_map, a_pod
from tests.conformance.targets import CONTROLLERS

ROLES = "/apis/rbac.authorization.k8s.io/v1"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
AUTHENTICATION = "/apis/authentication.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"

Object = dict[str, Any]


@pytest.fixture
def user(unique: Callable[[str], str]) -> str:
    """A user whom nobody knows yet."""
    return unique("user")


def acting(user: str, **more: str) -> dict[str, str]:
    return {"Impersonate-User": user, **{f"Impersonate-{name}": more[name] for name in more}}


def may(verb: str, resource: str, *names: str, group: str = "") -> Object:
    rule: Object = {"verbs": [verb], "apiGroups": [group], "resources": [resource]}
    return {**rule, "resourceNames": list(names)} if names else rule


def grant(cluster: Cluster, namespace: str, user: str, *rules: Mapping[str, Any]) -> None:
    """Give a user a role of its own in a namespace, and wait until it holds."""
    place = f"{ROLES}/namespaces/{namespace}"
    cluster.post(f"{place}/roles", {"metadata": {"name": user}, "rules": rules}).ok()
    bind(cluster, namespace, user, {"kind": "User", "name": user}, role=("Role", user))
    rule = rules[0]
    asked = {
        "namespace": namespace,
        "verb": rule["verbs"][0],
        "group": rule["apiGroups"][0],
        "resource": rule["resources"][0],
        "name": (rule.get("resourceNames") or [""])[0],
    }
    await_access(cluster, user, asked)


def bind(
    cluster: Cluster, namespace: str, name: str, subject: Object, *, role: tuple[str, str]
) -> Answer:
    kind, role_name = role
    reference = {"apiGroup": GROUP, "kind": kind, "name": role_name}
    body = {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]}
    return cluster.post(f"{ROLES}/namespaces/{namespace}/rolebindings", body)


def review(cluster: Cluster, user: str, asked: Object) -> Object:
    spec = {"user": user, "resourceAttributes": asked}
    found: Object = cluster.post(f"{AUTHORIZATION}/subjectaccessreviews", {"spec": spec}).ok()
    status: Object = found["status"]
    return status


def await_access(cluster: Cluster, user: str, asked: Object) -> Object:
    """Wait until an authorizer has seen a binding; return what it says."""
    for _ in range(300):
        status = review(cluster, user, asked)
        if status["allowed"]:
            return status
    raise AssertionError(f"{user} may not {asked}")


def test_a_wrong_token_is_unauthorized(cluster: Cluster) -> None:
    answer = cluster.send("GET", "/api/v1/nodes", headers={"Authorization": "Bearer wrong"})

    assert (answer.status, answer.body["reason"]) == (401, "Unauthorized")


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        pytest.param(
            "GET",
            "/api/v1/nodes",
            'nodes is forbidden: User "U" cannot list resource "nodes" in API group "" at the '
            "cluster scope",
            id="list",
        ),
        pytest.param(
            "GET",
            "/api/v1/nodes?watch=1&fieldSelector=metadata.name%3Dn",
            'nodes "n" is forbidden: User "U" cannot watch resource "nodes" in API group "" at the '
            "cluster scope",
            id="watch of one",
        ),
        pytest.param(
            "DELETE",
            "/apis/apps/v1/namespaces/a/deployments",
            'deployments.apps is forbidden: User "U" cannot deletecollection resource '
            '"deployments" in API group "apps" in the namespace "a"',
            id="collection",
        ),
        pytest.param(
            "GET",
            "/api/v1/namespaces/a/pods/p/log",
            'pods "p" is forbidden: User "U" cannot get resource "pods/log" in API group "" in the '
            'namespace "a"',
            id="subresource",
        ),
        pytest.param(
            "GET",
            "/apis/nope.example.com/v1/things/t",
            'things.nope.example.com "t" is forbidden: User "U" cannot get resource "things" in '
            'API group "nope.example.com" at the cluster scope',
            id="no such resource",
        ),
        pytest.param(
            "GET", "/metrics", 'forbidden: User "U" cannot get path "/metrics"', id="path"
        ),
    ],
)
def test_what_nobody_granted_is_forbidden(
    cluster: Cluster, user: str, method: str, path: str, message: str
) -> None:
    answer = cluster.send(method, path, headers=acting(user))

    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")
    assert answer.message == message.replace('"U"', f'"{user}"')


def test_everybody_may_ask_what_there_is_and_who_they_are(cluster: Cluster, user: str) -> None:
    path = f"{AUTHENTICATION}/selfsubjectreviews"
    found = cluster.send("POST", path, {}, headers=acting(user, Group="g", Uid="u")).ok()

    assert cluster.send("GET", "/apis", headers=acting(user)).status == 200
    assert found["status"]["userInfo"] == {
        "username": user,
        "uid": "u",
        "groups": ["g", "system:authenticated"],
    }


def test_acting_as_nobody_is_a_bad_request(cluster: Cluster) -> None:
    answer = cluster.send("GET", "/api", headers={"Impersonate-Group": "g"})

    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")


def test_a_role_grants_what_it_names_in_its_namespace(
    cluster: Cluster, namespace: str, user: str
) -> None:
    grant(cluster, namespace, user, may("get", "configmaps", "one"), may("list", "pods"))
    place = f"/api/v1/namespaces/{namespace}"
    cluster.post(f"{place}/configmaps", a_config_map("one")).ok()

    def status(path: str) -> int:
        return cluster.send("GET", path, headers=acting(user)).status

    assert status(f"{place}/configmaps/one") == 200
    assert status(f"{place}/configmaps/two") == 403
    assert status(f"{place}/configmaps") == 403
    assert status(f"{place}/pods") == 200
    assert status(f"{place}/pods/p") == 403
    assert status("/api/v1/namespaces/default/pods") == 403


def test_a_review_names_the_binding(cluster: Cluster, namespace: str, user: str) -> None:
    grant(cluster, namespace, user, may("list", "pods"))
    asked = {"namespace": namespace, "verb": "list", "resource": "pods"}

    assert review(cluster, user, asked) == {
        "allowed": True,
        "reason": f'RBAC: allowed by RoleBinding "{user}/{namespace}" of Role "{user}" to User '
        f'"{user}"',
    }


def test_a_review_of_ones_own_access(cluster: Cluster, user: str) -> None:
    path = f"{AUTHORIZATION}/selfsubjectaccessreviews"
    spec = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
    url = {"spec": {"nonResourceAttributes": {"verb": "get", "path": "/version"}}}
    headers = acting(user)

    assert cluster.post(path, spec).ok()["status"] == {"allowed": True}
    assert cluster.send("POST", path, spec, headers=headers).ok()["status"] == {"allowed": False}
    assert cluster.send("POST", path, url, headers=headers).ok()["status"]["allowed"] is True


def test_a_review_of_ones_own_rules(cluster: Cluster, namespace: str, user: str) -> None:
    grant(cluster, namespace, user, may("list", "pods", "p"))
    path = f"{AUTHORIZATION}/selfsubjectrulesreviews"
    body = {"spec": {"namespace": namespace}}
    found = cluster.send("POST", path, body, headers=acting(user)).ok()["status"]

    assert may("list", "pods", "p") in found["resourceRules"]


def test_the_first_roles_are_there(cluster: Cluster) -> None:
    names = {one["metadata"]["name"] for one in cluster.get(f"{ROLES}/clusterroles").ok()["items"]}

    assert {"cluster-admin", "admin", "edit", "view", "system:discovery", "system:basic-user"} <= (
        names
    )


@pytest.mark.needs(CONTROLLERS)
@pytest.mark.parametrize(
    ("role", "verb", "resource", "allowed"),
    [
        ("view", "get", "pods", True),
        ("view", "get", "secrets", False),
        ("view", "create", "pods", False),
        ("edit", "create", "pods", True),
        ("edit", "create", "rolebindings", False),
        ("admin", "create", "rolebindings", True),
    ],
)
def test_users_roles_grant_what_their_names_say(
    cluster: Cluster,
    namespace: str,
    user: str,
    role: str,
    verb: str,
    resource: str,
    allowed: bool,
) -> None:
    bind(cluster, namespace, user, {"kind": "User", "name": user}, role=("ClusterRole", role)).ok()
    await_access(cluster, user, {"namespace": namespace, "verb": "get", "resource": "pods"})
    group = GROUP if resource.startswith("role") else ""
    asked = {"namespace": namespace, "verb": verb, "group": group, "resource": resource}

    assert review(cluster, user, asked)["allowed"] is allowed


@pytest.mark.needs(CONTROLLERS)
def test_a_role_is_the_sum_of_those_it_selects(
    cluster: Cluster, unique: Callable[[str], str], create: Callable[..., Object]
) -> None:
    path, name = f"{ROLES}/clusterroles", unique("sum")
    selector = {"matchLabels": {name: "yes"}}
    create(
        path, {"metadata": {"name": name}, "aggregationRule": {"clusterRoleSelectors": [selector]}}
    )
    part = {"metadata": {"name": f"{name}-part", "labels": {name: "yes"}}}
    create(path, {**part, "rules": [may("get", "pods")]})

    cluster.until(f"{path}/{name}", lambda role: role["rules"] == [may("get", "pods")])


def test_nobody_grants_what_they_do_not_have(cluster: Cluster, namespace: str, user: str) -> None:
    grant(cluster, namespace, user, may("create", "roles", group=GROUP), may("get", "pods"))
    role = {"metadata": {"name": "r"}, "rules": [may("get", "pods"), may("list", "pods")]}
    path = f"{ROLES}/namespaces/{namespace}/roles"
    answer = cluster.send("POST", path, role, headers=acting(user))

    assert answer.status == 403
    assert answer.message == (
        f'roles.rbac.authorization.k8s.io "r" is forbidden: user "{user}" '
        '(groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently '
        'held:\n{APIGroups:[""], Resources:["pods"], Verbs:["list"]}'
    )


def test_a_role_is_bound_by_those_who_may_bind_it(
    cluster: Cluster, namespace: str, user: str
) -> None:
    grant(
        cluster,
        namespace,
        user,
        may("create", "rolebindings", group=GROUP),
        may("bind", "clusterroles", "view", group=GROUP),
    )

    def status(role: str) -> int:
        reference = {"apiGroup": GROUP, "kind": "ClusterRole", "name": role}
        path = f"{ROLES}/namespaces/{namespace}/rolebindings"
        body = {"metadata": {"name": role}, "roleRef": reference}
        return cluster.send("POST", path, body, headers=acting(user)).status

    assert (status("view"), status("cluster-admin")) == (201, 403)


def test_a_service_account_asks_with_its_token(cluster: Cluster, namespace: str) -> None:
    accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    cluster.post(accounts, {"metadata": {"name": "robot"}}).ok()
    subject = {"kind": "ServiceAccount", "name": "robot", "namespace": namespace}
    name = f"system:serviceaccount:{namespace}:robot"
    path = f"{ROLES}/namespaces/{namespace}"
    rules = [may("list", "pods")]
    cluster.post(f"{path}/roles", {"metadata": {"name": "r"}, "rules": rules}).ok()
    bind(cluster, namespace, "r", subject, role=("Role", "r")).ok()
    await_access(cluster, name, {"namespace": namespace, "verb": "list", "resource": "pods"})
    made = cluster.post(f"{accounts}/robot/token", {"spec": {"expirationSeconds": 600}}).ok()
    headers = {"Authorization": f"Bearer {made['status']['token']}"}
    pods = f"/api/v1/namespaces/{namespace}/pods"

    assert cluster.send("GET", pods, headers=headers).status == 200
    assert cluster.send("POST", pods, a_pod(), headers=headers).message == (
        f'pods is forbidden: User "{name}" cannot create resource "pods" in API group "" in the '
        f'namespace "{namespace}"'
    )
    token = {"spec": {"token": made["status"]["token"]}}
    found = cluster.post(f"{AUTHENTICATION}/tokenreviews", token).ok()["status"]
    assert (found["authenticated"], found["user"]["username"]) == (True, name)


def test_a_token_of_ten_minutes_is_the_shortest(cluster: Cluster, namespace: str) -> None:
    accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    cluster.post(accounts, {"metadata": {"name": "robot"}}).ok()
    answer = cluster.post(f"{accounts}/robot/token", {"spec": {"expirationSeconds": 599}})

    assert (answer.status, answer.causes) == (
        422,
        [("FieldValueInvalid", "spec.expirationSeconds")],
    )
