"""What nodes cost while they are there."""

from datetime import timedelta

from cli.run.metering import Cost, cost
from services.simulator.script.journal import Entry

PRICES = {("small", "a", "spot"): 100, ("large", "b", "on-demand"): 1000}


def told(minutes: int, what: str, subject: str, detail: str = "") -> Entry:
    return Entry(
        after=timedelta(minutes=minutes), what=what, subject=f"Node {subject}", detail=detail
    )


def test_a_node_costs_from_its_appearance_until_it_is_gone() -> None:
    entries = [
        told(0, "node appears", "n1", "small spot a"),
        told(1, "node ready", "n1", "small spot a"),
        told(1, "kubelet dies", "n1"),
        told(30, "node appears", "n2", "large on-demand b"),
        told(60, "node leaves", "n1", "small spot a"),
        told(90, "node gone", "n1"),
        told(90, "node ready", "n3", "unknown"),
    ]

    found = cost(entries, PRICES, timedelta(minutes=120))

    assert found == Cost(
        highest_per_hour=1100, last_per_hour=1000, total=50 + 550 + 550 + 500, unpriced=1
    )


def test_nothing_costs_nothing() -> None:
    free = Cost(highest_per_hour=0, last_per_hour=0, total=0, unpriced=0)

    assert cost([], PRICES, timedelta(hours=1)) == free
