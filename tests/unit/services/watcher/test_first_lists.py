"""What a watcher does once it knows the cluster."""

from dataclasses import replace
from functools import partial

from libs.runtime.app import App, Runtime
from services.watcher import app as watcher
from services.watcher.config import Settings
from tests.unit.services.watcher.stage import SETTINGS, Stage, on_stage


def test_what_the_first_lists_hold_is_kept_from_the_collector() -> None:
    told: list[int] = []

    def spying(stage: Stage, settings: Settings, runtime: Runtime) -> App:
        def spare() -> None:
            told.append(len(stage.server.direct.list("pods")))

        return watcher.assemble(settings, replace(runtime, spare=spare), stage.api)

    async def play(stage: Stage) -> None:
        stage.add_pod("there")
        await stage.world.start("watcher", partial(spying, stage), SETTINGS, "watcher:1")
        await stage.passed(5)

    on_stage(play)

    assert told == [1]
