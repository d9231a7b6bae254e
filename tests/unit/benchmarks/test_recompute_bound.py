"""The bound that is found again, on inputs small enough to work out by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import recompute_bound

ZONES = "topology.kubernetes.io/zone"


def pod(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu, "memory": "1Gi"}}
    return {
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"resources": resources}], **spec},
    }


def pool(name: str = "default", **spec: Any) -> dict[str, Any]:
    return {
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": {"spec": {"requirements": [], **spec}}},
    }


def kind(name: str, cpu: int, prices: dict[str, float]) -> dict[str, Any]:
    return {
        "name": name,
        "labels": {"kubernetes.io/arch": ["amd64"], ZONES: sorted(prices)},
        "capacity": {"cpu": str(cpu), "memory": "64Gi", "pods": "100"},
        "overhead": {},
        "offerings": [
            {"zone": zone, "capacityType": "on-demand", "pricePerHour": price}
            for zone, price in prices.items()
        ],
    }


SMALL, LARGE = kind("small", 2, {"a": 1.0, "b": 0.8}), kind("large", 8, {"a": 2.0})
IN_ZONE = {"nodeSelector": {ZONES: "b"}}
TOLERATES = {"tolerations": [{"key": "dedicated", "operator": "Exists"}]}
TAINT = {"key": "dedicated", "value": "x", "effect": "NoSchedule"}
DAEMON: dict[str, Any] = {
    "kind": "DaemonSet",
    "spec": {
        "template": {
            "spec": {
                "tolerations": [{"operator": "Exists"}],
                "containers": [{"resources": {"requests": {"cpu": "4"}}}],
            }
        }
    },
}


@pytest.mark.parametrize(
    ("objects", "bound"),
    [
        pytest.param([pool(), pod("p", "2")], 0.5, id="a quarter of the large node"),
        pytest.param([pool(), pod("p", "2", **IN_ZONE)], 0.8, id="only small ones in the zone"),
        pytest.param([pool(), DAEMON, pod("p", "2")], 1.0, id="daemons take half of a node"),
        pytest.param(
            [pool(), pod("p", "2"), pod("q", "1500m", **IN_ZONE)], 1.1, id="two classes together"
        ),
        pytest.param(
            [pool(), pool("b", taints=[TAINT]), pod("p", "2", **TOLERATES)], 0.5, id="two pools"
        ),
    ],
)
def test_the_bound_is_that_of_pods_cut_up_over_nodes(
    objects: list[dict[str, Any]], bound: float
) -> None:
    classes = recompute_bound.pod_classes(objects)
    kinds = recompute_bound.node_kinds(objects, [SMALL, LARGE])

    assert recompute_bound.fluid_bound(classes, kinds) == pytest.approx(bound)


def test_requests_rounded_down_to_few_values_never_grow() -> None:
    objects = [pool(), *(pod(f"p{n}", f"{1000 + n}m") for n in range(2000))]
    classes = recompute_bound.pod_classes(objects)

    assert len(classes) <= recompute_bound.MOST_CLASSES
    assert sum(classes.values()) == 2000
    assert sum(dict(asked)["cpu"] * n for (asked, _), n in classes.items()) <= sum(
        recompute_bound.quantity(f"{1000 + n}m") for n in range(2000)
    )


def test_one_line_is_printed_and_nothing_else(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = {"objects": [pool(), pod("p", "2")], "instanceTypes": [LARGE]}
    (tmp_path / "input.json").write_text(json.dumps(given))
    (tmp_path / "bound.json").write_text('{"lowerBoundPerHour": 0.5, "costPerHour": 2.0}')

    recompute_bound.main(str(tmp_path))

    assert json.loads(capfd.readouterr().out) == {
        "recomputed_lower_bound_per_hour": 0.5,
        "told_lower_bound_per_hour": 0.5,
        "cost_per_hour": 2.0,
        "over_recomputed_percent": 300.0,
    }
