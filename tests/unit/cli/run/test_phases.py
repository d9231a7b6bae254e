"""What a run makes of a cluster that does not come to rest, and of one that is wrong."""

import json
from collections.abc import AsyncGenerator, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from cli.run import phases, shop
from cli.run.observed import Observed
from cli.run.phases import Milestone, NotSettled, Run
from cli.run.progress import measure
from cli.run.summary import is_success, summary
from cli.run.telling import Telling
from cli.run.view import Screen
from cli.run.workload import Workload
from libs.kube.api import JSON, NODES, PODS, KubeApi
from libs.oracle.check import Violation
from libs.runtime.clock import LoopClock
from libs.runtime.virtual import VirtualLoop
from tests.support.builders import NOW
from tests.unit.cli.run.objects import PRICES, a_node, a_pod, a_world, running

WEB = Workload("web", 1, "500m", "1Gi", namespace="shop", peak=2)
WHY = "Failed to schedule pod, it is too large"


@dataclass
class Answers(KubeApi):
    """An API server that takes everything, says one event and lists nothing else."""

    sent: list[str] = field(default_factory=list)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        self.sent.append(f"{method} {path} {(body or b'').decode()}".strip())
        event = {"message": WHY, "reportingComponent": "joiner", "lastTimestamp": "2030"}
        return json.dumps({"items": [event] if "events" in path else []}).encode()

    def watch(self, path: str, *, query: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        raise AssertionError("nothing is watched here")


@dataclass
class Page:
    """A display that keeps what it was told."""

    lines: list[str] = field(default_factory=list)

    def show(self, screen: Screen) -> None:
        """Pass over pictures."""

    def say(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(shop, "WORKLOADS", (WEB,))
    clock = LoopClock(NOW)
    observed = Observed(clock)
    page = Page()
    telling = Telling(observed, page, clock, began=0.0, prices=PRICES, unplaceable=())
    return Run(api=Answers(), observed=observed, telling=telling, clock=clock)


def in_virtual_time(work: Coroutine[Any, Any, None]) -> float:
    """Run it and return how many virtual seconds it took."""
    loop = VirtualLoop()
    try:
        loop.run_until_complete(work)
        return loop.time()
    finally:
        loop.close()


@pytest.fixture(autouse=True)
def _monotonic_outside_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects are told before the loop runs; that is instant zero."""
    original = LoopClock.monotonic

    def monotonic(self: LoopClock) -> float:
        try:
            return original(self)
        except RuntimeError:
            return 0.0

    monkeypatch.setattr(LoopClock, "monotonic", monotonic)


def test_a_placeable_pod_that_waits_for_ever_fails_the_run_with_its_reason(run: Run) -> None:
    run.observed.upsert(PODS, running("web-1"))
    run.observed.upsert(PODS, a_pod("web-2", unschedulable=True))

    with pytest.raises(NotSettled) as found:
        in_virtual_time(phases.rise(run))

    assert found.value.still_open == (
        "shop/web: 1 of 2 run, 1 do not yet",
        f"shop/web-2 waits: {WHY}",
    )
    assert run.milestones == []


def test_a_state_counts_once_it_was_quiet_for_a_while(run: Run) -> None:
    run.observed.upsert(PODS, running("web-1"))
    run.observed.upsert(PODS, running("web-2"))

    took = in_virtual_time(phases.rise(run))

    assert took == pytest.approx(2, abs=0.5)
    assert [one.name for one in run.milestones] == ["scaled up"]
    assert isinstance(run.api, Answers)
    assert run.api.sent[0] == (
        'PATCH /apis/apps/v1/namespaces/shop/deployments/web/scale {"spec": {"replicas": 2}}'
    )


def test_the_load_has_not_fallen_while_a_node_is_empty(run: Run) -> None:
    run.observed.upsert(PODS, running("web-1", node="n1"))
    run.observed.upsert(NODES, a_node("n1"))
    run.observed.upsert(NODES, a_node("n2"))

    with pytest.raises(NotSettled) as found:
        in_virtual_time(phases.fall(run))

    assert found.value.still_open == ("n2 is empty and still there",)


def a_milestone(*violations: Violation) -> Milestone:
    return Milestone(
        name="all running",
        took=timedelta(seconds=3.25),
        progress=measure(a_world(running("web-1")), (), PRICES, frozenset()),
        violations=violations,
    )


def test_a_run_succeeds_if_every_state_was_accepted(run: Run) -> None:
    run.milestones.append(a_milestone())

    assert is_success(run)
    assert "  checker: accepted, kube-scheduler's rules hold for every pod" in list(summary(run))


def test_a_refused_state_fails_the_run_and_is_explained(run: Run) -> None:
    wrong = Violation(pod="shop/web-1", node="n1", rule="NodeResourcesFit", message="too large")
    run.milestones += [a_milestone(), a_milestone(wrong)]

    assert not is_success(run)
    assert "    shop/web-1 on n1: NodeResourcesFit: too large" in list(summary(run))


def test_a_run_that_reached_nothing_is_no_success(run: Run) -> None:
    assert not is_success(run)
