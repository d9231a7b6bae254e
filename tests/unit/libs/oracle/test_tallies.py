"""Counts of like pods that are kept stay those that would be counted anew."""

import pytest

from libs.oracle.cluster import Cluster
from libs.oracle.filters.pod_topology_spread import count_domains, read_constraints
from libs.oracle.pods import Pod, read_pod
from libs.oracle.selectors import LabelRequirement, LabelSelector
from libs.oracle.tallies import Question, Tallies
from libs.runtime.randomness import Random
from tests.unit.libs.oracle.kube import Obj, node, pod, spread

ZONES: tuple[dict[str, str], ...] = (
    {"zone": "a"},
    {"zone": "b"},
    {"zone": "a", "rack": "1"},
    {"rack": "2"},
    {},
)


def counted(cluster: Cluster) -> list[dict[str, int]]:
    """What each of some pods would find, with and without a cluster that has kept anything."""
    found = []
    for app in ("x", "y"):
        both = [*spread(app), *spread(app, "rack")]
        for rules in (spread(app), spread(app, "kubernetes.io/hostname"), both):
            asking = read_pod(pod("asking", topologySpreadConstraints=rules))
            constraints = read_constraints(cluster, asking, "DoNotSchedule")
            found += [dict(counts) for counts in count_domains(cluster, asking, constraints)]
    return found


def some_pod(rng: Random, number: int) -> Obj:
    made = pod(f"p{number}", labels={"app": rng.choice("xyz")}, nodeName=f"n{rng.randrange(7)}")
    if rng.random() < 0.2:
        made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return made


@pytest.mark.parametrize("seed", range(6))
def test_what_is_kept_is_what_would_be_counted(seed: int) -> None:
    rng, cluster = Random(seed), Cluster()
    for step in range(150):
        match rng.randrange(5):
            case 0:
                cluster.put("Node", node(f"n{rng.randrange(7)}", labels=rng.choice(ZONES)))
            case 1 if rng.random() < 0.3:
                cluster.delete("Node", f"n{rng.randrange(7)}")
            case 2:
                cluster.delete("Pod", f"default/p{rng.randrange(30)}")
            case _:
                cluster.put("Pod", some_pod(rng, rng.randrange(30)))
        if step % 3 == 0:
            assert counted(cluster) == counted(cluster.copy())


def test_of_many_questions_the_latest_are_kept() -> None:
    tallies, cluster = Tallies(), Cluster()
    cluster.put("Node", node("n0", labels={"zone": "a"}))
    like = read_pod(pod("p", nodeName="n0"))

    def count(number: int, *pods: Pod) -> int:
        selector = LabelSelector((LabelRequirement("app", "In", frozenset({f"a{number}"})),))
        question = Question("default", selector, "zone", ("zone",))
        return tallies.count(question, cluster.nodes, pods)["a"]

    for number in range(200):
        assert count(number) == 0

    assert count(199, like) == 0, "it is kept: nothing is counted"
    assert count(0, like) == 1, "it is counted anew"
