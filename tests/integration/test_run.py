"""The demonstration with real processes: a small shop to the end, and every way to end early."""

import asyncio
import contextlib
import io
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from rich.console import Console

from cli.run import demonstration, processes, services, shop
from cli.run.demonstration import Interrupted, Stage
from cli.run.processes import Processes, ServiceEnded
from cli.run.workload import Kind, Workload
from libs.runtime.clock import SystemClock

pytestmark = pytest.mark.integration

CLOCK = SystemClock()
SMALL_SHOP = (
    Workload("web", 6, "500m", "512Mi", namespace="shop", zone_spread=True, max_unavailable=1),
    Workload("resizer", 2, "1500m", "1Gi", namespace="shop", peak=14),
    Workload("cache", 3, "500m", "1Gi", namespace="shop", one_per_node=True),
    Workload("edge", 2, "500m", "512Mi", namespace="shop", arch="arm64"),
    Workload("model", 1, "2", "8Gi", namespace="shop", gpus=1),
    Workload(
        "db",
        2,
        "1",
        "4Gi",
        namespace="shop",
        kind=Kind.STATEFUL_SET,
        volume="zonal-ssd",
        pool_label=("tier", "data"),
    ),
    Workload("agent", 0, "50m", "64Mi", namespace="kube-system", kind=Kind.DAEMON_SET),
    Workload("huge", 1, "1", "40Ti", namespace="shop", placeable=False),
)


def a_stage(folder: Path, out: io.StringIO, *, keep: bool = False) -> Stage:
    return Stage(
        place=folder,
        console=Console(file=out, width=100),
        stop=asyncio.Event(),
        keep=keep,
        began=CLOCK.monotonic(),
    )


@pytest.mark.timeout(240)
async def test_a_small_shop_gets_its_nodes_grows_shrinks_and_is_judged_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shop, "WORKLOADS", SMALL_SHOP)
    monkeypatch.setattr(shop, "NAMESPACES", ("shop",))
    out = io.StringIO()

    accepted = await demonstration.demonstrate(a_stage(tmp_path, out))

    text = out.getvalue()
    assert accepted, text
    assert "gave back general-" in text
    assert text.count("  checker: accepted") == 3
    assert "16 pods and" in summary_line(text, "all running: ")
    assert "28 pods and" in summary_line(text, "scaled up: ")
    assert "16 pods and" in summary_line(text, "scaled down: ")
    assert "memory" in summary_line(text, "nothing can place shop/huge-")
    assert await answering(tmp_path) == []


SCRIPT = """
name: a small script
until: 20s
steps:
  - at: 0s
    apply:
      - apiVersion: v1
        kind: Node
        metadata: {name: n1}
        spec: {providerID: "kwok://n1"}
        status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}}
      - apiVersion: v1
        kind: Pod
        metadata: {name: web}
        spec: {containers: [{name: main, image: a}]}
  - at: 8s
    throttle: {requests: {share: 0.2}}
    lasts: 5s
"""


@pytest.mark.timeout(240)
async def test_a_script_plays_in_place_of_the_shop(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT)
    out = io.StringIO()

    accepted = await demonstration.demonstrate(replace(a_stage(tmp_path, out), script=script))

    text = out.getvalue()
    assert accepted, text
    assert "0:00:00.0  apply  Pod default/web  created" in text
    assert "0:00:08.0  api fails  429 for 20% of all requests" in text
    assert "0:00:13.0  api fails no more" in text
    assert text.count("  checker: accepted") == 1
    assert "buying nodes" not in text


@pytest.mark.timeout(90)
async def test_being_told_to_stop_ends_every_process(tmp_path: Path) -> None:
    stage = a_stage(tmp_path, io.StringIO())
    running = asyncio.create_task(demonstration.demonstrate(stage))
    await appears(tmp_path / "solver.log")

    stage.stop.set()
    with pytest.raises(ExceptionGroup) as found:
        await running

    assert found.group_contains(Interrupted)
    assert await answering(tmp_path) == []


@pytest.mark.timeout(90)
async def test_the_command_ends_its_processes_when_it_is_interrupted(tmp_path: Path) -> None:
    command = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from cli.main import main; main()",
        "run",
        "--folder",
        str(tmp_path),
        env={"PATH": os.environ["PATH"]},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert command.stdout is not None
    lines = [await command.stdout.readline()]
    while b"starting provider_kwok" not in lines[-1]:
        assert lines[-1], b"".join(lines)
        lines.append(await command.stdout.readline())

    command.send_signal(signal.SIGINT)
    rest, _ = await command.communicate()

    assert command.returncode == 130, rest
    assert b"interrupted" in rest
    (folder,) = await asyncio.to_thread(lambda: list(tmp_path.iterdir()))
    assert await answering(folder) == []


async def test_a_service_that_dies_is_named_with_the_end_of_its_log(tmp_path: Path) -> None:
    async with solver(tmp_path) as (started, service):
        await started.start([service])
        pid = started.pid(service.name)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ServiceEnded, match="solver ended with status -9") as found:
            await started.watch()

    assert any("serving" in line for line in found.value.last_lines)


async def test_a_service_that_refuses_its_settings_is_named_with_its_reason(
    tmp_path: Path,
) -> None:
    async with solver(tmp_path, CATALOGUEZ="1") as (started, service):
        with pytest.raises(ExceptionGroup) as found:
            await started.start([service])

    assert found.group_contains(ServiceEnded, match="solver ended with status 2")
    assert "JOINER_CFG_CATALOGUEZ is not a setting" in (tmp_path / "solver.log").read_text()


@contextlib.asynccontextmanager
async def solver(
    folder: Path, **settings: str
) -> AsyncIterator[tuple[Processes, services.Service]]:
    """Give the solver, which needs nobody, ready to be started."""
    with processes.free_ports(2) as ports:
        listen, probe = (f"127.0.0.1:{port}" for port in ports)
    service = services.Service(name="solver", listen=listen, probe=probe, settings=settings)
    async with processes.ended_at_last(folder, CLOCK) as started:
        yield started, service


def summary_line(text: str, start: str) -> str:
    """Return the one line that begins so."""
    (line,) = (line for line in text.splitlines() if line.startswith(start))
    return line


async def appears(file: Path) -> None:
    """Wait until a file is there."""
    async with asyncio.timeout(60):
        while not await asyncio.to_thread(file.exists):
            await CLOCK.sleep(timedelta(milliseconds=50))


async def answering(folder: Path) -> list[str]:
    """Return the services whose probe listener can still be reached."""
    found = []
    for log in await asyncio.to_thread(lambda: sorted(folder.glob("*.log"))):
        for port in ports_in(await asyncio.to_thread(log.read_text)):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    found.append(log.stem)
    return found


def ports_in(text: str) -> list[int]:
    """Return the ports of probe listeners that a log names."""
    lines = (line for line in text.splitlines() if "probes are served" in line)
    return [int(line.rpartition('"port": ')[2].rstrip("}")) for line in lines]
