"""A script is played: what is done when, and what is told of it."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from libs.runtime.virtual import run_virtual
from services.simulator.core.api.messages import Request
from tests.unit.services.simulator.living import a_node, a_workload
from tests.unit.services.simulator.script.playing import Played, playing

Document = dict[str, Any]


def play(then: Callable[[Played], Awaitable[None]], *steps: Document, seed: int = 0) -> list[str]:
    """Play a script beside what a test does; return what was told."""

    async def scenario() -> list[str]:
        async with playing(*steps, seed=seed) as played:
            await then(played)
            return played.told()

    return run_virtual(scenario())


def applied(*objects: Document) -> Document:
    return {"at": 0, "apply": list(objects)}


def web(replicas: int) -> Document:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        **a_workload("web", replicas=replicas),
    }


def a_machine(name: str, zone: str = "a", capacity_type: str = "spot") -> Document:
    labels = {"karpenter.sh/capacity-type": capacity_type}
    return {"apiVersion": "v1", "kind": "Node", **a_node(name, zone, labels=labels)}


def test_objects_are_applied_merged_and_deleted() -> None:
    async def then(played: Played) -> None:
        await played.at(0)
        assert played.api.get("deployments.apps", "web", "default")["spec"]["replicas"] == 2
        await played.at(60)
        changed = played.api.get("deployments.apps", "web", "default")
        assert changed["metadata"]["labels"] == {"tier": "front"}
        assert changed["spec"]["replicas"] == 2
        await played.at(120)
        assert played.api.find("deployments.apps", "web", "default") is None

    label: Document = {"apiVersion": "apps/v1", "kind": "Deployment"}
    label |= {"metadata": {"name": "web", "labels": {"tier": "front"}}}
    told = play(
        then,
        applied(web(2)),
        {"at": "1m", "apply": [label, web(2)]},
        {"at": "2m", "delete": {"kind": "Deployment", "labels": {"tier": "front"}}},
    )

    assert told == [
        "0: apply: Deployment default/web: created",
        "60: apply: Deployment default/web: configured",
        "60: apply: Deployment default/web: unchanged",
        "120: delete: Deployment default/web: deleted",
    ]


def test_a_workload_is_scaled_at_once_over_time_and_by_a_curve() -> None:
    async def then(played: Played) -> None:
        await played.at(200)

    name = {"name": "web"}
    curve = [{"after": 0, "replicas": 4}, {"after": "4s", "replicas": 5}]
    told = play(
        then,
        applied(web(0)),
        {"at": "10s", "scale": {**name, "replicas": 2}},
        {"at": "20s", "scale": {**name, "replicas": 4, "over": "10s"}},
        {"at": "100s", "every": "50s", "until": "150s", "scale": {**name, "curve": curve}},
    )

    assert [line for line in told if "scale" in line] == [
        "10: scale: Deployment default/web: 0 → 2 replicas",
        "25: scale: Deployment default/web: 2 → 3 replicas",
        "30: scale: Deployment default/web: 3 → 4 replicas",
        "104: scale: Deployment default/web: 4 → 5 replicas",
        "150: scale: Deployment default/web: 5 → 4 replicas",
        "154: scale: Deployment default/web: 4 → 5 replicas",
    ]


def test_a_step_is_repeated_up_to_its_end_and_in_the_order_of_the_script() -> None:
    async def then(played: Played) -> None:
        await played.at(90)

    told = play(
        then,
        {"at": "10s", "every": "10s", "until": "30s", "note": "first"},
        {"at": "20s", "every": "20s", "note": "second"},
    )

    assert [line.rpartition(": ")[0] for line in told] == [
        "10: note: steps[0]",
        "20: note: steps[0]",
        "20: note: steps[1]",
        "30: note: steps[0]",
        "40: note: steps[1]",
        "60: note: steps[1]",
        "80: note: steps[1]",
    ]


def test_what_has_no_replicas_is_not_scaled() -> None:
    async def then(played: Played) -> None:
        await played.at(10)

    told = play(then, {"at": 0, "scale": {"kind": "DaemonSet", "name": "a", "replicas": 1}})

    assert told == ["0: scale failed: steps[0]: DaemonSet has no replicas"]


def test_what_cannot_be_done_is_told_and_the_rest_is_done() -> None:
    async def then(played: Played) -> None:
        await played.at(10)
        assert played.api.find("nodes", "n1") is not None

    told = play(
        then,
        {"at": 0, "scale": {"name": "nobody", "replicas": 1}},
        {"at": 0, "delete": {"kind": "Depolyment", "name": "web"}},
        applied(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "empty"}}, a_machine("n1")
        ),
        {"at": "1s", "note": "that was it"},
    )

    assert told == [
        "0: scale failed: steps[0]: Deployment default/nobody is not there",
        '0: delete failed: steps[1]: there is no kind "Depolyment"; perhaps "Deployment"',
        '0: apply failed: Pod empty: Pod "empty" is invalid: spec.containers: Required value',
        "0: apply: Node n1: created",
        "1: note: steps[3]: that was it",
    ]


def test_the_cloud_gives_notice_before_it_takes_nodes_back() -> None:
    async def then(played: Played) -> None:
        await played.at(69)
        (notice,) = played.api.list("events", fields="reason=SpotInterruption")
        assert notice["involvedObject"]["name"] == "spot-a"
        assert len(played.api.list("nodes")) == 3
        await played.at(70)
        names = [node["metadata"]["name"] for node in played.api.list("nodes")]
        assert names == ["firm-a", "spot-b"]
        played.api.create("nodes", a_machine("spot-a"))
        await played.at(75)
        assert readiness(played)["spot-a"] == "True", "another machine of that name"

    told = play(
        then,
        applied(
            a_machine("spot-a"), a_machine("spot-b", "b"), a_machine("firm-a", "a", "on-demand")
        ),
        {"at": "10s", "reclaim": {"nodes": {"zone": "a"}, "notice": "1m"}},
    )

    assert told[3:] == [
        "10: reclaim notice: Node spot-a: the instance is taken back in 60 s",
        "70: reclaimed: Node spot-a: the machine is gone",
    ]


def test_lots_fall_by_the_seed_alone() -> None:
    async def then(played: Played) -> None:
        await played.at(20)

    machines = [a_machine(f"n{number}") for number in range(8)]
    storm = {"at": "10s", "reclaim": {"nodes": {"share": 0.3}, "notice": 0}}

    def taken(seed: int) -> list[str]:
        told = play(then, applied(*machines), storm, seed=seed)
        return [line for line in told if "reclaimed" in line]

    assert len(taken(1)) == 3  # of 8, rounded up
    assert taken(1) == taken(1)
    assert len({tuple(taken(seed)) for seed in range(4)}) > 1


def test_the_weather_changes_and_clears_up() -> None:
    async def then(played: Played) -> None:
        await played.at(15)
        assert played.sky.weather.paused
        await played.at(22)
        assert played.sky.weather.paused, "two pauses overlap"
        await played.at(30)
        assert not played.sky.weather.paused
        (failure,) = played.sky.weather.failures
        assert (failure.code, failure.retry_after) == (429, 3)
        await played.at(60)
        assert played.sky.weather.failures == ()

    told = play(
        then,
        {"at": "10s", "lasts": "10s", "pause": True},
        {"at": "15s", "lasts": "10s", "pause": True},
        {
            "at": "20s",
            "until": "50s",
            "throttle": {"retryAfter": "3s", "requests": {"verbs": ["list"], "share": 0.5}},
        },
    )

    assert told == [
        "10: api pauses: : ",
        "15: api pauses: : ",
        "20: api answers again: : ",
        "20: api fails: : 429 for 50% of list",
        "25: api answers again: : ",
        "50: api fails no more: : 429 for 50% of list",
    ]


def test_while_the_api_pauses_the_cluster_stands_still() -> None:
    async def then(played: Played) -> None:
        await played.at(15)
        assert [pod["status"]["phase"] for pod in played.api.list("pods")] == ["Running"] * 2
        await played.at(59)
        assert len(played.api.list("pods")) == 2
        await played.at(65)
        assert len(played.api.list("pods")) == 4

    play(
        then,
        applied(a_machine("n1"), web(2)),
        {"at": "20s", "until": "1m", "pause": True},
        {"at": "30s", "scale": {"name": "web", "replicas": 4}},
    )


def test_nodes_boot_late_or_never_and_keep_their_fate() -> None:
    async def then(played: Played) -> None:
        await played.at(100)
        assert readiness(played) == {"before": "True", "late": "False", "never": "False"}
        await played.at(135)
        assert readiness(played)["late"] == "True"
        await played.at(600)
        assert readiness(played) == {
            "before": "True",
            "late": "True",
            "never": "False",
            "after": "True",
        }

    play(
        then,
        applied(a_machine("before")),
        {"at": "20s", "until": "1m", "boot": {"takes": "100s", "nodes": {"names": ["late"]}}},
        {"at": "20s", "until": "1m", "boot": {"never": True, "nodes": {"zone": "b"}}},
        {"at": "30s", "apply": [a_machine("late"), a_machine("never", "b")]},
        {"at": "3m", "apply": [a_machine("after", "b")]},
    )


def test_pods_use_more_for_a_while() -> None:
    async def then(played: Played) -> None:
        await played.at(25)
        assert used(played) == {"300000000n"}
        await played.at(45)
        assert used(played) == {"100000000n"}

    told = play(
        then,
        applied(a_machine("n1"), web(2)),
        {
            "at": "20s",
            "lasts": "20s",
            "usage": {"labels": {"app": "web"}, "cpu": "shared(600m)"},
        },
        {"at": "1s", "usage": {"cpu": "100m"}},
    )

    assert "20: usage: pods app=web: cpu shared(600m)" in told
    assert "40: usage: pods app=web: as before" in told


def used(played: Played) -> set[str]:
    """Return what containers use, as the metrics API tells."""
    path = "/apis/metrics.k8s.io/v1beta1/pods"
    answer = json.loads(played.server.handle(Request(method="GET", path=path)).body)
    return {one["usage"]["cpu"] for pod in answer["items"] for one in pod["containers"]}


def test_a_silent_kubelet_loses_its_node_until_it_is_back() -> None:
    async def then(played: Played) -> None:
        await played.at(40)
        assert readiness(played) == {"n1": "True", "n2": "True"}
        await played.at(100)
        assert readiness(played) == {"n1": "Unknown", "n2": "True"}
        await played.at(140)
        assert readiness(played) == {"n1": "True", "n2": "True"}

    told = play(
        then,
        applied(a_machine("n1"), a_machine("n2", "b")),
        {"at": "30s", "lasts": "90s", "kubelets": {"nodes": {"zone": "a"}}},
    )

    assert told[2:] == ["30: kubelet dies: Node n1: ", "120: kubelet is back: Node n1: "]


def readiness(played: Played) -> dict[str, str]:
    return {
        node["metadata"]["name"]: condition["status"]
        for node in played.api.list("nodes")
        for condition in node["status"].get("conditions") or ()
        if condition["type"] == "Ready"
    }
