"""A service as small as possible, started as a process by the tests of `run`."""

import asyncio
from dataclasses import dataclass
from functools import partial

from libs.runtime.app import App, Runtime
from libs.runtime.run import run
from tests.contract.runtime.echo import SERVICE, Echo


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    task: str = "waits"
    ready: bool = True


def build(settings: Settings, runtime: Runtime) -> App:
    async def work() -> None:
        if settings.task == "raises":
            raise ValueError("the work cannot go on")
        if settings.task == "waits":
            await asyncio.Event().wait()
        if settings.task == "hangs":
            await ignore_cancellation()

    async def ready() -> None:
        if not settings.ready:
            await asyncio.Event().wait()

    return App(
        servicers=(Echo().add_to_server,),
        tasks={"work": work},
        ready=ready,
        public_methods=frozenset({f"/{SERVICE}/One"}),
    )


async def ignore_cancellation() -> None:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


main = partial(run, "example", Settings, build)

if __name__ == "__main__":
    main()
