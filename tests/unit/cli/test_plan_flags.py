"""How `joiner plan` is told to decide."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.command import POD, POOL, joiner, with_members, written

DEMANDING_POOL = with_members(
    POOL,
    spec__template__spec__requirements=[
        {"key": "topology.kubernetes.io/zone", "operator": "Exists", "minValues": 50}
    ],
)
PREFERRING_POD = with_members(
    POD,
    spec__affinity={
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 1,
                    "preference": {
                        "matchExpressions": [
                            {
                                "key": "topology.kubernetes.io/zone",
                                "operator": "In",
                                "values": ["test-zone-d"],
                            }
                        ]
                    },
                }
            ]
        }
    },
)
BUFFER: dict[str, Any] = {
    "apiVersion": "autoscaling.x-k8s.io/v1beta1",
    "kind": "CapacityBuffer",
    "metadata": {"name": "spare", "namespace": "shop", "uid": "spare-uid"},
    "spec": {"podTemplateRef": {"name": "web"}, "replicas": 2},
}
TEMPLATE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PodTemplate",
    "metadata": {"name": "web", "namespace": "shop"},
    "template": {"spec": POD["spec"]},
}


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        pytest.param([], 3, id="as by default"),
        pytest.param(["--min-values-policy", "Strict"], 3, id="strict"),
        pytest.param(["--min-values-policy", "BestEffort"], 0, id="best effort"),
        pytest.param(["--min-values-policy", "besteffort"], 0, id="any case"),
    ],
)
def test_min_values_out_of_reach_refuse_a_pod_unless_told_otherwise(
    tmp_path: Path, flags: list[str], code: int
) -> None:
    cluster = written(tmp_path, POD, DEMANDING_POOL)

    assert joiner("plan", "-f", cluster, *flags).code == code


@pytest.mark.parametrize(
    ("flags", "zone"),
    [
        pytest.param([], "test-zone-d", id="as by default"),
        pytest.param(["--preference-policy", "Respect"], "test-zone-d", id="respect"),
        pytest.param(["--preference-policy", "Ignore"], "test-zone-a", id="ignore"),
        pytest.param(["--preference-policy", "IGNORE"], "test-zone-a", id="any case"),
    ],
)
def test_preferences_count_unless_told_otherwise(
    tmp_path: Path, flags: list[str], zone: str
) -> None:
    cluster = written(tmp_path, PREFERRING_POD)

    done = joiner("plan", "-f", cluster, "--format", "json", *flags)

    (claim,) = json.loads(done.out)["plan"]["nodeclaims"]
    assert claim["cheapest"]["zone"] == zone


def test_a_gate_has_buffers_count(tmp_path: Path) -> None:
    cluster = written(tmp_path, BUFFER, TEMPLATE)

    done = joiner(
        "plan", "-f", cluster, "--format", "json", "--feature-gates", "CapacityBuffer=true"
    )

    document = json.loads(done.out)
    assert done.code == 0
    assert len(document["plan"]["nodeclaims"]) == 1
    assert document["options"]["featureGates"] == {"CapacityBuffer": True}
    assert "not looked at" not in done.err


def test_room_of_a_buffer_is_told_apart_from_pods(tmp_path: Path) -> None:
    cluster = written(tmp_path, BUFFER, TEMPLATE, POD)

    done = joiner("plan", "-f", cluster, "--feature-gates", "CapacityBuffer=true")

    (row,) = [line.split() for line in done.out.splitlines() if "default" in line]
    assert row[0:2] == ["1", "default"]
    assert row[5] == "1"
    assert 'CapacityBuffer "shop/spare": 2 on new nodes' in done.out


def test_pods_are_spread_as_the_scheduler_config_says(tmp_path: Path) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": POD["spec"]}
    selector = {"matchLabels": {"app": "web"}}
    workload = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "shop", "uid": "web"},
        "spec": {"replicas": 2, "selector": selector, "template": template},
    }
    config = tmp_path / "config.yaml"
    config.write_text(
        "podTopologySpread:\n  defaultConstraints:\n"
        "  - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone,"
        " whenUnsatisfiable: DoNotSchedule}\n"
    )
    cluster = written(tmp_path, workload)

    done = joiner("plan", "-f", cluster, "--format", "json", "--scheduler-config", config)

    claims = json.loads(done.out)["plan"]["nodeclaims"]
    assert len({claim["cheapest"]["zone"] for claim in claims}) == 2


def test_a_scheduler_config_that_makes_no_sense_is_refused_by_its_field(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("podTopologySpread: {defaultConstraints: [{maxSkew: 0}]}")

    done = joiner("plan", "-f", written(tmp_path, POD), "--scheduler-config", config)

    assert done.code == 2
    assert "podTopologySpread.defaultConstraints[0]" in done.err


def test_what_a_closed_gate_hides_is_told(tmp_path: Path) -> None:
    cluster = written(tmp_path, BUFFER, TEMPLATE)

    done = joiner("plan", "-f", cluster)

    assert "no pod waits for a node" in done.out
    assert "1 CapacityBuffer; --feature-gates CapacityBuffer=true has them count" in done.err


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        pytest.param([], True, id="closed, as by default"),
        pytest.param(["--feature-gates", "DynamicResources=true"], False, id="open"),
    ],
)
def test_pods_with_claims_of_devices_are_told_of_while_nobody_plans_for_them(
    tmp_path: Path, flags: list[str], told: bool
) -> None:
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "card", "namespace": "shop", "uid": "card-uid"},
        "spec": {"devices": {"requests": [{"name": "one", "exactly": {"deviceClassName": "gpu"}}]}},
    }
    pod = with_members(POD, spec__resourceClaims=[{"name": "card", "resourceClaimName": "card"}])

    done = joiner("plan", "-f", written(tmp_path, pod, claim), *flags)

    note = (
        "note: not planned for: 1 pod with claims of devices; "
        "--feature-gates DynamicResources=true has them count"
    )
    assert (note in done.err) is told


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        pytest.param(
            ["--feature-gates", "Nope=true"],
            "--feature-gates: there is no gate 'Nope'; there are CapacityBuffer, ",
            id="unknown gate",
        ),
        pytest.param(
            ["--feature-gates", "NodeOverlay=perhaps"],
            "--feature-gates: 'NodeOverlay=perhaps' says neither",
            id="bad value of a gate",
        ),
        pytest.param(["--preference-policy", "Some"], "--preference-policy", id="preferences"),
        pytest.param(["--min-values-policy", "Lax"], "--min-values-policy", id="minValues"),
        pytest.param(["--now", "today"], "--now: 'today'", id="now"),
    ],
)
def test_a_flag_that_makes_no_sense_is_refused_by_name(
    tmp_path: Path, flags: list[str], said: str
) -> None:
    done = joiner("plan", "-f", written(tmp_path, POD), *flags)

    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        pytest.param("kubernetes.io/os=linux", False, id="what types say"),
        pytest.param("karpenter.sh/nodepool=default", False, id="what the pool says"),
        pytest.param("", False, id="every node"),
        pytest.param("kubernetes.io/os=linx", True, id="misspelt"),
        pytest.param("team=red", True, id="nobody says"),
    ],
)
def test_a_licence_that_no_node_needs_is_told(tmp_path: Path, labels: str, told: bool) -> None:
    files = written(tmp_path, POD)

    done = joiner("plan", "-f", files, "--objective-licence", f"{labels}:0.5")

    assert ("note: no node that could be bought needs the licence for" in done.err) is told
