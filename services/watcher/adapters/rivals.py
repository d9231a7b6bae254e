"""Is Karpenter alive? As long as it is, Joiner only reports (`docs/architecture.md`, law 8)."""

import logging
from datetime import timedelta

from libs.domain.errors import JoinerError
from libs.kube.api import KubeApi
from libs.kube.leases import KARPENTER_LEASE, fresh_lease
from libs.runtime.clock import Clock
from libs.runtime.health import Health
from services.watcher.metrics import Metrics

logger = logging.getLogger(__name__)

HEALTH_NAME = "acting"
"""Served while plans are applied, not served while a rival is alive or nobody knows."""

_EVERY = timedelta(seconds=10)


class KarpenterLease:
    """Looks at Karpenter's lease, before each plan and now and then."""

    def __init__(self, api: KubeApi, clock: Clock, health: Health, metrics: Metrics) -> None:
        self._api = api
        self._clock = clock
        self._health = health
        self._metrics = metrics
        self._known: str | None = None
        """What the last look found; None: it failed, or there was none."""

    async def look(self) -> str:
        """Return `namespace/name` of a lease that is held now, empty if there is none.

        Raises:
            JoinerError: the API server does not say.
        """
        try:
            found = await fresh_lease(self._api, KARPENTER_LEASE, self._clock.now())
        except JoinerError:
            self._known = None
            await self._health.set(HEALTH_NAME, False)
            raise
        if found != self._known:
            self._tell(found)
        self._known = found
        await self._health.set(HEALTH_NAME, not found)
        return found

    async def run(self) -> None:
        """Look now and then, for health and metrics, until cancelled."""
        while True:
            try:
                await self.look()
            except JoinerError as error:
                logger.warning("cannot look for a rival", extra={"error": str(error)})
            await self._clock.sleep(_EVERY)

    def _tell(self, found: str) -> None:
        self._metrics.rival.set(1 if found else 0)
        if found:
            logger.warning(
                "a live Karpenter holds its lease, only reporting", extra={"lease": found}
            )
        elif self._known:
            logger.info("Karpenter's lease has ended, acting", extra={"lease": self._known})
