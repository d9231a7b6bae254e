"""Peers as processes: started when they are needed, gone when their parent is, however it went."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from joiner.solver.v1 import solver_pb2_grpc

from libs.domain.question import SolveQuestion
from libs.domain.solution import SolveOptions
from libs.wire.question import encode_solve_question
from libs.wire.solution import decode_solution
from services.solver.core.solve import solve
from tests.contract.snapshots.serving import eventually, network
from tests.contract.solver.crews import ENDLESS, SNAPSHOT

ROOT = Path(__file__).parents[3]


def asking(options: SolveOptions) -> Any:
    return encode_solve_question(SolveQuestion(snapshot=SNAPSHOT, options=options))


@contextlib.asynccontextmanager
async def solver() -> AsyncIterator[tuple[Process, Any]]:
    """A solver process that may have one peer, and a stub that asks it."""
    settings = {
        "LISTEN": "127.0.0.1:0",
        "PROBE_LISTEN": "127.0.0.1:0",
        "PROCESSES": "2",
        "GRACE_PERIOD": "1s",
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.solver"),
        cwd=ROOT,
        env={**os.environ, **{f"JOINER_CFG_{name}": value for name, value in settings.items()}},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        port = (await line(process, "listening"))["ports"][0]
        async with network() as dialled:
            yield process, solver_pb2_grpc.SolverServiceStub(dialled.channel(f"127.0.0.1:{port}"))
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def line(process: Process, message: str) -> dict[str, Any]:
    """Read the log up to the line with this message."""
    assert process.stdout is not None
    async for text in process.stdout:
        found: dict[str, Any] = json.loads(text)
        if found["message"] == message:
            return found
    raise AssertionError(f"the process ended without saying {message!r}")


@contextlib.asynccontextmanager
async def two_at_once(process: Process, stub: Any) -> AsyncIterator[int]:
    """Ask two questions without end, wait for the peer; give its process id."""
    calls = [stub.Solve(asking(ENDLESS), timeout=60) for _ in range(2)]
    tasks = [asyncio.ensure_future(_awaited(call)) for call in calls]
    try:
        yield (await line(process, "peer is ready"))["pid"]
    finally:
        for call in calls:
            call.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _awaited(call: Any) -> Any:
    return await call


def runs(pid: int) -> bool:
    """Tell whether a process runs; one that has ended and that nobody has asked about does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def socket_folder(pid: int) -> Path:
    return Path(Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[3].decode()).parent


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to look at")


@linux
@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGKILL])
async def test_a_peer_goes_with_its_parent(signum: signal.Signals) -> None:
    async with solver() as (process, stub), two_at_once(process, stub) as peer:
        folder = socket_folder(peer)
        assert runs(peer)
        assert folder.stat().st_mode & 0o077 == 0

        process.send_signal(signum)
        status = await process.wait()

        assert status == (0 if signum is signal.SIGTERM else -signal.SIGKILL)
        await eventually(lambda: not runs(peer))
        await eventually(lambda: not folder.exists())


@linux
async def test_a_peer_that_is_killed_costs_no_answer_and_is_replaced() -> None:
    async with solver() as (process, stub), two_at_once(process, stub) as peer:
        long = SolveOptions(refine_iterations=20_000)
        asked = asyncio.ensure_future(_awaited(stub.Solve(asking(long), timeout=60)))
        os.kill(peer, signal.SIGTERM)  # which is for its parent to heed
        os.kill(peer, signal.SIGKILL)

        assert decode_solution(await asked) == solve(SNAPSHOT, long)
        assert (await line(process, "peer is ready"))["pid"] != peer
