"""Which taints a toleration that compares numbers bears."""

import pytest

from libs.oracle.cluster import cluster_from_lists
from libs.oracle.verdict import judge
from tests.unit.libs.oracle.kube import node, pod


@pytest.mark.parametrize(
    ("operator", "bound", "value", "borne"),
    [
        pytest.param("Lt", "5", "4", True, id="less"),
        pytest.param("Lt", "5", "5", False, id="Lt excludes its bound"),
        pytest.param("Gt", "-2", "-1", True, id="negative numbers"),
        pytest.param("Gt", "-2", "007", False, id="leading zeroes are no number in a taint"),
        pytest.param("Gt", "05", "7", False, id="nor in a toleration"),
        pytest.param("Gt", "1", "+7", False, id="nor is a plus sign"),
        pytest.param("Gt", "1", "", False, id="no value"),
    ],
)
def test_a_comparing_toleration_reads_plain_integers_only(
    operator: str, bound: str, value: str, borne: bool
) -> None:
    tainted = node("n", taints=[{"key": "level", "value": value, "effect": "NoSchedule"}])
    tolerating = pod("p", tolerations=[{"key": "level", "operator": operator, "value": bound}])

    verdict = judge(cluster_from_lists({"nodes": [tainted]}), tolerating)

    assert verdict.schedulable is borne
