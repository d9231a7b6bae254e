"""Workloads on EC2's catalogue: how many pods of which kind, on how many nodes."""

from collections import Counter

import pytest

from benchmarks import catalogues
from benchmarks.consolidate import underused
from benchmarks.documents import Document
from benchmarks.quality import on_demand, requests_only
from benchmarks.workloads.named import WORKLOADS, named
from benchmarks.workloads.openb import GPU
from benchmarks.workloads.workload import Size, Workload
from libs.domain import labels as keys
from libs.domain.errors import InvalidRequest
from libs.domain.resources import Resources


def there(workload: Workload) -> dict[str, list[Document]]:
    found: dict[str, list[Document]] = {}
    for one in workload.there():
        found.setdefault(one["kind"], []).append(one)
    return found


def asked_of(pods: list[Document]) -> list[dict[str, str]]:
    return [pod["spec"]["containers"][0]["resources"]["requests"] for pod in pods]


def test_deployments_are_few_large_ones_and_many_small_ones() -> None:
    pods = list(named("deployments", Size(pods=2_000)).waiting())
    sizes = sorted(Counter(pod["metadata"]["labels"]["app"] for pod in pods).values())

    assert len(pods) == 2_000
    assert len(sizes) == 111
    assert sizes[-1] > 5 * sizes[len(sizes) // 2]


def test_deployments_spread_keep_apart_and_are_pinned() -> None:
    pods = list(named("deployments", Size(pods=5_000)).waiting())
    rules = Counter(
        rule
        for pod in pods
        for rule in ("topologySpreadConstraints", "affinity", "nodeSelector")
        if rule in pod["spec"]
    )

    assert set(rules) == {"topologySpreadConstraints", "affinity", "nodeSelector"}
    assert all(pod["metadata"]["ownerReferences"][0]["controller"] for pod in pods)


@pytest.mark.parametrize("name", ["deployments", "standing", "mixed"])
def test_nodes_run_thirty_pods_each_and_none_more_than_it_has_room_for(name: str) -> None:
    objects = there(named(name, Size(nodes=40)))
    rooms = {
        one["metadata"]["name"]: Resources.from_allocatable(one["status"]["allocatable"])
        for one in objects["Node"]
    }
    used: dict[str, list[dict[str, str]]] = {name: [] for name in rooms}
    for pod in objects["Pod"]:
        (container,) = pod["spec"]["containers"]
        used[pod["spec"]["nodeName"]].append(container["resources"]["requests"])

    assert len(rooms) == len(objects["NodeClaim"]) == 40
    for node, many in used.items():
        asked = Resources()
        for one in many:
            asked = asked.add(Resources.from_requests(one))
        assert len(many) == 30
        assert asked.fits(rooms[node])


def test_no_two_pods_of_a_small_deployment_run_on_one_node() -> None:
    pods = there(named("standing", Size(nodes=200)))["Pod"]
    sizes = Counter(pod["metadata"]["labels"]["app"] for pod in pods)
    pairs = Counter((pod["metadata"]["labels"]["app"], pod["spec"]["nodeName"]) for pod in pods)

    assert {count for (app, _), count in pairs.items() if sizes[app] <= 200} == {1}


def test_standing_has_all_types_its_pods_running_and_a_hundred_arrive() -> None:
    workload = named("standing", Size(pods=3_000))
    objects = there(workload)

    assert len(workload.sold.instance_types) == 1_235
    assert len(objects["Pod"]) == 3_000
    assert len(objects["Node"]) == 100
    assert list(workload.waiting()) == []
    assert workload.delta == 100


def test_mixed_has_volumes_taints_and_gpus() -> None:
    workload = named("mixed", Size(pods=3_000))
    objects, pods = there(workload), list(workload.waiting())

    assert len(pods) == 3_000
    assert {one["metadata"]["name"] for one in objects["NodePool"]} == {"default", "batch", "gpu"}
    volumes = [pod for pod in pods if "volumes" in pod["spec"]]
    assert len(objects["PersistentVolumeClaim"]) == len(volumes) > 0
    assert 0 < len(objects["PersistentVolume"]) < len(volumes)
    assert any(keys.NODEPOOL in pod["spec"].get("nodeSelector", {}) for pod in pods)
    assert any(GPU in one for one in asked_of(pods))


def test_openb_is_the_whole_trace() -> None:
    pods = list(named("openb", Size()).waiting())
    gpus = Counter(one.get(GPU, "0") for one in asked_of(pods))

    assert len(pods) == 8_152
    assert gpus == {"0": 1088, "1": 6989, "2": 16, "4": 15, "8": 44}


def test_openb_has_no_more_pods_than_the_trace() -> None:
    with pytest.raises(InvalidRequest, match="the trace has 8152 pods"):
        named("openb", Size(pods=9_000))


def test_types_are_taken_evenly_and_by_family() -> None:
    some = catalogues.ec2(800).instance_types
    chosen = catalogues.ec2(categories=("c", "m", "r")).instance_types

    assert len({one.name for one in some}) == 800
    assert {catalogues.category(one) for one in chosen} == {"c", "m", "r"}
    assert len(chosen) == 932


def test_underused_nodes_are_as_many_as_asked_for_and_of_three_families() -> None:
    objects = there(underused(Size(nodes=30), (0.15, 0.65)))
    categories = {one["metadata"]["labels"][catalogues.CATEGORY] for one in objects["Node"]}

    assert len(objects["Node"]) == 30
    assert categories == {"c", "m", "r"}
    assert len({pod["metadata"]["uid"] for pod in objects["Pod"]}) == len(objects["Pod"]) > 30


def test_requests_only_leaves_nothing_else_in_a_pod() -> None:
    workload = named("deployments", Size(pods=200))
    stripped = list(requests_only(workload).waiting())

    assert asked_of(stripped) == asked_of(list(workload.waiting()))
    assert all(set(pod["spec"]) == {"containers"} for pod in stripped)


def test_on_demand_narrows_every_pool() -> None:
    for pool in there(on_demand(named("mixed", Size(pods=10))))["NodePool"]:
        wanted = pool["spec"]["template"]["spec"]["requirements"]

        assert {"key": keys.CAPACITY_TYPE, "operator": "In", "values": ["on-demand"]} in wanted


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_is_the_same_each_time_and_another_with_another_seed(name: str) -> None:
    size = Size(pods=120, nodes=4)

    def drawn(seed: int) -> list[Document]:
        made = named(name, Size(pods=size.pods, nodes=size.nodes, seed=seed))
        return [*made.there(), *made.waiting(), *made.arriving(0, 5)]

    assert drawn(1) == drawn(1)
    if name != "preferences":  # all of them are alike, and few requests can be drawn
        assert drawn(1) != drawn(2)


def test_an_unknown_workload_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidRequest, match="'peermix' is none of peer-mix, distinct"):
        named("peermix", Size())
