"""The loop in virtual time: a holder that the test pushes to, a lifecycle that remembers."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from libs.domain.errors import JoinerError, NotReady, StaleRevision, Unavailable
from libs.domain.execution import CommandRequest, DecisionReport
from libs.domain.nodeclaim import ClaimCommand
from libs.domain.nodepool import Budget
from libs.domain.snapshot import ClusterSnapshot, full
from libs.runtime.virtual import run_virtual
from libs.snapshots.holder import HomeCluster, SnapshotHolder
from services.disruption.config import Settings
from services.disruption.core.methods import METHODS
from services.disruption.loop import DisruptionLoop, Surroundings
from services.disruption.metrics import Metrics
from services.disruption.record import CommandRecord
from tests.support.world import a_runtime
from tests.unit.services.disruption.clusters import a_cluster, a_machine, a_pool, a_running_pod

AT_ONCE = Settings(validation_delay=timedelta(0), nomination_window=timedelta(0))
SECOND = timedelta(seconds=1)


class FakeLifecycle:
    """Starts every command, unless told to fail; notes what it was asked and when."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.failures: list[JoinerError] = []
        """Raised by the next commands, one by each."""
        self.report_failures: list[JoinerError] = []
        self.started: list[tuple[float, CommandRequest]] = []
        self.reports: list[DecisionReport] = []

    async def execute_command(self, request: CommandRequest) -> tuple[str, ...]:
        if self.failures:
            raise self.failures.pop(0)
        self.started.append((self._now(), request))
        return ()

    async def report_decisions(self, report: DecisionReport) -> None:
        if self.report_failures:
            raise self.report_failures.pop(0)
        self.reports.append(report)


class Bench:
    """A loop that runs, and what it runs against."""

    def __init__(self, settings: Settings) -> None:
        self.runtime = a_runtime("disruption")
        self.clock = self.runtime.clock
        self.holder = SnapshotHolder(
            clock=self.clock, home=HomeCluster(cluster_id="home", identity="watcher")
        )
        self.lifecycle = FakeLifecycle(self.clock.monotonic)
        self.record = CommandRecord(settings.stale_after)
        self.leading = True
        around = Surroundings(
            holder=self.holder,
            lifecycle=self.lifecycle,
            record=self.record,
            metrics=Metrics(self.runtime.metrics, METHODS),
            runtime=self.runtime,
            require_leadership=self._require_leadership,
        )
        self.loop = DisruptionLoop(around, settings, METHODS)

    async def push(self, snapshot: ClusterSnapshot) -> None:
        await self.holder.accept("watcher", full(snapshot), 1)

    async def sleep(self, seconds: float) -> None:
        await self.clock.sleep(seconds * SECOND)

    def metric(self, name: str, **labels: str) -> float | None:
        return self.runtime.metrics.get_sample_value(name, labels)

    def started(self) -> list[tuple[float, list[str]]]:
        return [
            (at, [one.node for one in request.command.candidates])
            for at, request in self.lifecycle.started
        ]

    def _require_leadership(self) -> None:
        if not self.leading:
            raise NotReady("another leads")


def run(scenario: Callable[[Bench], Awaitable[None]], settings: Settings = AT_ONCE) -> None:
    async def main() -> None:
        bench = Bench(settings)
        loop = asyncio.create_task(bench.loop.run())
        try:
            await scenario(bench)
        finally:
            loop.cancel()

    run_virtual(main())


def test_an_empty_node_goes_after_the_settling_window_and_the_second_look() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.push(a_cluster(a_machine()))
        await bench.sleep(50)

        assert bench.started() == [(35.0, ["node-a"])]
        request = bench.lifecycle.started[0][1]
        assert request.known_nodeclaim_uids == ("uid-claim-a",)
        assert request.snapshot.revision == 1

    run(scenario, Settings())


def test_a_node_that_gets_a_pod_during_the_validation_delay_stays() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.push(a_cluster(a_machine("a"), a_machine("b")))
        await bench.sleep(30)
        busy = [a_running_pod(node="node-a")]
        await bench.push(a_cluster(a_machine("a"), a_machine("b"), revision=2, pods=busy))
        await bench.sleep(20)

        assert bench.started() == [(35.0, ["node-b"])]
        assert bench.lifecycle.started[0][1].snapshot.revision == 2
        lost = "karpenter_voluntary_disruption_failed_validations_total"
        assert bench.metric(lost, consolidation_type="empty") == 1

    run(scenario, Settings())


def test_without_survivors_nothing_is_sent() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.push(a_cluster(a_machine()))
        await bench.sleep(30)
        await bench.push(a_cluster(a_machine(), revision=2, pods=[a_running_pod()]))
        await bench.sleep(60)

        assert bench.started() == []
        assert bench.metric("joiner_disruption_passes_total", result="not_started") == 1

    run(scenario, Settings())


def test_a_command_that_no_snapshot_shows_yet_is_not_repeated() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.push(a_cluster(a_machine()))
        await bench.sleep(45)

        assert bench.started() == [(0.0, ["node-a"])]

    run(scenario)


def test_the_next_pass_follows_an_action_at_once_with_its_budget_used_up() -> None:
    async def scenario(bench: Bench) -> None:
        pools = [a_pool(budgets=(Budget(nodes=1),))]
        await bench.push(a_cluster(a_machine("a"), a_machine("b"), pools=pools))
        await bench.sleep(1)

        assert bench.started() == [(0.0, ["node-a"])]
        passes = "joiner_disruption_passes_total"
        assert bench.metric(passes, result="started") == 1
        assert bench.metric(passes, result="nothing_to_do") == 1

    run(scenario)


