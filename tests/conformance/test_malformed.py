"""Requests that make no sense: a Status that says what is wrong, and a server that goes on."""

import gzip

import pytest

from tests.conformance.cluster import Answer, Cluster
from tests.conformance.objects import a_config_map, a_pod


@pytest.fixture
def maps(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps"


def is_status(answer: Answer, code: int, reason: str) -> bool:
    body = answer.body
    return (answer.status, body["kind"], body["status"], body["code"], body["reason"]) == (
        code,
        "Status",
        "Failure",
        code,
        reason,
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("", id="nothing"),
        pytest.param("{", id="half an object"),
        pytest.param("nonsense", id="a word"),
        pytest.param('{"apiVersion":"v1","kind":"ConfigMap"', id="no end"),
        pytest.param(b"\xff\xfe\x00", id="bytes"),
        pytest.param('{"apiVersion":"v2","kind":"ConfigMap"}', id="another version"),
        pytest.param('{"apiVersion":"v1","kind":"Pod"}', id="another kind"),
        pytest.param('{"apiVersion":5,"kind":"ConfigMap"}', id="a number for a version"),
        pytest.param('{"metadata":[]}', id="a list for metadata"),
        pytest.param('{"data":{"a":1}}', id="a number for text"),
    ],
)
def test_a_body_that_is_no_object_of_the_kind_is_a_bad_request(
    cluster: Cluster, maps: str, body: str | bytes
) -> None:
    answer = cluster.post(maps, body)

    assert is_status(answer, 400, "BadRequest"), answer


def test_a_deep_body_is_refused_or_stored_but_breaks_nothing(cluster: Cluster, maps: str) -> None:
    deep = '{"a":' * 20_000 + "1" + "}" * 20_000
    answer = cluster.post(maps, '{"metadata":{"name":"m"},"data":' + deep + "}")

    assert answer.status == 400
    assert cluster.get(maps).status == 200


@pytest.mark.parametrize(
    ("media_type", "status"),
    [("application/xml", 415), ("text/plain", 415), ("nonsense", 415)],
)
def test_another_media_type_is_not_taken(
    cluster: Cluster, maps: str, media_type: str, status: int
) -> None:
    answer = cluster.send("POST", maps, "{}", headers={"Content-Type": media_type})

    assert is_status(answer, status, "UnsupportedMediaType")


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "application/json;as=Pod"])
def test_what_cannot_be_rendered_is_not_acceptable(
    cluster: Cluster, maps: str, accept: str
) -> None:
    answer = cluster.send("GET", maps, headers={"Accept": accept})

    assert answer.status == 406


@pytest.mark.parametrize(
    ("method", "tail"),
    [
        ("PATCH", ""),
        ("PUT", ""),
        ("POST", "/m"),
        ("HEAD", "/m"),
        ("OPTIONS", "/m"),
        pytest.param(
            "BREW", "/m", marks=pytest.mark.differs("What is no HTTP is answered by aiohttp")
        ),
    ],
)
def test_another_method_is_not_allowed(cluster: Cluster, maps: str, method: str, tail: str) -> None:
    body: object = {} if method in ("PATCH", "PUT", "POST") else None
    answer = cluster.send(method, maps + tail, body)

    assert answer.status == 405


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_writing_without_a_namespace_is_not_allowed(cluster: Cluster, method: str) -> None:
    answer = cluster.send(method, "/api/v1/pods", a_pod() if method != "DELETE" else None)

    assert is_status(answer, 405, "MethodNotAllowed")


@pytest.mark.parametrize(
    "query",
    [
        {"dryRun": "Some"},
        {"fieldValidation": "Loose"},
        {"fieldManager": "x" * 200},
    ],
    ids=["dryRun", "fieldValidation", "fieldManager"],
)
def test_a_wrong_option_creates_nothing(cluster: Cluster, maps: str, query: dict[str, str]) -> None:
    answer = cluster.post(maps, a_config_map(), **query)

    assert is_status(answer, 422, "Invalid")
    assert cluster.get(f"{maps}/m").status == 404


def test_a_body_beyond_three_megabytes_is_too_large(cluster: Cluster, maps: str) -> None:
    answer = cluster.post(maps, a_config_map(a="x" * (3 * 1024 * 1024)))

    assert is_status(answer, 413, "RequestEntityTooLarge")


def test_a_packed_body_is_read(cluster: Cluster, maps: str) -> None:
    packed = gzip.compress(b'{"metadata":{"name":"m"}}')
    answer = cluster.send("POST", maps, packed, headers={"Content-Encoding": "gzip"})

    assert answer.status in (201, 400)
    assert cluster.get(maps).status == 200


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(b"nonsense\r\n\r\n", id="no request"),
        pytest.param(b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", id="no such HTTP"),
        pytest.param(b"GET /api HTTP/1.1\r\n\r\n", id="no host"),
        pytest.param(
            b"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\n%AUTH%"
            b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            id="no chunk",
        ),
        pytest.param(
            b"GET /api HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", id="negative length"
        ),
    ],
)
def test_what_is_no_http_ends_the_connection_only(cluster: Cluster, request_: bytes) -> None:
    answered = cluster.raw(request_)

    assert not answered or answered.startswith((b"HTTP/1.0 4", b"HTTP/1.1 4", b"HTTP/1.1 5"))
    assert cluster.get("/readyz").body == "ok"
