"""The search for a node: as the oracle judges, however much is remembered."""

from typing import Any

import pytest

from libs.oracle.cluster import Cluster
from libs.oracle.verdict import judge
from libs.runtime.randomness import Random
from services.simulator.core.objects import key_of
from services.simulator.core.scheduler.finder import Finder
from tests.unit.services.simulator.living import Obj, a_node, a_pod

ZONE = "topology.kubernetes.io/zone"


def named(pod: Obj, **meta: Any) -> Obj:
    pod["metadata"] |= {"namespace": "default", "uid": pod["metadata"]["name"], **meta}
    pod["status"] = {}
    return pod


def some_pod(rng: Random, number: int) -> Obj:
    app = rng.choice(("a", "b", "c"))
    pod = named(a_pod(f"p{number}", cpu=rng.choice(("100m", "500m", "2"))), labels={"app": app})
    like = {"matchLabels": {"app": app}}
    term = {"labelSelector": like, "topologyKey": "kubernetes.io/hostname"}
    match rng.randrange(6):
        case 0:
            rule = {"maxSkew": 1, "topologyKey": ZONE, "labelSelector": like}
            rule["whenUnsatisfiable"] = rng.choice(("DoNotSchedule", "ScheduleAnyway"))
            pod["spec"]["topologySpreadConstraints"] = [rule]
        case 1:
            shun = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
            pod["spec"]["affinity"] = {"podAntiAffinity": shun}
        case 2:
            pod["spec"]["nodeSelector"] = {ZONE: rng.choice(("za", "zb"))}
        case 3:
            pod["spec"]["tolerations"] = [{"key": "k", "operator": "Exists"}]
    return pod


@pytest.mark.parametrize("seed", range(8))
def test_what_is_found_is_what_the_oracle_lets_pass(seed: int) -> None:
    rng, cluster = Random(seed), Cluster()
    finder = Finder(cluster)
    placed: list[Obj] = []
    for number in range(120):
        if number < 12 or rng.random() < 0.1:
            name = f"n{rng.randrange(14)}"
            taints = rng.choice(([], [], [{"key": "k", "effect": "NoSchedule"}]))
            cluster.put("Node", a_node(name, rng.choice(("za", "zb")), taints=taints))
            finder.touch(name)
            finder.rearrange()
        elif placed and rng.random() < 0.3:
            gone = placed.pop(rng.randrange(len(placed)))
            finder.touch(cluster.pods[key_of(gone)].node_name)
            cluster.delete("Pod", key_of(gone))
        pod = some_pod(rng, number)
        verdict, found = judge(cluster, pod), finder.find(pod)
        if found.node:
            assert found.node in verdict.feasible
            cluster.bind(pod, found.node)
            finder.touch(found.node)
            placed.append(pod)
        else:
            assert found.verdict == verdict


def crowd(number: int) -> tuple[Cluster, Finder]:
    cluster = Cluster()
    for index in range(number):
        cluster.put("Node", a_node(f"n{index:04}", zone=f"z{index % 3}"))
    return cluster, Finder(cluster)


def test_of_many_nodes_some_are_looked_at_and_others_next_time() -> None:
    _, finder = crowd(1000)

    efforts = [finder.find(named(a_pod(f"p{n}", cpu=f"{n + 1}m"))).effort for n in range(3)]
    nodes = [finder.find(named(a_pod("p", cpu="1m"))).node for _ in range(5)]

    assert efforts == [420, 420, 420], "50 percent less one for each 125 nodes"
    assert len(set(nodes)) > 1


def test_what_is_known_of_a_node_is_not_asked_again() -> None:
    _, finder = crowd(50)
    assert finder.find(named(a_pod("p"))).effort == 50

    assert finder.find(named(a_pod("p"))).effort == 0
    finder.touch("n0007")
    assert finder.find(named(a_pod("p"))).effort == 1
    finder.forget()
    assert finder.find(named(a_pod("p"))).effort == 50


def test_pods_for_one_node_look_at_that_node_alone() -> None:
    _, finder = crowd(500)
    only = {"key": "metadata.name", "operator": "In", "values": ["n0042"]}
    terms = {"nodeSelectorTerms": [{"matchFields": [only]}]}
    rule = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}

    found = finder.find(named(a_pod("p", affinity=rule)))

    assert (found.node, found.effort) == ("n0042", 1)


def test_a_nominated_node_is_taken_if_it_will_do() -> None:
    cluster, finder = crowd(5)
    pod = named(a_pod("p"))
    pod["status"] = {"nominatedNodeName": "n0003"}
    assert finder.find(pod).node == "n0003"

    cluster.put("Node", a_node("n0003", unschedulable=True))
    finder.touch("n0003")

    assert finder.find(pod).node != "n0003"
