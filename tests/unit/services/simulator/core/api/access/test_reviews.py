"""Reviews of access, rules, users and tokens; tokens of service accounts."""

import json
from typing import Any

import pytest

from services.simulator.core.api.access.gate import Mode
from tests.unit.services.simulator.core.api.access.gated import (
    AUTHENTICATION,
    AUTHORIZATION,
    PODS,
    Gated,
    may,
)

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


@pytest.fixture
def gated() -> Gated:
    gated = Gated()
    gated.ask("POST", ACCOUNTS, {"metadata": {"name": "sa"}})
    return gated


def token(gated: Gated, **spec: Any) -> str:
    text: str = gated.ask("POST", f"{ACCOUNTS}/sa/token", {"spec": spec})["status"]["token"]
    return text


def status(gated: Gated, **how: Any) -> int:
    return gated.send("POST", f"{AUTHENTICATION}/selfsubjectreviews", {}, **how).status


@pytest.mark.parametrize(
    ("path", "spec", "message"),
    [
        pytest.param(
            "selfsubjectaccessreviews",
            {},
            '.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: '
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
            id="about nothing",
        ),
        pytest.param(
            "subjectaccessreviews",
            {"resourceAttributes": {"verb": "get"}},
            '.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of '
            "user or group must be specified",
            id="about nobody",
        ),
        pytest.param(
            "namespaces/a/localsubjectaccessreviews",
            {"user": "u", "resourceAttributes": {"verb": "get", "namespace": "b"}},
            '.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value:'
            ' "b": must match metadata.namespace',
            id="about another namespace",
        ),
    ],
)
def test_a_review_that_asks_nothing_is_invalid(
    gated: Gated, path: str, spec: dict[str, Any], message: str
) -> None:
    answer = gated.send("POST", f"{AUTHORIZATION}/{path}", {"spec": spec})

    assert (answer.status, json.loads(answer.body)["message"]) == (422, message)


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "selfsubjectaccessreviews", 405),
        ("POST", "localsubjectaccessreviews", 404),
        ("POST", "namespaces/a/selfsubjectaccessreviews", 404),
        ("DELETE", "selfsubjectaccessreviews/x", 404),
    ],
)
def test_reviews_are_only_created(gated: Gated, method: str, path: str, expected: int) -> None:
    assert gated.send(method, f"{AUTHORIZATION}/{path}", {}).status == expected


def test_a_local_review_is_about_its_namespace(gated: Gated) -> None:
    gated.grant("jane", may("get", "pods"), namespace="default")
    path = f"{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews"
    asked = {"verb": "get", "resource": "pods", "namespace": "default"}
    spec = {"user": "jane", "resourceAttributes": asked}

    assert gated.ask("POST", path, {"spec": spec})["status"]["allowed"] is True


def test_rules_are_those_of_all_bindings(gated: Gated) -> None:
    gated.grant("jane", may("get", "pods", "p"), namespace="default")
    path, spec = f"{AUTHORIZATION}/selfsubjectrulesreviews", {"namespace": "default"}
    found = gated.ask("POST", path, {"spec": spec}, token="jane")["status"]

    assert may("get", "pods", "p") in found["resourceRules"]
    assert found["incomplete"] is False
    assert any("/version" in rule["nonResourceURLs"] for rule in found["nonResourceRules"])


def test_an_account_is_who_its_token_says(gated: Gated) -> None:
    path = f"{AUTHENTICATION}/selfsubjectreviews"
    found = gated.ask("POST", path, {}, token=token(gated))["status"]["userInfo"]

    assert found["username"] == "system:serviceaccount:default:sa"
    assert found["groups"] == [
        "system:serviceaccounts",
        "system:serviceaccounts:default",
        "system:authenticated",
    ]
    assert list(found["extra"]) == ["authentication.kubernetes.io/credential-id"]


def test_a_token_expires(gated: Gated) -> None:
    made = token(gated, expirationSeconds=600)
    gated.wait(599)
    before = status(gated, token=made)
    gated.wait(1)

    assert (before, status(gated, token=made)) == (201, 401)


def test_a_token_goes_with_its_account(gated: Gated) -> None:
    made = token(gated)
    gated.ask("DELETE", f"{ACCOUNTS}/sa")
    gated.ask("POST", ACCOUNTS, {"metadata": {"name": "sa"}})

    assert status(gated, token=made) == 401


def test_a_token_goes_with_what_it_is_bound_to(gated: Gated) -> None:
    secrets = "/api/v1/namespaces/default/secrets"
    gated.ask("POST", secrets, {"metadata": {"name": "s"}})
    made = token(gated, boundObjectRef={"kind": "Secret", "apiVersion": "v1", "name": "s"})
    before = status(gated, token=made)
    gated.ask("DELETE", f"{secrets}/s")

    assert (before, status(gated, token=made)) == (201, 401)


def test_a_token_of_a_pod_tells_of_the_pod(gated: Gated) -> None:
    container = {"name": "c", "image": "i"}
    pod = {
        "metadata": {"name": "p"},
        "spec": {"serviceAccountName": "sa", "nodeName": "n", "containers": [container]},
    }
    gated.ask("POST", PODS, pod)
    made = token(gated, boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "p"})
    path = f"{AUTHENTICATION}/selfsubjectreviews"
    extra = gated.ask("POST", path, {}, token=made)["status"]["userInfo"]["extra"]

    assert extra["authentication.kubernetes.io/pod-name"] == ["p"]
    assert extra["authentication.kubernetes.io/node-name"] == ["n"]


def test_a_token_for_others_opens_nothing_here(gated: Gated) -> None:
    made = token(gated, audiences=["vault"])
    path, spec = f"{AUTHENTICATION}/tokenreviews", {"token": made}
    here = gated.ask("POST", path, {"spec": spec})["status"]
    there = gated.ask("POST", path, {"spec": {**spec, "audiences": ["vault"]}})["status"]

    assert status(gated, token=made) == 401
    assert here["error"].startswith("[invalid bearer token, token audiences")
    assert (there["authenticated"], there["audiences"]) == (True, ["vault"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"spec": {"expirationSeconds": 599}}, 422),
        ({"spec": {"expirationSeconds": 2**33}}, 422),
        ({"metadata": {"name": "x"}}, 422),
        ({"metadata": {"namespace": "x"}}, 400),
        ({"metadata": {"uid": "x"}}, 409),
        ({"spec": {"boundObjectRef": {"kind": "Job", "apiVersion": "batch/v1"}}}, 400),
        ({"spec": {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "x"}}}, 404),
    ],
    ids=["too short", "too long", "name", "namespace", "uid", "kind", "missing"],
)
def test_a_token_that_cannot_be_is_refused(
    gated: Gated, body: dict[str, Any], expected: int
) -> None:
    assert gated.send("POST", f"{ACCOUNTS}/sa/token", body).status == expected


def test_accounts_have_tokens_where_nobody_needs_one() -> None:
    gated = Gated(Mode.ALWAYS_ALLOW)
    gated.ask("POST", ACCOUNTS, {"metadata": {"name": "sa"}})

    assert status(gated, token=token(gated)) == 201
