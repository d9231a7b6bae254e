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


HEAD = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
YAML = "application/yaml"
JSON = "application/json"


@pytest.mark.parametrize(
    ("body", "media_type", "why"),
    [
        (b"", JSON, "{json}unexpected end of JSON input (<empty>)"),
        (b"{", JSON, "{json}unexpected end of JSON input ({)"),
        (b"[1]", JSON, "{json}json: cannot unmarshal array into Go value of type {head} (5b315d)"),
        (
            b"true",
            JSON,
            "{json}json: cannot unmarshal bool into Go value of type {head} (74727565)",
        ),
        (b'"x"', JSON, "{json}json: cannot unmarshal string into Go value of type {head} (227822)"),
        (
            b'{"kind":1}',
            JSON,
            "{json}json: cannot unmarshal number into Go struct field .kind of type string "
            '({"kind":1})',
        ),
        (b"nul", JSON, "{json}invalid character ' ' in literal null (expecting 'l') (6e756c)"),
        (
            b'{"a":1,}',
            JSON,
            "{json}invalid character '}' looking for beginning of object key string ({\"a\":1,})",
        ),
        (b'{"a" 1}', JSON, "{json}invalid character '1' after object key ({\"a\" 1})"),
        (
            b'{"a":1}{"b":2}',
            JSON,
            '{json}invalid character \'{\' after top-level value ({"a":1}{"b":2})',
        ),
        (
            b"x" * 31,
            JSON,
            "{json}invalid character 'x' looking for beginning of value (" + "78" * 30 + " ...)",
        ),
        (
            b'{"apiVersion":"a/b/c","kind":"ConfigMap"}',
            JSON,
            'unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)',
        ),
        (b"a: [", YAML, "yaml: line 1: did not find expected node content (613a205b)"),
        (
            b"a: b: c",
            YAML,
            "yaml: mapping values are not allowed in this context (613a20623a2063)",
        ),
        (b"a: *y", YAML, "yaml: unknown anchor 'y' referenced (613a202a79)"),
        (
            b"{}",
            "application/vnd.kubernetes.protobuf",
            "provided data does not appear to be a protobuf message, expected prefix "
            "[107 56 115 0] ({})",
        ),
    ],
    ids=str,
)
def test_a_body_that_cannot_be_read_is_quoted(
    cluster: Cluster, maps: str, body: bytes, media_type: str, why: str
) -> None:
    answer = cluster.send("POST", maps, body, headers={"Content-Type": media_type})
    told = why.replace("{json}", "couldn't get version/kind; json parse error: ")

    assert is_status(answer, 400, "BadRequest"), answer
    assert answer.message == (
        "the object provided is unrecognized (must be of type ConfigMap): "
        + told.replace("{head}", HEAD)
    )


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            {"apiVersion": "v2", "kind": "ConfigMap"},
            'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is '
            'registered for version "v2" in scheme "pkg/runtime/scheme.go:111"',
        ),
        (
            {"apiVersion": "apps/v1", "kind": "Deployment"},
            'Deployment in version "v1" cannot be handled as a ConfigMap: converting '
            "(v1.Deployment) to (core.ConfigMap): unknown conversion",
        ),
        (
            {"kind": "PodList"},
            'PodList in version "v1" cannot be handled as a ConfigMap: converting (v1.PodList) to '
            "(core.ConfigMap): unknown conversion",
        ),
    ],
    ids=["version", "kind", "list"],
)
def test_a_body_that_says_it_is_something_else_is_refused(
    cluster: Cluster, maps: str, body: dict[str, str], why: str
) -> None:
    answer = cluster.post(maps, body)

    assert (answer.status, answer.message) == (400, why)


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("GET", "/%2e%2e", 400, "Name parameter invalid: \"..\": may not be '..'"),
        ("GET", "/%2e", 400, "Name parameter invalid: \".\": may not be '.'"),
        ("DELETE", "/a%25b", 400, "Name parameter invalid: \"a%b\": may not contain '%'"),
        ("GET", "/a%2fb", 404, "the server could not find the requested resource"),
        ("GET", "?limit=", 400, 'strconv.ParseInt: parsing "": invalid syntax'),
        ("GET", "?limit=1.5", 400, 'strconv.ParseInt: parsing "1.5": invalid syntax'),
        (
            "GET",
            "?limit=9999999999999999999",
            400,
            'strconv.ParseInt: parsing "9999999999999999999": value out of range',
        ),
    ],
)
def test_an_odd_path_is_refused(
    cluster: Cluster, maps: str, method: str, path: str, status: int, message: str
) -> None:
    answer = cluster.send(method, maps + path)

    assert (answer.status, answer.message) == (status, message)


