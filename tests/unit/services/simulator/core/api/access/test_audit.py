"""What the audit log tells of requests."""

from services.simulator.core.api.access.audit import Level
from tests.unit.services.simulator.core.api.access.gated import PODS, Gated


def test_a_request_is_told_when_it_comes_and_when_it_is_answered() -> None:
    gated = Gated()
    answer = gated.send("GET", PODS, token="jane", query={"limit": "1"})
    came, ended = gated.log

    assert came["stage"] == "RequestReceived"
    assert answer.headers["Audit-Id"] == came["auditID"] == ended["auditID"]
    assert {key: ended[key] for key in ended if key not in ("auditID", "responseStatus")} == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "stage": "ResponseComplete",
        "requestURI": f"{PODS}?limit=1",
        "verb": "list",
        "user": {"username": "jane", "uid": "7", "groups": ["staff", "system:authenticated"]},
        "sourceIPs": ["192.0.2.1"],
        "userAgent": "test/1",
        "objectRef": {"resource": "pods", "namespace": "default", "apiVersion": "v1"},
        "requestReceivedTimestamp": "2030-01-01T00:00:00.000000Z",
        "stageTimestamp": "2030-01-01T00:00:00.000000Z",
        "annotations": {
            "authorization.k8s.io/decision": "forbid",
            "authorization.k8s.io/reason": "",
        },
    }
    assert (ended["responseStatus"]["code"], ended["responseStatus"]["reason"]) == (
        403,
        "Forbidden",
    )


def test_a_watch_is_told_when_it_begins_and_when_it_ends() -> None:
    gated = Gated()
    stream = gated.send("GET", PODS, query={"watch": "1"}).stream
    assert stream is not None
    before = [event["stage"] for event in gated.log]
    stream.close()
    stream.close()

    assert before == ["RequestReceived", "ResponseStarted"]
    assert [event["stage"] for event in gated.log][2:] == ["ResponseComplete"]


def test_a_wrong_token_is_told_of_nobody() -> None:
    gated = Gated()
    gated.send("GET", PODS, token="wrong")

    assert [(event["stage"], event["user"]) for event in gated.log] == [("ResponseStarted", {})]


def test_who_acts_as_another_is_told_with_both() -> None:
    gated = Gated()
    gated.send("GET", PODS, as_=(("impersonate-user", "bob"),))
    ended = gated.log[-1]

    assert (ended["user"]["username"], ended["impersonatedUser"]["username"]) == ("admin", "bob")
    assert ended["authenticationMetadata"] == {"impersonationConstraint": "impersonate:user-info"}


def test_bodies_are_told_where_the_level_says_so() -> None:
    body = {"metadata": {"name": "m"}, "data": {"a": "b"}}
    told = {}
    for level in Level:
        gated = Gated(level=level)
        gated.send("POST", "/api/v1/namespaces/default/configmaps", body)
        told[level] = [name for name in gated.log[-1] if name.endswith("Object")]

    assert told == {
        Level.METADATA: [],
        Level.REQUEST: ["requestObject"],
        Level.REQUEST_RESPONSE: ["requestObject", "responseObject"],
    }


def test_a_new_object_is_named_once_its_body_is_read() -> None:
    gated = Gated()
    gated.send("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "m"}})
    came, ended = gated.log

    assert "name" not in came["objectRef"]
    assert ended["objectRef"]["name"] == "m"


def test_a_log_may_go_on_for_long() -> None:
    gated = Gated()
    gated.send("GET", f"{PODS}/p/log")

    assert [event["stage"] for event in gated.log] == [
        "RequestReceived",
        "ResponseStarted",
        "ResponseComplete",
    ]