def test_a_command_given_up_by_lifecycle_is_decided_anew() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.push(a_cluster(a_machine()))
        await bench.sleep(5)
        under = a_machine(claim={"command": ClaimCommand(id="x")})
        await bench.push(a_cluster(under, revision=2))
        await bench.sleep(10)
        await bench.push(a_cluster(a_machine(), revision=3))
        await bench.sleep(10)

        first, second = (request.command.id for _, request in bench.lifecycle.started)
        assert first != second

    run(scenario)


@pytest.mark.parametrize(
    "error", [StaleRevision("nominated since"), NotReady("not leading")], ids=["stale", "not ready"]
)
def test_what_lifecycle_refuses_is_dropped_and_decided_again_later(error: JoinerError) -> None:
    async def scenario(bench: Bench) -> None:
        await bench.push(a_cluster(a_machine()))
        await bench.sleep(12)
        bench.lifecycle.failures = [error]
        await bench.push(a_cluster(a_machine("b"), revision=2))
        await bench.sleep(20)

        assert bench.started() == [(0.0, ["node-a"]), (30.0, ["node-b"])]
        refused = [one.refusal for one in bench.record.latest() if one.refusal]
        assert refused == [str(error)]

    run(scenario)


def test_a_lifecycle_that_does_not_answer_is_asked_again_for_the_same_command() -> None:
    async def scenario(bench: Bench) -> None:
        bench.lifecycle.failures = [Unavailable("down"), Unavailable("down")]
        await bench.push(a_cluster(a_machine()))
        await bench.sleep(5)

        ((at, nodes),) = bench.started()
        assert (nodes, at < 1) == (["node-a"], True)
        assert [one.refusal for one in bench.record.latest()] == [""]

    run(scenario)


def test_nothing_is_started_for_a_window_after_another_watcher_took_over() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.push(a_cluster())
        await bench.sleep(25)
        await bench.push(a_cluster(a_machine(), boot_id="watcher-2"))
        await bench.sleep(60)

        # seen at 30 s, so free from 50 s on
        assert bench.started() == [(50.0, ["node-a"])]
        assert (bench.metric("joiner_disruption_passes_total", result="settling") or 0) > 2

    run(scenario, Settings(validation_delay=timedelta(0)))


def test_a_takeover_during_the_validation_delay_stops_the_command() -> None:
    async def scenario(bench: Bench) -> None:
        await bench.push(a_cluster(a_machine()))
        await bench.sleep(30)
        await bench.push(a_cluster(a_machine(), boot_id="watcher-2"))
        await bench.sleep(10)

        assert bench.started() == []

    run(scenario, Settings())


def test_a_watcher_that_was_silent_for_a_minute_is_waited_for() -> None:
    async def scenario(bench: Bench) -> None:
        snapshot = a_cluster(a_machine())
        await bench.push(snapshot)
        await bench.sleep(75)
        assert bench.started() == []
        bench.holder.hear("watcher", snapshot.id)
        await bench.sleep(20)

        assert bench.started() == [(80.0, ["node-a"])]

    run(scenario, Settings(nomination_window=timedelta(seconds=61), validation_delay=timedelta(0)))


def test_whoever_does_not_lead_sends_nothing() -> None:
    async def scenario(bench: Bench) -> None:
        bench.leading = False
        await bench.push(a_cluster(a_machine()))
        await bench.sleep(25)

        assert bench.started() == []
        assert {one.refusal for one in bench.record.latest()} == {"another leads"}

    run(scenario)


def test_decisions_are_reported_whole_once_per_change() -> None:
    async def scenario(bench: Bench) -> None:
        busy = [a_running_pod()]
        await bench.push(a_cluster(a_machine("a"), a_machine("b", leaving=True), pods=busy))
        await bench.sleep(35)
        await bench.push(a_cluster(a_machine("a"), revision=2, pods=busy))
        await bench.sleep(35)

        reports = [[one.node for one in report.decisions] for report in bench.lifecycle.reports]
        assert reports == [["node-a", "node-b"], ["node-a"]]

    run(scenario)


def test_a_report_that_was_not_taken_is_sent_again() -> None:
    async def scenario(bench: Bench) -> None:
        bench.lifecycle.report_failures = [Unavailable("down")]
        await bench.push(a_cluster(a_machine(initialized=False)))
        await bench.sleep(25)

        assert len(bench.lifecycle.reports) == 1

    run(scenario)


def test_counts_and_budgets_are_shown() -> None:
    async def scenario(bench: Bench) -> None:
        pools = [a_pool(budgets=(Budget(nodes=2),))]
        await bench.push(a_cluster(a_machine("a"), a_machine("b", ready=False), pools=pools))
        await bench.sleep(1)
        labels = {"reason": "empty", "consolidation_type": "empty"}
        subsystem = "karpenter_voluntary_disruption"
        budget = {"nodepool": "default", "reason": "Empty"}

        assert bench.metric(f"{subsystem}_decisions_total", decision="delete", **labels) == 1
        assert (
            bench.metric(
                f"{subsystem}_decisions_by_nodepool_total",
                nodepool="default",
                decision="delete",
                **labels,
            )
            == 1
        )
        evaluations = f"{subsystem}_decision_evaluation_duration_seconds_count"
        assert bench.metric(evaluations, **labels) == 3  # two passes and a second look
        assert bench.metric("karpenter_nodepools_allowed_disruptions", **budget) == 2
        assert bench.metric("karpenter_nodepools_nodes_consuming_budgets", **budget) == 2

        await bench.push(a_cluster(revision=2, pools=[]))
        await bench.sleep(10)
        assert bench.metric("karpenter_nodepools_allowed_disruptions", **budget) is None

    run(scenario)
