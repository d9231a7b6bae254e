"""Finds the replica that leads among those of a service with leader election.

Apart from the clients because it is the same for all of them: a replica that does not lead answers
NotReady, and a channel to the service's name would stay with whichever replica it met first.
"""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import grpc

from libs.domain.errors import JoinerError, NotReady, Unavailable
from libs.runtime.network import Network

C = TypeVar("C")
T = TypeVar("T")

_ASK_ANOTHER = (NotReady, Unavailable)


class Leading(Generic[C]):
    """Asks the replica that answered last; while that one does not lead, the others."""

    def __init__(
        self, target: str, network: Network, connect: Callable[[grpc.aio.Channel], C]
    ) -> None:
        self._target = target
        self._network = network
        self._connect = connect
        self._leader = ""

    async def ask(self, call: Callable[[C], Awaitable[T]]) -> T:
        """Return the leader's answer.

        Args:
            call: one call on a client. It may reach several replicas, also after one that did not
                answer has carried it out, so it must be idempotent by a key of its own.

        Raises:
            NotReady: nobody leads, or the leader is not synced.
            Unavailable: nobody answers.
        """
        last: JoinerError = Unavailable(f"nobody is behind {self._target}")
        for address in await self._addresses():
            try:
                answer = await call(self._connect(self._network.channel(address)))
            except _ASK_ANOTHER as error:
                last = error
                continue
            self._leader = address
            return answer
        raise last

    async def _addresses(self) -> list[str]:
        addresses = await self._network.resolve(self._target)
        return sorted(addresses, key=lambda one: (one != self._leader, one))
