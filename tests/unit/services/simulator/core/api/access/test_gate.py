"""Who is let in, as whom, and what is said to those who are not."""

import json

import pytest

from services.simulator.core.api.access.gate import Mode
from tests.unit.services.simulator.cluster import Cluster
from tests.unit.services.simulator.core.api.access.gated import (
    AUTHENTICATION,
    PODS,
    RBAC,
    Gated,
    may,
)


def who(gated: Gated, **how: object) -> dict[str, object]:
    info: dict[str, object] = gated.ask("POST", f"{AUTHENTICATION}/selfsubjectreviews", {}, **how)[
        "status"
    ]["userInfo"]
    return info


def test_without_settings_whoever_comes_is_a_master() -> None:
    answer = Cluster().send("POST", f"{AUTHENTICATION}/selfsubjectreviews", {})

    assert json.loads(answer.body)["status"]["userInfo"]["groups"][0] == "system:masters"


def test_without_settings_there_are_no_roles() -> None:
    answer = Cluster().send("GET", f"{RBAC}/clusterroles")

    assert json.loads(answer.body)["items"] == []


@pytest.mark.parametrize(
    ("token", "message"),
    [
        pytest.param(
            "",
            'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group '
            '"" in the namespace "default"',
            id="nobody",
        ),
        pytest.param(
            "jane",
            'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the '
            'namespace "default"',
            id="somebody",
        ),
    ],
)
def test_what_no_binding_grants_is_forbidden(token: str, message: str) -> None:
    assert Gated().refusal("GET", PODS, token=token) == message


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        pytest.param(
            "PATCH",
            "/apis/apps/v1/namespaces/a/deployments/d/scale",
            'deployments.apps "d" is forbidden: User "jane" cannot patch resource '
            '"deployments/scale" in API group "apps" in the namespace "a"',
            id="subresource",
        ),
        pytest.param(
            "DELETE",
            "/api/v1/nodes",
            'nodes is forbidden: User "jane" cannot deletecollection resource "nodes" in API group '
            '"" at the cluster scope',
            id="collection",
        ),
        pytest.param(
            "GET",
            "/apis/nope.io/v1/things",
            'things.nope.io is forbidden: User "jane" cannot list resource "things" in API group '
            '"nope.io" at the cluster scope',
            id="unknown resource",
        ),
        pytest.param(
            "GET", "/metrics", 'forbidden: User "jane" cannot get path "/metrics"', id="path"
        ),
        pytest.param(
            "PUT",
            "/api/v1/namespaces/a/finalize",
            'namespaces "a" is forbidden: User "jane" cannot update resource "namespaces/finalize" '
            'in API group "" in the namespace "a"',
            id="part of a namespace",
        ),
    ],
)
def test_a_refusal_names_what_was_asked(method: str, path: str, message: str) -> None:
    assert Gated().refusal(method, path, {}, token="jane") == message


def test_a_refusal_escapes_what_looks_like_markup() -> None:
    as_ = (("impersonate-user", "<b>&"),)

    assert 'User "&lt;b&gt;&amp;" cannot' in Gated().refusal("GET", PODS, as_=as_)


@pytest.mark.parametrize("mode", list(Mode))
def test_a_wrong_token_is_unauthorized(mode: Mode) -> None:
    assert Gated(mode).send("GET", PODS, token="wrong").status == 401


def test_without_rbac_a_token_is_asked_for() -> None:
    gated = Gated(Mode.ALWAYS_ALLOW)

    assert gated.send("GET", PODS, token="").status == 401
    assert gated.send("GET", PODS, token="jane").status == 200


def test_everybody_may_discover_and_ask_about_themselves() -> None:
    gated = Gated()

    assert gated.send("GET", "/apis", token="jane").status == 200
    assert gated.send("GET", "/version", token="").status == 200
    assert who(gated, token="jane") == {
        "username": "jane",
        "uid": "7",
        "groups": ["staff", "system:authenticated"],
    }


def test_a_watch_is_another_verb_than_a_list() -> None:
    gated = Gated()
    gated.grant("jane", may("list", "pods"), namespace="default")

    assert gated.send("GET", PODS, token="jane").status == 200
    assert gated.send("GET", PODS, token="jane", query={"watch": "1"}).status == 403


def test_a_list_of_one_name_is_granted_by_that_name() -> None:
    gated = Gated()
    gated.grant("jane", may("list", "pods", "p"), namespace="default")
    one = {"fieldSelector": "metadata.name=p"}

    assert gated.send("GET", PODS, token="jane", query=one).status == 200
    assert gated.send("GET", PODS, token="jane").status == 403


@pytest.mark.parametrize(
    ("headers", "groups"),
    [
        pytest.param([("impersonate-user", "x")], ["system:authenticated"], id="user"),
        pytest.param(
            [("impersonate-user", "x"), ("impersonate-group", "a"), ("impersonate-group", "b")],
            ["a", "b", "system:authenticated"],
            id="groups",
        ),
        pytest.param(
            [("impersonate-user", "system:serviceaccount:n:a")],
            ["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"],
            id="service account",
        ),
        pytest.param(
            [("impersonate-user", "system:node:n")],
            ["system:nodes", "system:authenticated"],
            id="node",
        ),
    ],
)
def test_acting_as_others_brings_their_groups(
    headers: list[tuple[str, str]], groups: list[str]
) -> None:
    assert who(Gated(), as_=tuple(headers))["groups"] == groups


def test_acting_as_others_brings_their_uid_and_extra() -> None:
    headers = (
        ("impersonate-user", "x"),
        ("impersonate-uid", "9"),
        ("impersonate-extra-a%2fb", "1"),
        ("impersonate-extra-a%2fb", "2"),
    )
    found = who(Gated(), as_=headers)

    assert (found["uid"], found["extra"]) == ("9", {"a/b": ["1", "2"]})


def test_acting_as_nobody_is_a_bad_request() -> None:
    answer = Gated().send("GET", PODS, as_=(("impersonate-group", "g"),))

    assert answer.status == 400
    assert b"without impersonating a user name" in answer.body


def test_acting_as_others_is_a_right_of_its_own() -> None:
    gated = Gated()
    as_ = (("impersonate-user", "bob"),)

    assert "cannot impersonate-on:user-info:list resource" in gated.refusal(
        "GET", PODS, token="jane", as_=as_
    )

    gated.grant("jane", may("impersonate", "users", "bob"))
    gated.grant("bob", may("list", "pods"))

    assert gated.send("GET", PODS, token="jane", as_=as_).status == 200
    assert gated.send("GET", PODS, token="jane").status == 403


def test_the_narrow_right_to_act_as_others_covers_what_it_names() -> None:
    gated = Gated()
    gated.grant(
        "jane",
        may("impersonate:user-info", "users", "bob", group="authentication.k8s.io"),
        may("impersonate-on:user-info:list", "pods"),
    )
    gated.grant("bob", may("*", "pods"))
    as_ = (("impersonate-user", "bob"),)

    assert gated.send("GET", PODS, token="jane", as_=as_).status == 200
    assert gated.send("DELETE", PODS, token="jane", as_=as_).status == 403
