"""Mutual TLS on the main listener, tokens on the public one, certificates that change meanwhile."""

import contextlib
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry

from libs.domain.errors import Forbidden, InvalidRequest, Unavailable
from libs.runtime import server, tls
from libs.runtime.authorization import (
    ANYONE,
    Authenticate,
    AuthorizationTable,
    by_certificate,
    by_token,
)
from libs.runtime.guard import Guard
from libs.runtime.metrics import ServerMetrics
from libs.runtime.network import GrpcNetwork
from libs.runtime.timeouts import CallDeadlines
from tests.contract.runtime.echo import SERVICE, Echo, EchoStub
from tests.contract.runtime.transports import error_of
from tests.support.certificates import Authority, new_authority

TOKEN = "0123456789abcdef"

WATCHER_ONLY = AuthorizationTable(rows={"watcher": frozenset({f"/{SERVICE}/One"})})


@pytest.fixture(scope="module")
def authority() -> Authority:
    return new_authority()


@contextlib.asynccontextmanager
async def secured(
    directory: Path,
    table: AuthorizationTable = WATCHER_ONLY,
    authenticate: Authenticate = by_certificate,
    host: str = "127.0.0.1",
) -> AsyncIterator[str]:
    """Serve the echo with the certificates of a directory; give its address."""
    guard = Guard(
        table=table,
        authenticate=authenticate,
        deadlines=CallDeadlines(),
        metrics=ServerMetrics(CollectorRegistry()),
    )
    grpc_server = server.new_server(guard)
    Echo().add_to_server(grpc_server)
    credentials = tls.server_credentials(
        tls.CertificateFiles(directory), require_client=authenticate is by_certificate
    )
    port = server.bind(grpc_server, f"{host}:0", credentials)
    await grpc_server.start()
    try:
        yield f"{host}:{port}"
    finally:
        await grpc_server.stop(None)


@contextlib.asynccontextmanager
async def calling(target: str, directory: Path | None) -> AsyncIterator[EchoStub]:
    files = tls.CertificateFiles(directory) if directory else None
    network = GrpcNetwork(files, CallDeadlines())
    try:
        yield EchoStub(network.channel(target))
    finally:
        await network.close()


async def who(target: str, directory: Path | None) -> Any:
    async with calling(target, directory) as stub:
        return await stub.One(b"who")


async def test_the_identity_is_the_first_alternative_name(
    authority: Authority, tmp_path: Path
) -> None:
    authority.write(tmp_path / "server", "server")
    authority.write(tmp_path / "client", "ignored", ("watcher", "watcher.joiner.svc"))

    async with secured(tmp_path / "server") as target:
        assert await who(target, tmp_path / "client") == b"watcher"


