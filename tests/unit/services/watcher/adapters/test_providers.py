"""How a follower of a provider waits for one that is away, among stand-ins, in simulated time."""

from collections.abc import Callable
from datetime import timedelta

from tests.unit.services.watcher.stage import Stage, on_stage

SECOND = timedelta(seconds=1)


def has_catalogue(stage: Stage) -> Callable[[], bool]:
    return lambda: bool(stage.solver.newest.catalogues)


def test_a_provider_that_starts_after_the_watcher_is_found_within_a_second() -> None:
    async def play(stage: Stage) -> None:
        await stage.world.kill("kwok")
        await stage.start_watcher()
        await stage.passed(600)
        before = len(stage.solver.newest.catalogues)

        await stage.start_provider()
        # one more second: snapshots are published at most once in one
        await stage.world.until(has_catalogue(stage), within=2 * SECOND, every=SECOND / 10)

        assert before == 0

    on_stage(play)


def test_a_pool_applied_while_the_provider_is_away_gets_its_catalogue_on_its_return() -> None:
    async def play(stage: Stage) -> None:
        await stage.start_watcher()
        await stage.passed(5)
        stage.server.direct.delete("nodepools.karpenter.sh", "default")
        await stage.passed(5)
        without = len(stage.solver.newest.catalogues)
        await stage.world.kill("kwok")
        stage.apply_pool("second")
        await stage.passed(600)
        during = len(stage.solver.newest.catalogues)

        await stage.start_provider()
        await stage.world.until(has_catalogue(stage), within=2 * SECOND, every=SECOND / 10)

        assert (without, during) == (0, 0)

    on_stage(play)