@pytest.mark.parametrize("path", ["/api/v1/namespaces//configmaps", "/api/v1/configmaps//"])
def test_an_empty_segment_is_no_namespace_and_no_name(cluster: Cluster, path: str) -> None:
    assert cluster.get(path).ok()["kind"] == "ConfigMapList"


@pytest.mark.parametrize(
    ("path", "kind", "what"),
    [("", "PartialObjectMetadata", "a list"), ("/m", "PartialObjectMetadataList", "not a list")],
)
def test_a_conversion_must_fit_what_is_converted(
    cluster: Cluster, maps: str, path: str, kind: str, what: str
) -> None:
    cluster.post(maps, a_config_map()).ok()
    accept = f"application/json;as={kind};v=v1;g=meta.k8s.io"
    answer = cluster.send("GET", maps + path, headers={"Accept": accept})

    assert is_status(answer, 406, "NotAcceptable")
    assert answer.message.startswith(f"you requested {kind}, but the requested object is {what} (")


def test_a_refusal_is_yaml_where_yaml_is_accepted(cluster: Cluster, maps: str) -> None:
    answer = cluster.send("GET", f"{maps}/nope", headers={"Accept": "application/yaml"})

    assert answer.headers["content-type"] == "application/yaml"
    assert answer.body.startswith("apiVersion: v1\ncode: 404\n")


def test_yaml_quotes_what_is_no_text_otherwise(cluster: Cluster, maps: str) -> None:
    body = a_config_map(a="1", b="true", c="x", d="2020-01-01", e="a\nb\n", f="null", g="~", h="")
    cluster.post(maps, {**body, "data": {**body["data"], "i": "a: b", "j": "'x'", "k": "y"}}).ok()
    answer = cluster.send("GET", f"{maps}/m", headers={"Accept": "application/yaml"})
    data = answer.body.partition("data:\n")[2].partition("kind:")[0]

    assert data == (
        '  a: "1"\n  b: "true"\n  c: x\n  d: "2020-01-01"\n  e: |\n    a\n    b\n  f: "null"\n'
        "  g: \"~\"\n  h: \"\"\n  i: 'a: b'\n  j: '''x'''\n  k: \"y\"\n"
    )


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
        ("BREW", "/m"),
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


@pytest.mark.parametrize("size", [10_000, 500_000])
def test_long_selectors_and_headers_are_taken(cluster: Cluster, maps: str, size: int) -> None:
    selector = "a in (" + ",".join(f"v{number}" for number in range(size // 10)) + ")"
    by_line = cluster.get(maps, labelSelector=selector)
    by_header = cluster.send("GET", maps, headers={"X-Long": "x" * size})

    assert (by_line.status, by_header.status) == (200, 200)


@pytest.mark.parametrize(
    ("selector", "why"),
    [
        ("-a", '<nil>: Invalid value: "-a": name part must consist of'),
        ("a in (b,-c)", 'values[0][a]: Invalid value: "-c": a valid label must be'),
        ("a>x", "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an"),
        ("a>5", ""),
    ],
)
def test_a_selector_that_no_label_meets_is_refused(
    cluster: Cluster, maps: str, selector: str, why: str
) -> None:
    answer = cluster.get(maps, labelSelector=selector)

    assert answer.status == (400 if why else 200)
    assert not why or answer.message.startswith(f"unable to parse requirement: {why}")


def test_a_document_of_aliases_is_refused_unread(cluster: Cluster, maps: str) -> None:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    for before, name in zip("abcdefg", "bcdefgh", strict=True):
        lines.append(f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]")
    answer = cluster.send(
        "POST", maps, "\n".join(lines), headers={"Content-Type": "application/yaml"}
    )

    assert answer.status == 400
    assert "document contains excessive aliasing" in answer.message


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
        pytest.param(b"GET /api/%zz HTTP/1.1\r\nHost: x\r\n%AUTH%\r\n", id="no escape"),
    ],
)
def test_what_is_no_http_ends_the_connection_only(cluster: Cluster, request_: bytes) -> None:
    answered = cluster.raw(request_)

    assert not answered or answered.startswith(
        (b"HTTP/1.0 4", b"HTTP/1.1 4", b"HTTP/1.0 5", b"HTTP/1.1 5")
    )
    assert cluster.get("/readyz").body == "ok"
