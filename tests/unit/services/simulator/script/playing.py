"""A simulated cluster on which a script is played, on simulated time."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from libs.runtime.app import Runtime
from services.simulator.app import Staging, assemble, new_server, sky_over
from services.simulator.config import Settings
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.server import ApiServer
from services.simulator.script.journal import Entry
from services.simulator.script.reading import parse
from services.simulator.sky import Sky
from tests.support.world import a_runtime

Document = dict[str, Any]


@dataclass(kw_only=True)
class Played:
    """The cluster, and what was told so far."""

    server: ApiServer
    sky: Sky
    runtime: Runtime
    entries: list[Entry] = field(default_factory=list)

    @property
    def api(self) -> DirectApi:
        return self.server.direct

    async def at(self, seconds: float) -> None:
        """Wait until so much time has passed since the beginning, and a moment more."""
        passed = asyncio.get_running_loop().time()
        await self.runtime.clock.sleep(timedelta(seconds=seconds - passed + 0.01))

    def told(self, what: str = "") -> list[str]:
        """Return what was told: seconds, what, subject, detail."""
        return [
            f"{entry.after.total_seconds():g}: {entry.what}: {entry.subject}: {entry.detail}"
            for entry in self.entries
            if not what or entry.what == what
        ]


@contextlib.asynccontextmanager
async def playing(*steps: Document, seed: int = 0) -> AsyncIterator[Played]:
    loaded = parse({"steps": list(steps), "seed": seed})
    runtime, settings = a_runtime("simulator"), Settings()
    server = new_server(settings, runtime)
    played = Played(server=server, sky=sky_over(server, loaded), runtime=runtime)
    staging = Staging(script=loaded, sky=played.sky, tell=played.entries.append)
    app = assemble(settings, runtime, server, staging)
    tasks = [asyncio.create_task(task(), name=name) for name, task in app.tasks.items()]
    try:
        yield played
        assert not any(task.done() for task in tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
