"""Requests as clients send them, well formed and not: always a Status, never a crash."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.services.simulator.cluster import Cluster, a_config_map, a_pod

PODS = "/api/v1/namespaces/default/pods"
MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        pytest.param("POST", PODS, b"", 400, id="no body"),
        pytest.param("POST", PODS, b"{", 400, id="cut off JSON"),
        pytest.param("POST", PODS, b"\xff\xfe", 400, id="no text"),
        pytest.param("POST", PODS, b"[" * 100_000, 400, id="nested beyond measure"),
        pytest.param("POST", PODS, [], 400, id="a list"),
        pytest.param("POST", PODS, "pod", 400, id="a string"),
        pytest.param("POST", PODS, {"metadata": []}, 400, id="metadata is a list"),
        pytest.param("POST", PODS, {"metadata": {"name": "a"}, "spec": None}, 422, id="no spec"),
        pytest.param("PUT", f"{MAPS}/a", {"metadata": {"name": "a"}}, 404, id="nothing to update"),
        pytest.param("PATCH", f"{MAPS}/a", {}, 404, id="nothing to patch"),
        pytest.param("DELETE", f"{MAPS}/a", b"[]", 400, id="options are a list"),
        pytest.param("GET", "/api/v1/nosuch", None, 404, id="no such resource"),
        pytest.param("GET", "/api/v2", None, 404, id="no such version"),
        pytest.param("POST", f"{PODS}/a/binding", b"null", 500, id="binding is null"),
        pytest.param("POST", f"{PODS}/a/eviction", b"1", 400, id="eviction is a number"),
        pytest.param("POST", f"{PODS}/a", {}, 405, id="POST to an object"),
    ],
)
def test_a_malformed_request_gets_a_status(method: str, path: str, body: Any, code: int) -> None:
    cluster = Cluster()
    answer = cluster.send(method, path, body)

    assert answer.status == code
    if answer.content_type == "application/json":
        assert json.loads(answer.body)["code"] == code


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
_PLACES = st.sampled_from(
    [
        ("metadata",),
        ("metadata", "name"),
        ("metadata", "labels"),
        ("metadata", "ownerReferences"),
        ("metadata", "finalizers"),
        ("spec",),
        ("spec", "containers"),
        ("spec", "affinity"),
        ("spec", "tolerations"),
        ("spec", "topologySpreadConstraints"),
        ("spec", "volumes"),
        ("spec", "nodeSelector"),
        ("spec", "overhead"),
        ("spec", "resources"),
        ("status",),
    ]
)


@settings(max_examples=150)
@given(place=_PLACES, value=_VALUES)
def test_any_value_anywhere_in_a_pod_is_accepted_or_refused(
    place: tuple[str, ...], value: Any
) -> None:
    pod: dict[str, Any] = a_pod("p")
    target = pod
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value

    answer = Cluster().send("POST", PODS, pod)

    assert answer.status in (201, 400, 422)


def test_pages_are_one_snapshot() -> None:
    cluster = Cluster()
    for name in "abcde":
        cluster.server.direct.create("configmaps", a_config_map(name))
    first = json.loads(cluster.send("GET", MAPS, limit="2").body)
    cluster.server.direct.delete("configmaps", "d", "default")
    rest = json.loads(cluster.send("GET", MAPS, **{"continue": first["metadata"]["continue"]}).body)

    assert first["metadata"]["remainingItemCount"] == 3
    assert [item["metadata"]["name"] for item in rest["items"]] == ["c", "d", "e"]


def test_a_table_shows_what_kubectl_shows() -> None:
    cluster = Cluster()
    cluster.server.direct.create("pods", a_pod("p", nodeName="n1"))
    cluster.wait(90)
    table = json.loads(
        cluster.send("GET", PODS, accept="application/json;as=Table;v=v1;g=meta.k8s.io").body
    )

    assert table["rows"][0]["cells"][:5] == ["p", "0/1", "Pending", "0", "90s"]


@pytest.mark.parametrize(
    "path", ["/version", "/api", "/apis", "/api/v1", "/apis/apps/v1", "/openapi/v2"]
)
def test_discovery_answers(path: str) -> None:
    assert Cluster().send("GET", path).status == 200
