"""The peer's benchmark, in the shapes and counts that it is known for."""

from collections import Counter
from typing import Any

import pytest

from benchmarks import catalogues
from benchmarks.documents import PREFERRED, REQUIRED, Document, decoded
from benchmarks.workloads.named import named
from benchmarks.workloads.workload import Size
from libs.domain import labels as keys
from libs.domain.resources import CPU, MEMORY, PODS
from libs.kube.objects.pod import Pod


def waiting(name: str, count: int, seed: int = 42) -> list[Document]:
    return list(named(name, Size(pods=count, seed=seed)).waiting())


def kind(pod: Document) -> str:
    """Return which of the five kinds a pod is."""
    spec: dict[str, Any] = pod["spec"]
    for one in spec.get("topologySpreadConstraints", ()):
        return f"spread over {one['topologyKey']}"
    for affinity, terms in spec.get("affinity", {}).items():
        return f"{affinity} over {terms[REQUIRED][0]['topologyKey']}"
    return "generic"


def requests(pod: Document) -> tuple[str, str]:
    (container,) = pod["spec"]["containers"]
    asked = container["resources"]["requests"]
    return asked["cpu"], asked["memory"]


@pytest.mark.parametrize("name", ["peer-mix", "distinct"])
def test_a_mix_has_five_equal_fifths_and_is_filled_up_with_generic_pods(name: str) -> None:
    counts = Counter(map(kind, waiting(name, 503)))

    assert counts == {
        "generic": 103,
        f"spread over {keys.ZONE}": 100,
        f"spread over {keys.HOSTNAME}": 100,
        f"podAffinity over {keys.ZONE}": 100,
        f"podAntiAffinity over {keys.HOSTNAME}": 100,
    }


def test_pods_that_keep_apart_all_share_one_label() -> None:
    apart = [pod for pod in waiting("peer-mix", 500) if kind(pod).startswith("podAnti")]

    assert all(pod["metadata"]["labels"] == {"app": "nginx"} for pod in apart)
    assert len(apart) == 100


def test_pods_that_spread_often_count_others_than_their_own_kind() -> None:
    spread = [pod for pod in waiting("peer-mix", 500) if kind(pod).startswith("spread")]
    counted = [
        pod["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]
        for pod in spread
    ]

    foreign = sum(
        own["metadata"]["labels"] != other for own, other in zip(spread, counted, strict=True)
    )
    assert foreign > len(spread) / 2


def test_requests_of_the_mix_are_the_peers_and_nothing_else() -> None:
    cpus, memories = zip(*map(requests, waiting("peer-mix", 500)), strict=True)

    assert set(cpus) == {"100m", "250m", "500m", "1000m", "1500m"}
    assert set(memories) == {"100Mi", "256Mi", "512Mi", "1024Mi", "2048Mi", "4096Mi"}


def test_no_two_distinct_pods_ask_for_the_same() -> None:
    pods = waiting("distinct", 500)

    assert len(set(map(requests, pods))) == len(pods)


def test_preference_pods_are_equal_and_prefer_three_things() -> None:
    pods = waiting("preferences", 40)

    assert len({str(pod["spec"]) for pod in pods}) == 1
    affinity = pods[0]["spec"]["affinity"]
    apart = affinity["podAntiAffinity"][PREFERRED]
    assert len(affinity["nodeAffinity"][PREFERRED]) == 1
    assert [(one["weight"], one["podAffinityTerm"]["topologyKey"]) for one in apart] == [
        (10, keys.ZONE),
        (1, keys.HOSTNAME),
    ]


@pytest.mark.parametrize(
    ("name", "count"), [("peer-mix", 10_000), ("distinct", 10_000), ("preferences", 4_000)]
)
def test_usual_sizes_are_the_peers(name: str, count: int) -> None:
    workload = named(name, Size())

    assert sum(1 for _ in workload.waiting()) == count
    assert len(workload.sold.instance_types) == catalogues.PEER_TYPES


def test_a_type_of_the_peer_has_its_size_its_overhead_and_its_price_everywhere() -> None:
    by_name = {one.name: one for one in catalogues.peer().instance_types}
    seventh = by_name["fake-it-6"]

    assert len(by_name) == 400
    assert dict(seventh.capacity.items()) == {CPU: 7000, MEMORY: 14 * 2**30, PODS: 70}
    assert dict(seventh.overhead.items()) == {CPU: 100, MEMORY: 10 * 2**20}
    assert {one.price_nanos_per_hour for one in seventh.offerings} == {2_203_238_554}
    assert Counter(one.capacity_type for one in seventh.offerings) == {"on-demand": 3, "spot": 2}


def test_the_same_seed_draws_the_same_pods_and_another_one_others() -> None:
    assert waiting("peer-mix", 100) == waiting("peer-mix", 100)
    assert waiting("peer-mix", 100) != waiting("peer-mix", 100, seed=43)


def test_arrivals_are_new_pods_each_round() -> None:
    workload = named("peer-mix", Size(pods=100))
    pods = [*workload.waiting(), *workload.arriving(0, 20), *workload.arriving(1, 20)]

    assert len({pod["metadata"]["uid"] for pod in pods}) == 140
    assert len({pod["metadata"]["name"] for pod in pods}) == 140


def test_decoded_pods_share_no_text() -> None:
    first, second = (one for one in decoded(waiting("preferences", 2)) if isinstance(one, Pod))

    assert first.spec == second.spec
    assert first.spec.containers[0].resources is not second.spec.containers[0].resources
