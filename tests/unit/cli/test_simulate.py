"""`joiner simulate`: what is asked for on the command line is what the answer is about."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.command import CLASS, POD, POOL, joiner, with_members, written
from tests.unit.cli.simulating import (
    CLAIM,
    CLUSTER,
    MANAGED,
    RUNNING,
    bought,
    refused,
    simulated,
    types_file,
)


def test_a_node_that_is_taken_away_is_replaced(tmp_path: Path) -> None:
    answer = simulated(tmp_path, "--remove-node", "n1")

    assert answer["scenario"] == "--remove-node n1"
    assert bought(answer) == ["small/a/spot"]
    diff = answer["diff"]
    assert diff["removedNodes"] == ["n1"]
    assert diff["moves"] == [{"podUids": ["web-uid"], "fromNode": "n1", "planned": 0}]
    assert diff["costBeforeNanosPerHour"] == "500000000"
    assert diff["costAfterNanosPerHour"] == "250000000"
    assert answer["costDeltaNanosPerHour"] == "-250000000"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param(["--without-zone", "a"], ["small/b/spot"], id="a zone is gone"),
        pytest.param(
            ["--without-capacity-type", "spot", "--remove-node", "n1"],
            ["small/a/on-demand"],
            id="spot is gone",
        ),
        pytest.param(
            ["--price", "zone=a:+10%", "--remove-node", "n1"], ["small/b/spot"], id="a is dearer"
        ),
        pytest.param(
            ["--price", "capacity-type=spot,type=small:+200%", "--remove-node", "n1"],
            ["small/a/on-demand"],
            id="spot is dearer",
        ),
        pytest.param(["--scale", "shop/web=5"], ["small/a/spot"], id="five replicas"),
        pytest.param(
            ["--scale", "shop/deployment/web=5"], ["small/a/spot"], id="of the Deployment"
        ),
        pytest.param(["--scale", "shop/rs/web-5d9c8b7f6=2"], [], id="two of the ReplicaSet"),
        pytest.param(
            ["--scale", "shop/web=5", "--add-node", "pool=small/b/on-demand"],
            [],
            id="a node is added",
        ),
        pytest.param(
            ["--cordon-node", "n1", "--scale", "shop/web=2"], ["small/a/spot"], id="cordoned"
        ),
        pytest.param(["--remove-workload", "shop/web", "--remove-node", "n1"], [], id="nothing"),
    ],
)
def test_what_is_bought_is_what_the_change_asks_for(
    tmp_path: Path, flags: list[str], expected: list[str]
) -> None:
    assert bought(simulated(tmp_path, *flags)) == expected


def test_a_type_or_a_pool_that_is_gone_leaves_pods_without_a_place(tmp_path: Path) -> None:
    for flags in (["--without-instance-type", "small"], ["--remove-pool", "pool"]):
        answer = simulated(tmp_path, *flags, code=3)
        assert answer["diff"]["strandedPods"] == ["web-uid"]
        assert answer["diff"]["removedNodes"] == ["n1"]
        assert answer["costDeltaNanosPerHour"] == "-500000000"


@pytest.mark.parametrize("name", ["shop/batch", "shop/deployment/batch"])
def test_a_workload_that_sleeps_is_woken(tmp_path: Path, name: str) -> None:
    sleeping = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "batch", "namespace": "shop"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "batch"}},
            "template": {"metadata": {"labels": {"app": "batch"}}, "spec": POD["spec"]},
        },
    }
    more = written(tmp_path, sleeping, name="more.json")

    answer = simulated(tmp_path, "--add", more, "--scale", f"{name}=2")

    assert [one["name"] for one in answer["diff"]["addedPods"]] == ["batch-0", "batch-1"]
    assert answer["response"]["pods"]["onExisting"] == "2"


@pytest.mark.parametrize(
    ("flags", "once"),
    [
        pytest.param(
            ["--scale", "shop/web=0", "--scale", "shop/web=3"],
            ["--scale", "shop/web=3"],
            id="scale",
        ),
        pytest.param(
            ["--scale", "shop/deployment/web=9", "--scale", "shop/web=1"],
            ["--scale", "shop/web=1"],
            id="by its kind",
        ),
        pytest.param(
            ["--remove-node", "n1", "--remove-node", "n1"], ["--remove-node", "n1"], id="node"
        ),
        pytest.param(
            ["--remove-node", "n1", "--cordon-node", "n1"],
            ["--remove-node", "n1"],
            id="gone and cordoned",
        ),
        pytest.param(
            ["--remove-pool", "pool", "--remove-pool", "pool"], ["--remove-pool", "pool"], id="pool"
        ),
    ],
)
def test_what_is_said_twice_of_one_thing_happens_once(
    tmp_path: Path, flags: list[str], once: list[str]
) -> None:
    code = 3 if "--remove-pool" in flags else 0

    answer = simulated(tmp_path, *flags, code=code)

    expected = simulated(tmp_path, *once, code=code)
    assert answer | {"scenario": ""} == expected | {"scenario": ""}


def test_prices_that_change_twice_compound(tmp_path: Path) -> None:
    answer = simulated(tmp_path, "--price", "+10%", "--price", "+10%")

    assert answer["diff"]["costAfterNanosPerHour"] == str(500_000_000 * 121 // 100)


def test_what_ifs_are_refined_when_asked(tmp_path: Path) -> None:
    answer = simulated(tmp_path, "--scale", "shop/web=9", "--refine-iterations", "5", "--seed", "1")

    assert answer["response"]["options"]["refineIterations"] == "5"
    assert "--refine-budget" in refused(
        tmp_path, "--scale", "shop/web=9", "--refine-budget", "long"
    )


def test_objects_of_files_are_added(tmp_path: Path) -> None:
    more = written(
        tmp_path, with_members(POD, metadata__name="more", metadata__uid="more"), name="more.json"
    )

    answer = simulated(tmp_path, "--add", more)

    assert answer["diff"]["addedPods"] == [{"uid": "more", "namespace": "shop", "name": "more"}]
    assert answer["response"]["pods"]["onExisting"] == "1"


def test_a_pool_of_a_file_replaces_the_one_of_its_name(tmp_path: Path) -> None:
    requirement = {
        "key": "topology.kubernetes.io/zone",
        "operator": "In",
        "values": ["b"],
    }
    only_b = written(
        tmp_path,
        with_members(POOL, spec__template__spec__requirements=[requirement]),
        name="pool.json",
    )

    answer = simulated(tmp_path, "--pool-file", only_b, "--remove-node", "n1")

    assert bought(answer) == ["small/b/spot"]


def test_a_pool_with_a_class_of_its_own_sells_what_all_sell(tmp_path: Path) -> None:
    other = with_members(POOL, metadata__name="other", spec__weight=9)
    other["spec"]["template"]["spec"]["nodeClassRef"] = {**CLASS, "name": "other"}
    file = written(tmp_path, other, name="pool.json")

    answer = simulated(tmp_path, "--pool-file", file, "--remove-node", "n1")

    (claim,) = answer["response"]["plan"]["nodeclaims"]
    assert claim["nodepool"] == "other"


def test_an_overlay_of_a_file_counts_with_its_gate(tmp_path: Path) -> None:
    overlay = {
        "apiVersion": "karpenter.sh/v1alpha1",
        "kind": "NodeOverlay",
        "metadata": {"name": "discount"},
        "spec": {
            "requirements": [
                {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"]}
            ],
            "price": "0.1",
        },
    }
    file = written(tmp_path, overlay, name="overlay.json")
    flags = ["--overlay-file", file, "--remove-node", "n1"]

    answer = simulated(tmp_path, *flags, "--feature-gates", "NodeOverlay=true")

    assert answer["response"]["cost"]["newNanosPerHour"] == "100000000"
    assert "add --feature-gates NodeOverlay=true" in refused(tmp_path, *flags)


def test_a_file_has_many_what_ifs(tmp_path: Path) -> None:
    more = written(
        tmp_path, with_members(POD, metadata__name="m", metadata__uid="m"), name="m.json"
    )
    scenarios = tmp_path / "scenarios.yaml"
    scenarios.write_text(
        "scenarios:\n"
        "  - {name: drained, removeNodes: [n1]}\n"
        "  - {removeNodes: n1, withoutZones: [a]}\n"
        f"  - {{name: more, add: {more.name}, scale: {{shop/web: 2}}}}\n"
    )

    done = joiner(
        "simulate",
        "-f",
        written(tmp_path, *CLUSTER),
        "--catalogue",
        types_file(tmp_path),
        "--scenario-file",
        scenarios,
        "--cordon-node",
        "n1",
        "--format",
        "json",
    )

    assert done.code == 0, done.err
    document = json.loads(done.out)
    answers = document["scenarios"]
    assert document["asItIs"]["scenario"] == "as it is"
    assert [one["scenario"] for one in answers] == [
        "--cordon-node n1",
        "drained",
        "scenarios[1]",
        "more",
    ]
    assert [one["position"] for one in answers] == [1, 2, 3, 4]
    assert bought(answers[2]) == ["small/b/spot"]
    assert len(answers[3]["diff"]["addedPods"]) == 2


def test_a_node_without_a_claim_costs_what_its_labels_name(tmp_path: Path) -> None:
    strange = with_members(MANAGED, metadata={"name": "n2", "labels": {}})
    files = written(tmp_path, RUNNING, MANAGED, strange, POOL)

    done = joiner(
        "simulate",
        "-f",
        files,
        "--catalogue",
        types_file(tmp_path),
        "--cordon-node=n1",
        "--format=json",
    )

    (answer,) = json.loads(done.out)["scenarios"]
    assert answer["diff"]["costBeforeNanosPerHour"] == "500000000"
    assert answer["response"]["cost"]["existingNanosPerHour"] == "500000000"
    assert "note: 1 node without a known price, by type, zone, capacity type and NodePool: n2" in (
        done.err.splitlines()
    )


@pytest.mark.parametrize(
    ("annotations", "stranded"),
    [
        pytest.param({}, ["web-uid"], id="not yet bound"),
        pytest.param({"pv.kubernetes.io/bind-completed": "yes"}, [], id="bound"),
    ],
)
def test_a_pod_moves_only_if_its_volume_lets_it_be_placed(
    tmp_path: Path, annotations: dict[str, str], stranded: list[str]
) -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "shop", "annotations": annotations},
        "spec": {
            "volumeName": "pv",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Bound"},
    }
    pv = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv"},
        "spec": {"csi": {"driver": "disks", "volumeHandle": "pv"}},
    }
    running = with_members(RUNNING, spec__volumes=[volume])
    files = written(tmp_path, running, MANAGED, CLAIM, POOL, claim, pv)

    flags = ["--catalogue", types_file(tmp_path), "--remove-node", "n1", "--format", "json"]
    done = joiner("simulate", "-f", files, *flags)

    (answer,) = json.loads(done.out)["scenarios"]
    assert answer["diff"]["strandedPods"] == stranded
    assert ('persistentvolumeclaim "shop/data" is not yet bound' in done.err) == bool(stranded)
    assert done.code == (3 if stranded else 0)
