"""Plain kubeconfigs are read as the official client reads them; it reads all others."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from libs.kube import official, plain_kubeconfig
from libs.kube.credentials import Credentials

SERVER = "http://127.0.0.1:8080"

APPS = ("watcher", "solver", "lifecycle", "disruption", "provider_kwok", "simulator")


def a_kubeconfig(
    cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None, **changes: Any
) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {"server": SERVER, **(cluster or {})}}],
        "users": [{"name": "me", "user": user or {}}],
        **changes,
    }


def write(folder: Path, content: object) -> str:
    file = folder / "kubeconfig"
    file.write_text(yaml.safe_dump(content))
    return str(file)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(a_kubeconfig(), id="nobody in particular"),
        pytest.param(a_kubeconfig(user={"token": "secret"}), id="a token"),
        pytest.param(a_kubeconfig(user={"token": "secret\n"}), id="a token with a line end"),
        pytest.param(a_kubeconfig(user={"token": ""}), id="an empty token"),
        pytest.param(a_kubeconfig(cluster={"server": f"{SERVER}/"}), id="a slash at the end"),
        pytest.param(a_kubeconfig(cluster={"server": "https://a.example/b"}), id="over TLS"),
        pytest.param(a_kubeconfig(preferences={}), id="preferences"),
    ],
)
async def test_a_plain_file_says_what_the_official_client_reads(
    tmp_path: Path, content: dict[str, Any]
) -> None:
    path = write(tmp_path, content)

    plain = plain_kubeconfig.read(path)
    judged = await official.load(path)

    assert plain is not None
    assert (plain.server, plain.token()) == (judged.server, judged.token())
    assert (plain.ca_file, plain.cert_file, plain.key_file) == (
        judged.ca_file,
        judged.cert_file,
        judged.key_file,
    )
    assert (plain.proxy, plain.server_name, plain.verify) == (
        judged.proxy,
        judged.server_name,
        judged.verify,
    )


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(a_kubeconfig(user={"tokenFile": "t"}), id="a token's file"),
        pytest.param(a_kubeconfig(user={"token": "t", "exec": {}}), id="a plug-in"),
        pytest.param(a_kubeconfig(user={"auth-provider": {}}), id="an identity provider"),
        pytest.param(a_kubeconfig(user={"client-certificate": "c"}), id="a certificate"),
        pytest.param(a_kubeconfig(user={"username": "u", "password": "p"}), id="a password"),
        pytest.param(a_kubeconfig(user={"as": "somebody"}), id="impersonation"),
        pytest.param(a_kubeconfig(user={"token": 7}), id="a token that is a number"),
        pytest.param(a_kubeconfig(cluster={"certificate-authority-data": ""}), id="authorities"),
        pytest.param(a_kubeconfig(cluster={"proxy-url": "http://p"}), id="a proxy"),
        pytest.param(a_kubeconfig(cluster={"server": None}), id="no server"),
        pytest.param(a_kubeconfig(clusters=[]), id="no such cluster"),
        pytest.param(a_kubeconfig(clusters=["here"]), id="a cluster that is text"),
        pytest.param(a_kubeconfig(users=[]), id="no such user"),
        pytest.param(a_kubeconfig(contexts=None), id="no contexts"),
        pytest.param(a_kubeconfig(users=a_kubeconfig()["users"] * 2), id="a user twice"),
        pytest.param(a_kubeconfig(extensions=[]), id="something unknown"),
        pytest.param([], id="a list"),
    ],
)
def test_what_is_not_plain_is_left_to_the_official_client(tmp_path: Path, content: object) -> None:
    assert plain_kubeconfig.read(write(tmp_path, content)) is None


async def test_a_tokens_file_is_read_by_the_official_client(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("from a file")
    credentials = Credentials(write(tmp_path, a_kubeconfig(user={"tokenFile": str(token)})))

    await credentials.load()

    assert credentials.server == SERVER
    assert credentials.headers() == {"Authorization": "Bearer from a file"}


def test_no_service_loads_the_official_client_to_start() -> None:
    imports = ", ".join(f"services.{name}.app" for name in APPS)
    code = f"import sys, {imports}; sys.exit('kubernetes' in sys.modules)"

    ended = subprocess.run([sys.executable, "-c", code], env=os.environ, check=False)

    assert ended.returncode == 0
