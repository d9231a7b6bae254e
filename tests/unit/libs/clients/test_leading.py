"""Finding the leader among replicas, of which a fake network knows the addresses."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from libs.clients.leading import Leading
from libs.domain.errors import NotReady, StaleRevision, Unavailable
from libs.runtime.virtual import run_virtual


class FakeNetwork:
    """Channels are the addresses themselves."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses

    def channel(self, target: str) -> Any:
        return target

    async def resolve(self, target: str) -> tuple[str, ...]:
        return self._addresses

    async def close(self) -> None:
        return


def answering(answers: dict[str, Any], seen: list[str]) -> Callable[[Any], Awaitable[Any]]:
    async def call(client: Any) -> Any:
        seen.append(client)
        answer = answers[client]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return call


def leading(*addresses: str) -> Leading[Any]:
    return Leading("name:1", FakeNetwork(*addresses), lambda channel: channel)


def test_the_leader_is_found_and_asked_first_the_next_time() -> None:
    async def scenario() -> None:
        seen: list[str] = []
        replicas = leading("a", "b", "c")
        call = answering({"a": NotReady("no"), "b": Unavailable("down"), "c": "yes"}, seen)

        assert await replicas.ask(call) == "yes"
        assert await replicas.ask(call) == "yes"
        assert seen == ["a", "b", "c", "c"]

    run_virtual(scenario())


def test_a_leaders_refusal_is_final() -> None:
    async def scenario() -> None:
        seen: list[str] = []

        with pytest.raises(StaleRevision):
            await leading("a", "b").ask(answering({"a": StaleRevision("gone")}, seen))
        assert seen == ["a"]

    run_virtual(scenario())


def test_where_nobody_leads_the_last_answer_is_raised() -> None:
    async def scenario() -> None:
        call = answering({"a": Unavailable("down"), "b": NotReady("b does not lead")}, [])

        with pytest.raises(NotReady, match="b does not lead"):
            await leading("a", "b").ask(call)
        with pytest.raises(Unavailable, match="nobody is behind name:1"):
            await leading().ask(call)

    run_virtual(scenario())
