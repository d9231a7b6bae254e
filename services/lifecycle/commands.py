"""Commands under way: looked at like any object, their progress told to whoever watches."""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from datetime import timedelta
from types import MappingProxyType

from libs.domain import labels as keys
from libs.domain.errors import InvalidRequest
from libs.domain.execution import CommandProgress, CommandState
from libs.domain.nodeclaim import ClaimCommand
from libs.kube.convert.nodepool import nodepool
from libs.kube.objects.karpenter import NodeClaim
from libs.runtime.clock import Clock
from libs.runtime.latest import LatestValue
from services.lifecycle.access import Access
from services.lifecycle.adapters.cache import Cache
from services.lifecycle.core.commands import (
    CandidateView,
    CommandView,
    command_of,
    next_step,
    reason_of,
)
from services.lifecycle.loop import Key, Kind, TryAgainError

_MOST_ROUNDS = 10
_ENDED = frozenset({CommandState.DONE, CommandState.FAILED})
_REMEMBERED = 1000
_POLICIES = {
    "WhenEmpty": "when_empty",
    "WhenEmptyOrUnderutilized": "when_empty_or_underutilized",
    "Balanced": "balanced",
}


class CommandBoard:
    """How far every command is, and was."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._progress: LatestValue[Mapping[str, CommandProgress]] = LatestValue()

    def set(self, command_id: str, state: CommandState, message: str = "") -> None:
        """Take the state of a command; the same state again is no change."""
        before = self._current()
        known = before.get(command_id)
        if known is not None and (known.state is state or known.state in _ENDED):
            return
        new = CommandProgress(
            command_id=command_id, state=state, message=message, changed_at=self._clock.now()
        )
        after = {**before, command_id: new}
        ended = [name for name, one in after.items() if one.state in _ENDED]
        for name in ended[: max(0, len(ended) - _REMEMBERED)]:
            del after[name]
        self._progress.set(MappingProxyType(after))

    def knows(self, command_id: str) -> bool:
        """Tell whether anything is known of a command."""
        return command_id in self._current()

    async def watch(self) -> AsyncIterator[CommandProgress]:
        """Yield the state of all commands under way, then every change, for ever."""
        seen = {name: one for name, one in self._current().items() if one.state in _ENDED}
        version = 0
        while True:
            for name, progress in self._current().items():
                if seen.get(name) != progress:
                    seen[name] = progress
                    yield progress
            version = (await self._progress.newer_than(max(version, 0))).version

    def _current(self) -> Mapping[str, CommandProgress]:
        found = self._progress.current
        return found.value if found is not None else MappingProxyType({})


class CommandReconciler:
    """Brings one command after the other to its end."""

    def __init__(self, access: Access, board: CommandBoard, enqueue: Callable[[Key], None]) -> None:
        self._cache = access.cache
        self._writer = access.writer
        self._clock = access.clock
        self.board = board
        self._enqueue = enqueue
        self._starting: set[str] = set()

    @contextlib.contextmanager
    def starting(self, command_id: str) -> Iterator[None]:
        """Leave a command alone while it is being started: until then it looks half done."""
        self._starting.add(command_id)
        try:
            yield
            self.board.set(command_id, CommandState.WAITING)
        finally:
            self._starting.discard(command_id)
            self._enqueue(Key(Kind.COMMAND, command_id))

    async def look(self, key: Key) -> timedelta | None:
        """Do what is to be done for one command and return when to look again."""
        if key.name in self._starting:
            return None
        for _ in range(_MOST_ROUNDS):
            claims = under_command(key.name, self._cache)
            if not claims:
                if self.board.knows(key.name):
                    self.board.set(key.name, CommandState.DONE)
                return None
            found = next_step(self._view(claims))
            known = await self._writer.carry_out(found.step)
            self.board.set(key.name, found.state, found.message)
            if found.state is CommandState.FAILED:
                return None
            if not found.step.writes or not known:
                return found.step.check_after
        raise TryAgainError("the command does not come to rest")

    def _view(self, claims: tuple[NodeClaim, ...]) -> CommandView:
        command = command_of(claims[0])
        assert command is not None
        replacements = {
            name: claim
            for name in command.replacements
            if (claim := self._cache.claim(name)) is not None
        }
        return CommandView(
            command=command,
            candidates=tuple(self._candidate(claim) for claim in claims),
            replacements=replacements,
            queued=sum(command_of(claim) is not None for claim in self._cache.claims()),
            policies={claim.metadata.name: self._policy(claim) for claim in claims},
            now=self._clock.now(),
        )

    def _candidate(self, claim: NodeClaim) -> CandidateView:
        nodes = self._cache.nodes_of(claim)
        return CandidateView(claim=claim, node=nodes[0] if nodes else None)

    def _policy(self, claim: NodeClaim) -> str:
        """Return the consolidation policy as counters name it; drift has none."""
        pool = self._cache.pool(claim.metadata.labels.get(keys.NODEPOOL, ""))
        if pool is None or reason_of(claim) == "Drifted":
            return ""
        try:
            return _POLICIES[nodepool(pool).disruption.consolidation_policy]
        except InvalidRequest:
            return ""


def under_command(command_id: str, cache: Cache) -> tuple[NodeClaim, ...]:
    """Return the claims that a command disrupts, sorted by name."""
    found = (claim for claim in cache.claims() if _id(command_of(claim)) == command_id)
    return tuple(sorted(found, key=lambda claim: claim.metadata.name))


def _id(command: ClaimCommand | None) -> str:
    return "" if command is None else command.id