async def test_a_replica_behind_a_name_shows_the_certificate_of_the_name(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority.write(tmp_path / "server", "x", ("solver-sinks",))
    authority.write(tmp_path / "client", "x", ("watcher",))

    async with secured(tmp_path / "server", host="127.0.0.2") as target:
        port = int(target.rpartition(":")[2])
        answer = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.2", port))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answer)
        network = GrpcNetwork(tls.CertificateFiles(tmp_path / "client"), CallDeadlines())
        (address,) = await network.resolve(f"solver-sinks:{port}")
        try:
            assert await EchoStub(network.channel(address)).One(b"who") == b"watcher"
        finally:
            await network.close()


async def test_another_identity_is_forbidden(authority: Authority, tmp_path: Path) -> None:
    authority.write(tmp_path / "server", "server")
    authority.write(tmp_path / "client", "x", ("disruption",))

    async with secured(tmp_path / "server") as target:
        error = await error_of(who(target, tmp_path / "client"))

    assert isinstance(error, Forbidden)
    assert "'disruption' may not call" in str(error)


async def test_a_certificate_of_another_authority_does_not_connect(
    authority: Authority, tmp_path: Path
) -> None:
    authority.write(tmp_path / "server", "server")
    new_authority().write(tmp_path / "client", "x", ("watcher",))

    async with secured(tmp_path / "server") as target:
        assert isinstance(await error_of(who(target, tmp_path / "client")), Unavailable)


async def test_plaintext_does_not_connect_to_a_secured_listener(
    authority: Authority, tmp_path: Path
) -> None:
    authority.write(tmp_path / "server", "server")

    async with secured(tmp_path / "server") as target:
        assert isinstance(await error_of(who(target, None)), Unavailable)


async def test_a_new_authority_takes_over_without_a_restart(
    authority: Authority, tmp_path: Path
) -> None:
    authority.write(tmp_path / "server", "server")
    authority.write(tmp_path / "client", "x", ("watcher",))
    successor = new_authority()

    async with (
        secured(tmp_path / "server") as target,
        calling(target, tmp_path / "client") as stub,
    ):
        assert await stub.One(b"before") == b"before"
        successor.write(tmp_path / "server", "server")
        successor.write(tmp_path / "client", "x", ("watcher",))
        assert await stub.One(b"after") == b"after"
        authority.write(tmp_path / "old", "x", ("watcher",))
        assert isinstance(await error_of(who(target, tmp_path / "old")), Unavailable)


@pytest.mark.parametrize("broken", ["tls.crt", "tls.key", "ca.crt"])
def test_a_broken_file_keeps_the_last_good_certificates(
    authority: Authority, tmp_path: Path, broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    authority.write(tmp_path, "server")
    files = tls.CertificateFiles(tmp_path)
    good = files.current()

    (tmp_path / broken).write_text("half a certif")

    assert files.current() is good
    assert "kept the old certificates" in caplog.text


def test_a_key_of_another_certificate_is_not_taken(authority: Authority, tmp_path: Path) -> None:
    authority.write(tmp_path, "server")
    authority.write(tmp_path / "other", "server")
    files = tls.CertificateFiles(tmp_path)
    good = files.current()

    (tmp_path / "other" / "tls.key").rename(tmp_path / "tls.key")
    assert files.current() is good
    (tmp_path / "other" / "tls.crt").rename(tmp_path / "tls.crt")
    assert files.current() is not good


def test_files_that_vanish_do_not_matter(authority: Authority, tmp_path: Path) -> None:
    authority.write(tmp_path, "server")
    files = tls.CertificateFiles(tmp_path)
    good = files.current()

    os.unlink(tmp_path / "tls.key")

    assert files.current() is good


def test_a_start_without_certificates_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="no certificates"):
        tls.CertificateFiles(tmp_path)


async def test_plaintext_never_leaves_the_machine() -> None:
    with pytest.raises(InvalidRequest, match="plaintext beyond loopback"):
        GrpcNetwork(None, CallDeadlines()).channel("joiner-solver:8443")


@pytest.mark.parametrize(
    ("header", "answer"),
    [
        pytest.param(f"Bearer {TOKEN}", b"ci", id="the token"),
        pytest.param("Bearer 0123456789abcdeX", None, id="another token"),
        pytest.param(TOKEN, None, id="no scheme"),
        pytest.param("", None, id="nothing"),
    ],
)
async def test_a_public_caller_is_known_by_its_token(
    authority: Authority, tmp_path: Path, header: str, answer: bytes | None
) -> None:
    authority.write(tmp_path, "server")
    table = AuthorizationTable(rows={ANYONE: frozenset({f"/{SERVICE}/One"})})

    async with secured(tmp_path, table, by_token({"ci": TOKEN})) as target:
        credentials = grpc.ssl_channel_credentials((tmp_path / "ca.crt").read_bytes())
        async with grpc.aio.secure_channel(target, credentials) as channel:
            stub = EchoStub(channel)
            metadata = (("authorization", header),)
            if answer is not None:
                assert await stub.One(b"who", metadata=metadata) == answer
                metadata_error = await error_of(stub.Collect(iter([]), metadata=metadata))
            else:
                metadata_error = await error_of(stub.One(b"who", metadata=metadata))

    assert isinstance(metadata_error, grpc.aio.AioRpcError)
    assert metadata_error.code() is grpc.StatusCode.PERMISSION_DENIED
