"""The drift hash equals the one that the Go library computes."""

from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.domain.hashing import nodepool_hash

CLASS = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
TAINT = {"key": "key", "effect": "NoExecute"}
A, C = {"key": "a", "value": "b", "effect": "NoSchedule"}, {"key": "c", "effect": "NoExecute"}


def hashed(metadata: dict[str, Any] | None = None, **spec: Any) -> str:
    return nodepool_hash({"metadata": metadata, "spec": {"nodeClassRef": CLASS} | spec})


@pytest.mark.parametrize(
    ("metadata", "spec", "expected"),
    [
        pytest.param({}, {"expireAfter": "720h"}, "12745407319442031341", id="expiry only"),
        pytest.param({}, {"expireAfter": "Never"}, "7428780003907761376", id="never expires"),
        pytest.param(
            {
                "labels": {"keyLabel": "valueLabel"},
                "annotations": {
                    "keyAnnotation": "valueAnnotation",
                    "keyAnnotation2": "valueAnnotation2",
                },
            },
            {
                "taints": [TAINT],
                "startupTaints": [TAINT],
                "terminationGracePeriod": "5m",
                "expireAfter": "5m",
            },
            "17066057431569812298",
            id="everything",
        ),
        pytest.param(
            {}, {"expireAfter": "720h", "taints": [A, C]}, "10993805213601510592", id="two taints"
        ),
        pytest.param(
            {}, {"expireAfter": "720h", "taints": []}, "845502862369909111", id="empty taints"
        ),
        pytest.param(
            {},
            {"expireAfter": "0s", "terminationGracePeriod": "0s"},
            "11201156090959835969",
            id="zero durations",
        ),
        pytest.param(
            {"labels": {}}, {"expireAfter": "720h"}, "5327702334917744615", id="empty labels"
        ),
    ],
)
def test_the_hash_is_that_of_the_go_library(
    metadata: dict[str, Any], spec: dict[str, Any], expected: str
) -> None:
    assert hashed(metadata, **spec) == expected


def test_order_and_spelling_of_durations_do_not_count() -> None:
    assert hashed(taints=[A, C]) == hashed(taints=[C, A])
    assert hashed(expireAfter="60m") == hashed(expireAfter="1h")
    assert hashed(requirements=[{"key": "x", "operator": "Exists"}]) == hashed()


def test_empty_texts_and_nulls_are_not_there() -> None:
    assert hashed(taints=[{**C, "value": ""}]) == hashed(taints=[C])
    assert hashed({"labels": None}, taints=None, expireAfter=None) == hashed()
    assert nodepool_hash({}) == nodepool_hash({"metadata": None, "spec": None})


def test_the_time_of_a_taint_counts_as_an_instant() -> None:
    early = hashed(taints=[{**C, "timeAdded": "2026-01-01T00:00:00Z"}])

    assert early == hashed(taints=[{**C, "timeAdded": "2026-01-01T01:00:00+01:00"}])
    assert early != hashed(taints=[{**C, "timeAdded": "2026-01-01T00:00:01Z"}])
    assert early != hashed(taints=[C])


@pytest.mark.parametrize(
    "spec", [{"expireAfter": "soon"}, {"taints": [{**C, "timeAdded": "yesterday"}]}]
)
def test_what_does_not_parse_is_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        hashed(**spec)
