"""`Telling`: looks at the cluster every second and shows it, whatever the run is waiting for."""

from collections.abc import Iterable
from datetime import timedelta
from typing import NoReturn

from cli.run.news import news
from cli.run.observed import Observed
from cli.run.progress import Prices, Progress, World, measure, price_of
from cli.run.view import Display, Screen
from libs.collections.ring_buffer import RingBuffer
from libs.kube.objects.karpenter import NodeClaim
from libs.runtime.clock import Clock

_EVERY = timedelta(seconds=1)
_NEWS_SHOWN = 8


class Telling:
    """The story so far."""

    def __init__(
        self,
        observed: Observed,
        display: Display,
        clock: Clock,
        *,
        began: float,
        prices: Prices,
        unplaceable: Iterable[str],
    ) -> None:
        """Take what is observed, where to show it, and since when (monotonic) the run lasts."""
        self.phase = ""
        self.footer = ""
        self.costs: list[int] = []
        self.bought: dict[str, int] = {}
        """Nano-dollars per hour of every claim that was launched, by name, as the cloud chose."""
        self._observed = observed
        self._display = display
        self._clock = clock
        self._began = began
        self._prices = prices
        self._unplaceable = frozenset(unplaceable)
        self._news: RingBuffer[str] = RingBuffer(_NEWS_SHOWN)
        self._claims: tuple[NodeClaim, ...] = ()

    async def run(self) -> NoReturn:
        """Show until cancelled."""
        while True:
            self.show()
            await self._clock.sleep(_EVERY)

    def begin(self, phase: str) -> None:
        """Begin a phase."""
        self.phase = phase
        self.show()

    def tell(self, line: str) -> None:
        """Tell something once, and keep it in view for a while."""
        self._news.insert(f"{self.elapsed.seconds:>4} s  {line}")
        self._display.say(f"{self.elapsed.seconds:>4} s  {line}")

    def show(self) -> None:
        """Show the present state and what was decided since the last look."""
        world = self.world()
        for line in news(self._claims, world.claims, self._prices):
            self.tell(line)
        self._claims = world.claims
        prices = {one.metadata.name: price_of(one, self._prices) for one in world.claims}
        self.bought |= {name: price for name, price in prices.items() if price}
        progress = self.measure()
        self.costs.append(progress.price_nanos_per_hour)
        self._display.show(
            Screen(
                phase=self.phase,
                elapsed=self.elapsed,
                progress=progress,
                costs=tuple(self.costs),
                news=tuple(self._news),
                footer=self.footer,
            )
        )

    def measure(self) -> Progress:
        """Return the present state in numbers."""
        return measure(self.world(), self._observed.pools, self._prices, self._unplaceable)

    def world(self) -> World:
        """Return what is there."""
        return World(
            pods=tuple(self._observed.pods.values()),
            nodes=tuple(self._observed.nodes.values()),
            claims=tuple(self._observed.claims.values()),
        )

    @property
    def elapsed(self) -> timedelta:
        """Time since the beginning."""
        return timedelta(seconds=self._clock.monotonic() - self._began)
