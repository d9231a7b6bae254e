"""`Providers`: which provider serves which group of node classes, and what each one is.

A provider that cannot be reached holds up its own claims and classes, nobody else's. It is asked
again and again what it is, and whatever waits for it is woken as soon as it answers.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from libs.domain import labels as keys
from libs.domain.errors import InvalidRequest, JoinerError, Unavailable
from libs.domain.provider import Capabilities
from libs.domain.validation import CORE_RULES, KeyRules
from libs.kube.api import Resource
from libs.kube.informer import Informer
from libs.runtime.app import Runtime
from libs.runtime.backoff import BackoffPolicy
from services.lifecycle.adapters.outages import WatchedProvider
from services.lifecycle.ports import Provider

logger = logging.getLogger(__name__)

_KNOCKING = BackoffPolicy(cap=timedelta(milliseconds=500))
"""Between questions to a provider that is away: one that starts is found within a second."""

Follow = Callable[[Resource], Informer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A provider that answered, and where its classes live in Kubernetes."""

    provider: Provider
    capabilities: Capabilities
    resource: Resource
    rules: KeyRules


class Providers:
    """Providers by the group of their node classes."""

    def __init__(self, providers: Mapping[str, Provider], runtime: Runtime) -> None:
        self._away = {group: asyncio.Event() for group in providers}
        """Set when a call was not answered."""
        self._providers = {
            group: WatchedProvider(one, self._away[group].set) for group, one in providers.items()
        }
        self._runtime = runtime
        self._served: dict[str, Served] = {}

    def groups(self) -> tuple[str, ...]:
        """Return all groups that a provider is configured for, sorted."""
        return tuple(sorted(self._providers))

    def served(self, group: str) -> Served:
        """Return the provider of a group.

        Raises:
            InvalidRequest: none is configured.
            Unavailable: it has not answered yet.
        """
        if group not in self._providers:
            known = ", ".join(self.groups()) or "none"
            raise InvalidRequest(f'no provider serves node classes of "{group}", only of {known}')
        found = self._served.get(group)
        if found is None:
            raise Unavailable(f'the provider of "{group}" has not answered yet')
        return found

    def all_served(self) -> tuple[Served, ...]:
        """Return all providers that have answered."""
        return tuple(self._served[group] for group in sorted(self._served))

    def rules(self, group: str) -> KeyRules:
        """Return which label keys the provider of a group allows; the core's, if it is unknown."""
        found = self._served.get(group)
        return CORE_RULES if found is None else found.rules

    async def run(self, follow: Follow, on_served: Callable[[str], None]) -> None:
        """Ask every provider what it is, then follow its classes; until cancelled.

        Args:
            follow: makes the informer of a kind.
            on_served: called with a provider's group when it first answers, and whenever it
                answers again after it was away.
        """
        async with asyncio.TaskGroup() as group:
            for name in self.groups():
                group.create_task(self._serve(name, follow, on_served), name=f"provider {name}")
            await asyncio.Event().wait()

    async def _serve(self, group: str, follow: Follow, on_served: Callable[[str], None]) -> None:
        capabilities = await self._ask_until_answered(group)
        served = _served(self._providers[group], capabilities)
        informer = follow(served.resource)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(informer.run(), name=f"informer {served.resource.plural}")
            await informer.synced.wait()
            self._served[group] = served
            while True:
                logger.info("provider answered", extra={"group": group})
                on_served(group)
                await self._back_from_outage(group)

    async def _back_from_outage(self, group: str) -> None:
        """Wait until the provider was away and answers again.

        A call that failed though the provider answers is that call's matter, and is repeated with
        its own backoff.
        """
        away = self._away[group]
        while True:
            away.clear()
            await away.wait()
            try:
                await self._ask(group)
            except (JoinerError, TimeoutError):
                await self._ask_until_answered(group)
                return

    async def _ask_until_answered(self, group: str) -> Capabilities:
        backoff = self._runtime.backoff(_KNOCKING)
        complaint = ""
        while True:
            try:
                return await self._ask(group)
            except (JoinerError, TimeoutError) as error:
                if str(error) != complaint:
                    complaint = str(error)
                    logger.warning(
                        "provider does not answer", extra={"group": group, "error": complaint}
                    )
            await backoff.wait()

    async def _ask(self, group: str) -> Capabilities:
        capabilities = await self._providers[group].get_capabilities()
        if capabilities.group != group:
            raise InvalidRequest(f'it serves "{capabilities.group}"', field=f"providers.{group}")
        return capabilities


def class_resource(capabilities: Capabilities) -> Resource:
    """Return where the classes of a provider live: kinds end in `Class`, their plural in `es`."""
    return Resource(
        group=capabilities.group,
        version=capabilities.versions[0] if capabilities.versions else "v1",
        kind=capabilities.kind,
        plural=f"{capabilities.kind.lower()}es",
    )


def _served(provider: Provider, capabilities: Capabilities) -> Served:
    rules = KeyRules(
        well_known=keys.WELL_KNOWN | frozenset(capabilities.well_known_keys),
        restricted_domains=frozenset(capabilities.restricted_domains),
    )
    return Served(
        provider=provider,
        capabilities=capabilities,
        resource=class_resource(capabilities),
        rules=rules,
    )
