import io
from datetime import timedelta

import pytest
from rich.console import Console

from cli.run.news import news
from cli.run.progress import measure
from cli.run.view import LineDisplay, Screen, bar, picture, sparkline
from libs.kube.objects.karpenter import NodeClaim
from tests.unit.cli.run.objects import PRICES, a_claim, a_node, a_pod, a_world, running

BOUGHT = "bought general-1: m5.large spot in a, $0.05/h, for 7 pods that ask for 1.5 CPU and 2 GiB"
GIVEN_BACK = "gave back general-1 (Empty): m5.large, $0.05/h saved"
NOT_LAUNCHED = a_claim(instance_type="", initialized=False)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        pytest.param([], [NOT_LAUNCHED], [], id="not launched yet"),
        pytest.param([NOT_LAUNCHED], [a_claim()], [BOUGHT], id="launched"),
        pytest.param([], [a_claim()], [BOUGHT], id="launched between two looks"),
        pytest.param([a_claim()], [a_claim()], [], id="nothing new"),
        pytest.param([a_claim()], [a_claim(leaving="Empty")], [GIVEN_BACK], id="leaving"),
        pytest.param([a_claim(leaving="Empty")], [], [], id="gone, which was told"),
    ],
)
def test_a_decision_is_told_once_with_its_numbers(
    before: list[NodeClaim], after: list[NodeClaim], told: list[str]
) -> None:
    assert list(news(before, after, PRICES)) == told


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        pytest.param((), "", id="nothing yet"),
        pytest.param((0, 0), "  ", id="all free"),
        pytest.param((0, 7, 3), "▁█▄", id="up and down"),
        pytest.param(tuple(range(8)), "▁▃▅█", id="longer than there is room"),
    ],
)
def test_a_sparkline_is_as_high_as_its_values(values: tuple[int, ...], drawn: str) -> None:
    assert sparkline(values, 4) == drawn


def test_the_bar_is_full_whatever_the_shares_are() -> None:
    pods = [running(f"r{n}") for n in range(3)] + [a_pod(f"w{n}") for n in range(4)]
    assert len(bar(measure(a_world(*pods), (), PRICES, frozenset())).plain) == 60


def a_screen(*pods: str, phase: str = "buying", seconds: float = 0) -> Screen:
    world = a_world(a_claim(), a_node(), *(running(name) for name in pods))
    return Screen(
        phase=phase,
        elapsed=timedelta(seconds=seconds),
        progress=measure(world, (), PRICES, frozenset()),
        costs=(0, 50_000_000),
        news=(BOUGHT,),
        footer="KUBECONFIG=x kubectl get nodeclaims",
    )


def test_the_picture_has_phase_counts_cost_pools_news_and_footer() -> None:
    console = Console(file=io.StringIO(), width=100, record=True)

    console.print(picture(a_screen("web-1", "web-2")))

    text = console.export_text()
    for part in (
        "buying",
        "2 running",
        "$0.05/h",
        "general",
        "50 %",
        "bought general-1",
        "kubectl",
    ):
        assert part in text


def test_lines_come_with_each_phase_and_else_only_if_something_changed_for_a_while() -> None:
    out = io.StringIO()
    display = LineDisplay(Console(file=out, width=40))

    display.show(a_screen("web-1"))
    display.show(a_screen("web-1", "web-2", seconds=1))
    display.show(a_screen("web-1", "web-2", seconds=3))
    display.show(a_screen("web-1", "web-2", seconds=9))
    display.show(a_screen("web-1", "web-2", seconds=9, phase="done"))

    assert out.getvalue().splitlines() == [
        "   0 s  buying: 0 waiting, 0 starting, 1 running, 1 nodes, $0.05/h",
        "   3 s  buying: 0 waiting, 0 starting, 2 running, 1 nodes, $0.05/h",
        "   9 s  done: 0 waiting, 0 starting, 2 running, 1 nodes, $0.05/h",
    ]
