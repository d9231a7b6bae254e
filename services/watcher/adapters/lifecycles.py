"""Lifecycle, whichever of its replicas leads."""

from libs.clients.lifecycle import LifecycleClient
from libs.domain.errors import JoinerError, NotReady, Unavailable
from libs.domain.execution import ApplyRequest, ApplyResult
from libs.runtime.network import Network

_ASK_ANOTHER = (NotReady, Unavailable)


class LeadingLifecycle:
    """Asks the replica that answered last; while that one does not lead, the others."""

    def __init__(self, name: str, network: Network) -> None:
        self._name = name
        self._network = network
        self._leader = ""

    async def apply_plan(self, request: ApplyRequest) -> ApplyResult:
        """Have a plan carried out.

        A replica that did not answer may have carried it out; the next one is asked all the same,
        because names of claims derive from the plan.

        Raises:
            StaleRevision: the premise is gone, decide again.
            NotReady: nobody leads, or the leader is not synced.
            Unavailable: nobody answers.
        """
        last: JoinerError = Unavailable(f"nobody is behind {self._name}")
        for address in await self._addresses():
            client = LifecycleClient(self._network.channel(address))
            try:
                result = await client.apply_plan(request)
            except _ASK_ANOTHER as error:
                last = error
                continue
            self._leader = address
            return result
        raise last

    async def _addresses(self) -> list[str]:
        addresses = await self._network.resolve(self._name)
        return sorted(addresses, key=lambda one: (one != self._leader, one))
