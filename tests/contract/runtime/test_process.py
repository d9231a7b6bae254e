"""A real process from start to exit: order, probes, signals and exit statuses."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_channelz.v1 import channelz_pb2, channelz_pb2_grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from tests.contract.runtime.echo import SERVICE
from tests.support.certificates import new_authority

ROOT = Path(__file__).parents[3]


class Process:
    """A started service, its log line by line."""

    def __init__(self, **settings: str) -> None:
        environ = {f"JOINER_CFG_{name.upper()}": value for name, value in settings.items()}
        defaults = {"JOINER_CFG_LISTEN": "127.0.0.1:0", "JOINER_CFG_PROBE_LISTEN": "127.0.0.1:0"}
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "tests.contract.runtime.process"],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], **defaults, **environ},
            stdout=subprocess.PIPE,
            text=True,
        )

    def line(self, message: str) -> dict[str, Any]:
        """Read the log up to the line with this message."""
        assert self.popen.stdout is not None
        for text in self.popen.stdout:
            line: dict[str, Any] = json.loads(text)
            if line["message"] == message:
                return line
        raise AssertionError(f"the process ended without saying {message!r}")

    def stop(self) -> int:
        self.popen.send_signal(signal.SIGTERM)
        return self.popen.wait(30)


@contextlib.contextmanager
def started(**settings: str) -> Iterator[Process]:
    process = Process(**settings)
    try:
        yield process
    finally:
        process.popen.kill()
        process.popen.communicate()


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def call(channel: grpc.Channel, kind: str, method: str) -> Any:
    return getattr(channel, kind)(f"/{SERVICE}/{method}")


def test_a_service_serves_probes_metrics_and_calls_and_leaves_with_zero() -> None:
    with started() as process:
        probe = process.line("probes are served")["port"]
        port = process.line("listening")["ports"][0]
        process.line("serving")
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            answer = call(channel, "unary_unary", "One")(b"hello", timeout=10)
            database = ProtoReflectionDescriptorDatabase(channel)
            names = set(database.get_services())
            stub = channelz_pb2_grpc.ChannelzStub(channel)
            request = channelz_pb2.GetServersRequest(start_server_id=0)
            servers = stub.GetServers(request, timeout=10).server

        assert answer == b"hello"
        assert {SERVICE, "grpc.health.v1.Health"} <= names
        assert len(servers) == 1
        assert get(probe, "/healthz") == (200, "ok\n")
        assert get(probe, "/readyz") == (200, "ok\n")
        assert get(probe, "/debug")[0] == 404
        metrics = get(probe, "/metrics")[1]
        assert 'joiner_build_info{service="example"' in metrics
        assert f'joiner_grpc_served_total{{code="OK",method="/{SERVICE}/One"}} 1.0' in metrics
        assert "process_resident_memory_bytes" in metrics
        assert process.stop() == 0


def test_a_service_whose_inputs_are_missing_is_alive_but_not_ready() -> None:
    with started(ready="false") as process:
        probe = process.line("probes are served")["port"]
        port = process.line("listening")["ports"][0]

        assert get(probe, "/healthz")[0] == 200
        assert get(probe, "/readyz") == (503, "not ready\n")
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            health: Any = health_pb2_grpc.HealthStub(channel)
            for name in ("", SERVICE):
                answer = health.Check(health_pb2.HealthCheckRequest(service=name), timeout=10)
                assert answer.status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert process.stop() == 0


@pytest.mark.parametrize("task", ["raises", "returns"])
def test_the_process_ends_when_a_root_task_ends(task: str) -> None:
    with started(task=task) as process:
        line = process.line("root task ended")

        assert process.popen.wait(30) == 1
        assert line["task"] == "work"
        assert ("the work cannot go on" in line["stacktrace"]) is (task == "raises")


def test_a_task_that_will_not_end_is_left_behind_after_the_grace_period() -> None:
    with started(task="hangs", grace_period="500ms") as process:
        process.line("serving")
        process.popen.send_signal(signal.SIGTERM)
        line = process.line("did not stop within the grace period")

        assert process.popen.wait(30) == 1
        assert "work" in line["tasks"]


def test_a_stop_does_not_wait_for_open_streams() -> None:
    with started() as process:
        port = process.line("listening")["ports"][0]
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stream = call(channel, "unary_stream", "Many")(b"1", timeout=60)
            assert next(stream) == b"0"
            status = process.stop()
            with pytest.raises(grpc.RpcError) as caught:
                next(stream)

        assert status == 0
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        assert caught.value.details() == "the server is stopping"


def test_refused_settings_are_all_said_in_one_line() -> None:
    with started(tusk="raises", ready="perhaps") as process:
        problems = process.line("settings refused")["problems"]

        assert process.popen.wait(30) == 2
        assert [problem[: problem.index("=")] for problem in problems if "=" in problem] == [
            "JOINER_CFG_READY"
        ]
        assert any("did you mean JOINER_CFG_TASK?" in problem for problem in problems)


def test_a_port_that_is_taken_ends_the_process() -> None:
    with started() as first:
        port = first.line("listening")["ports"][0]
        with started(listen=f"127.0.0.1:{port}") as second:
            assert "bind" in second.line("start failed")["stacktrace"]
            assert second.popen.wait(30) == 1


def test_a_secured_service_has_a_public_listener_with_its_public_methods_only(
    tmp_path: Path,
) -> None:
    new_authority().write(tmp_path, "example")
    (tmp_path / "table.yaml").write_text(f"example: [/{SERVICE}/*]")
    (tmp_path / "tokens.yaml").write_text("ci: 0123456789abcdef")
    settings = {
        "tls_dir": str(tmp_path),
        "authorization_file": str(tmp_path / "table.yaml"),
        "public_listen": "127.0.0.1:0",
        "public_tokens_file": str(tmp_path / "tokens.yaml"),
    }
    trusted = (tmp_path / "ca.crt").read_bytes()
    own = [(tmp_path / name).read_bytes() for name in ("tls.key", "tls.crt")]
    metadata = (("authorization", "Bearer 0123456789abcdef"),)
    with started(**settings) as process:
        main, public = process.line("listening")["ports"]
        mutual = grpc.ssl_channel_credentials(trusted, *own)
        with grpc.secure_channel(f"127.0.0.1:{main}", mutual) as channel:
            who = call(channel, "unary_unary", "One")(b"who", timeout=10)
        one_sided = grpc.ssl_channel_credentials(trusted)
        with grpc.secure_channel(f"127.0.0.1:{public}", one_sided) as channel:
            guest = call(channel, "unary_unary", "One")(b"who", timeout=10, metadata=metadata)
            with pytest.raises(grpc.RpcError) as caught:
                call(channel, "stream_unary", "Collect")(iter([]), timeout=10, metadata=metadata)

        assert (who, guest) == (b"example", b"ci")
        assert caught.value.code() is grpc.StatusCode.PERMISSION_DENIED
        assert process.stop() == 0
