"""The garbage collector: asks every provider for all its instances, pass after pass."""

import logging

from libs.domain.errors import JoinerError, NotFound
from libs.domain.provider import Instance
from services.lifecycle.access import Access
from services.lifecycle.adapters.providers import Served
from services.lifecycle.core.claim_writes import deletion, disrupted
from services.lifecycle.core.garbage import INTERVAL, Garbage, GarbageView, collect
from services.lifecycle.core.step import Step
from services.lifecycle.core.view import DEFAULT_POLICY

logger = logging.getLogger(__name__)


class Collector:
    """Ends what has no counterpart, with the brakes of `core.garbage`."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._before: dict[str, tuple[Instance, ...]] = {}

    async def run(self) -> None:
        """Make a pass over every provider at each interval, until cancelled."""
        self._before = {}
        while True:
            await self._access.clock.sleep(INTERVAL)
            for served in self._access.providers.all_served():
                try:
                    await self._pass(served)
                except (JoinerError, TimeoutError) as error:
                    logger.warning(
                        "garbage was not looked for",
                        extra={"group": served.capabilities.group, "error": str(error)},
                    )

    async def _pass(self, served: Served) -> None:
        group = served.capabilities.group
        listed = await served.provider.list()
        garbage = collect(self._view(group, listed))
        self._before[group] = listed
        if garbage.problem:
            logger.error(
                "garbage is not judged", extra={"group": group, "problem": garbage.problem}
            )
        await self._end(served, garbage)

    def _view(self, group: str, listed: tuple[Instance, ...]) -> GarbageView:
        cache = self._access.cache
        return GarbageView(
            before=self._before.get(group),
            listed=listed,
            claims=tuple(
                claim for claim in cache.claims() if claim.spec.node_class_ref.group == group
            ),
            nodes={node.spec.provider_id: node for node in cache.nodes() if node.spec.provider_id},
            launch_timeout=DEFAULT_POLICY.launch_timeout,
            now=self._access.clock.now(),
        )

    async def _end(self, served: Served, garbage: Garbage) -> None:
        for instance in garbage.instances:
            logger.warning("ending a leaked instance", extra={"provider_id": instance.provider_id})
            try:
                await served.provider.delete(instance.provider_id)
            except NotFound:
                continue
        for claim in garbage.claims:
            counts = (disrupted(claim, "garbage_collected"),)
            await self._access.writer.carry_out(Step(writes=(deletion(claim),), counts=counts))
