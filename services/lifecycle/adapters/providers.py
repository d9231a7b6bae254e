"""`Providers`: which provider serves which group of node classes, and what each one is.

A provider that cannot be reached holds up its own claims and classes, nobody else's.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from libs.domain import labels as keys
from libs.domain.errors import InvalidRequest, JoinerError, Unavailable
from libs.domain.provider import Capabilities
from libs.domain.validation import CORE_RULES, KeyRules
from libs.kube.api import Resource
from libs.kube.informer import Informer
from libs.runtime.app import Runtime
from services.lifecycle.ports import Provider

logger = logging.getLogger(__name__)

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
        self._providers = providers
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

    async def run(self, follow: Follow, on_served: Callable[[], None]) -> None:
        """Ask every provider what it is, then follow its classes; until cancelled.

        Args:
            follow: makes the informer of a kind.
            on_served: called whenever a provider can be used from now on.
        """
        async with asyncio.TaskGroup() as group:
            for name in self.groups():
                group.create_task(self._serve(name, follow, on_served), name=f"provider {name}")
            await asyncio.Event().wait()

    async def _serve(self, group: str, follow: Follow, on_served: Callable[[], None]) -> None:
        capabilities = await self._ask_until_answered(group)
        served = _served(self._providers[group], capabilities)
        informer = follow(served.resource)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(informer.run(), name=f"informer {served.resource.plural}")
            await informer.synced.wait()
            self._served[group] = served
            logger.info("provider answered", extra={"group": group})
            on_served()

    async def _ask_until_answered(self, group: str) -> Capabilities:
        backoff = self._runtime.backoff()
        while True:
            try:
                return await self._ask(group)
            except (JoinerError, TimeoutError) as error:
                logger.warning(
                    "provider does not answer", extra={"group": group, "error": str(error)}
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
