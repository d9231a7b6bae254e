import subprocess
import sys

from tests.unit.cli.command import joiner

HEAVY = {"aiohttp", "google.protobuf", "grpc", "msgspec", "numpy", "yaml"}


def test_the_help_imports_nothing_heavy() -> None:
    code = "import cli.main, sys; print(*sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=30
    )

    assert "cli.main" in done.stdout.split()
    assert HEAVY.isdisjoint(done.stdout.split())


def test_every_command_has_help() -> None:
    done = joiner("--help")

    assert done.code == 0
    for command in ("plan", "check", "explain", "verdicts", "import", "run"):
        assert f" {command} " in done.out
        assert joiner(command, "--help").code == 0
