"""The example scripts do what they say, with every service, in simulated time."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cli.run.virtual import Outcome, Story, play
from libs import catalogues
from libs.domain.capacity import InstanceType
from services.simulator.script.journal import Entry, to_json
from services.simulator.script.reading import load, parse

pytestmark = pytest.mark.timeout(240)

EXAMPLES = Path(__file__).parents[2] / "examples" / "scripts"
FEW = ("c6a.large", "c6a.xlarge", "c6a.2xlarge")


@cache
def few_types() -> tuple[InstanceType, ...]:
    """Return a small catalogue: what there is to choose from is not what is tested."""
    return tuple(one for one in catalogues.aws.instance_types() if one.name in FEW)


@pytest.fixture(autouse=True)
def _small_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    few = few_types()
    monkeypatch.setattr(catalogues, "named", lambda _name: few)


def played(name: str) -> Outcome:
    return play(load(EXAMPLES / f"{name}.yaml"), Story())


def entries(outcome: Outcome, what: str, words: str = "") -> list[Entry]:
    return [
        entry
        for entry in outcome.entries
        if entry.what == what and words in f"{entry.subject} {entry.detail}"
    ]


def minutes(found: Iterable[Entry]) -> list[float]:
    return [entry.after.total_seconds() / 60 for entry in found]


def assert_good(outcome: Outcome) -> None:
    """Assert that everything runs in the end, where the checker lets it."""
    assert outcome.waiting == ()
    assert outcome.violations == ()
    assert set(outcome.nodes) == {"ready"}


def test_a_day_buys_nodes_and_gives_them_back() -> None:
    outcome = played("diurnal")

    assert_good(outcome)
    assert outcome.pods["runs"] == 12
    appeared, gone = entries(outcome, "node appears"), entries(outcome, "node gone")
    assert max(minutes(appeared)) < 22, "none after the peak"
    assert min(minutes(gone)) > 20, "none before it"
    assert len(appeared) - len(gone) == outcome.nodes["ready"]


def test_a_storm_takes_one_zone_and_its_pods_come_back_elsewhere() -> None:
    outcome = played("spot-storm")

    assert_good(outcome)
    assert outcome.pods["runs"] == 12
    taken = entries(outcome, "reclaimed")
    assert taken
    assert minutes(entries(outcome, "reclaim notice")) == [5] * len(taken)
    assert minutes(taken) == [7] * len(taken)
    late = [one for one in minutes(entries(outcome, "node appears")) if one > 1]
    assert late
    assert max(late) < 8, "bought as soon as the machines are gone"


def test_machines_that_never_boot_are_bought_again_once_their_claims_are_deleted() -> None:
    outcome = played("dead-machines")

    assert_good(outcome)
    dead = {one.subject for one in entries(outcome, "node not ready", "us-east-1a")}
    ready = {one.subject for one in entries(outcome, "node ready", "us-east-1a")}
    first = {one.subject for one in entries(outcome, "node gone")}
    assert first
    assert first == dead - ready
    assert min(minutes(entries(outcome, "node ready", "us-east-1a"))) > 8
    assert [round(one) for one in minutes(entries(outcome, "node unknown"))] == [13]


def test_an_outage_of_the_api_server_delays_and_loses_nothing() -> None:
    outcome = played("api-outage")

    assert_good(outcome)
    assert outcome.pods["runs"] == 36
    paused = [one for one in minutes(outcome.entries) if 10 < one < 13]
    assert paused == []
    claims = len(entries(outcome, "claim made")) - len(entries(outcome, "claim gone"))
    assert claims == outcome.nodes["ready"], "nothing was bought twice or lost"
    assert entries(outcome, "node unknown") == []


def test_an_hour_of_fifty_nodes_is_the_same_byte_for_byte() -> None:
    zones = ("us-east-1a", "us-east-1b", "us-east-1c")
    machines = [a_machine(number, zones[number % 3]) for number in range(50)]
    script = parse(
        {
            "until": "1h",
            "seed": 3,
            "steps": [
                {"at": 0, "apply": [*machines, "storefront.yaml"]},
                {"at": "5m", "scale": {"name": "storefront", "replicas": 60, "over": "20m"}},
                {"at": "15m", "kubelets": {"nodes": {"count": 5}}, "lasts": "10m"},
                {"at": "30m", "reclaim": {"nodes": {"share": 0.2}}},
                {"at": "40m", "pause": True, "lasts": "2m"},
                {"at": "45m", "scale": {"name": "storefront", "replicas": 30}},
            ],
        },
        EXAMPLES,
    )

    first, second = (play(script, Story(), joiner=False) for _ in range(2))

    assert first.pods == {"runs": 30}
    assert first.nodes["ready"] == 40
    assert len(entries(first, "kubelet dies")) == 5
    assert to_json(first.entries) == to_json(second.entries)


def a_machine(number: int, zone: str) -> dict[str, Any]:
    name = f"n{number:02}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**labels, "karpenter.sh/capacity-type": "spot"}},
        "spec": {"providerID": f"kwok://{name}"},
        "status": {"capacity": {"cpu": "4", "memory": "16Gi", "pods": "20"}},
    }
