"""`Sky`: the weather in force, and what it does to requests on their way to the API server.

Between the server, which knows of no weather, and what carries requests to it: HTTP, or the
in-memory transport. Laws: draws come from the given randomness alone, one for each failure that
concerns a request; a pause ends for all who wait at the same instant.

    await sky.calm()                              # as long as the API server is paused
    answer = sky.refusal(request) or server.handle(request)
    with sky.watching(request, answer.stream):    # so that scripts can cut it
        ...
"""

import asyncio
import contextlib
from collections.abc import Iterator

from libs.runtime.randomness import Random
from services.simulator.core.api import routing
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.messages import Request, Response, Stream
from services.simulator.core.api.resources import Catalogue
from services.simulator.core.api.routing import Route
from services.simulator.core.weather import FINE, Weather, asked_by


class Sky:
    """The weather over one API server; of one event loop."""

    def __init__(self, resources: Catalogue, random: Random) -> None:
        """Begin with fine weather.

        Args:
            resources: what the server serves.
            random: which requests of a share are hit.
        """
        self._resources = resources
        self._random = random
        self._weather = FINE
        self._calm = asyncio.Event()
        self._calm.set()
        self._open: dict[Stream, str] = {}

    @property
    def weather(self) -> Weather:
        """The weather in force."""
        return self._weather

    def change(self, weather: Weather) -> None:
        """Let another weather be in force from now on."""
        self._weather = weather
        if weather.paused:
            self._calm.clear()
        else:
            self._calm.set()

    def cut_watches(self, resources: frozenset[str] = frozenset()) -> int:
        """End the watches of these resources, or all; return how many there were."""
        hit = [one for one, name in self._open.items() if not resources or name in resources]
        for stream in hit:
            stream.close()
        return len(hit)

    async def calm(self) -> None:
        """Wait until the API server is not paused."""
        while self._weather.paused:
            await self._calm.wait()

    def refusal(self, request: Request) -> Response | None:
        """Return what the weather answers instead of the server, None if it lets it through."""
        failures = self._weather.failures
        if not failures:
            return None
        asked = asked_by(request, self._route(request))
        for one in failures:
            if one.concerns(asked) and (one.share >= 1 or self._random.random() < one.share):
                return one.answer()
        return None

    @contextlib.contextmanager
    def watching(self, request: Request, stream: Stream) -> Iterator[None]:
        """Let scripts cut a watch while it is carried."""
        route = self._route(request)
        self._open[stream] = route.resource.qualified if route else ""
        try:
            yield
        finally:
            del self._open[stream]

    def _route(self, request: Request) -> Route | None:
        try:
            return routing.parse(request.path, self._resources)
        except ApiError:
            return None
