"""`docker-compose.yml`; its schema is checked by `make manifests`."""

import importlib
import shutil
import subprocess
from typing import Any

import pytest

from libs.runtime.runtime_settings import RuntimeSettings, is_loopback
from libs.runtime.settings import load
from tests.unit.deploy.kustomize import Object, documents
from tests.unit.deploy.manifests import ROOT, SERVICES

COMPOSE: Object = documents(ROOT / "docker-compose.yml")[0]["services"]


def test_docker_compose_understands_the_file() -> None:
    if not _has_compose():
        pytest.skip("no docker compose on this machine: the file was checked by its schema only")

    subprocess.run(
        ["docker", "compose", "--file", ROOT / "docker-compose.yml", "config", "--quiet"],
        check=True,
    )


def test_every_service_runs_and_the_simulator_instead_of_a_cluster() -> None:
    assert set(COMPOSE) == {*SERVICES, "simulator"}


@pytest.mark.parametrize("name", COMPOSE)
def test_settings_are_ones_that_the_service_has(name: str) -> None:
    _settings(name)


@pytest.mark.parametrize("name", COMPOSE)
def test_health_is_asked_where_the_service_tells_it(name: str) -> None:
    settings, _ = _settings(name)
    port = settings.probe_listen.rpartition(":")[2]

    assert f"http://127.0.0.1:{port}/readyz" in COMPOSE[name]["healthcheck"]["test"][-1]


def test_services_share_one_network_and_no_port() -> None:
    apart = {name for name, one in COMPOSE.items() if one["network_mode"] != "service:simulator"}
    listening = [
        one["environment"][variable]
        for one in COMPOSE.values()
        for variable in ("JOINER_CFG_LISTEN", "JOINER_CFG_PROBE_LISTEN")
    ]

    assert apart == {"simulator"}
    assert len({one.rpartition(":")[2] for one in listening}) == len(listening) == 12


def test_services_are_called_where_they_listen_on_loopback() -> None:
    listening = {one["environment"]["JOINER_CFG_LISTEN"] for one in COMPOSE.values()}
    called = {
        value.rpartition("=")[2]
        for one in COMPOSE.values()
        for variable, value in one["environment"].items()
        if variable.endswith(("_ADDRESS", "_SINKS", "_PROVIDERS")) and "ADVERTISE" not in variable
    }

    assert called <= listening
    assert all(is_loopback(one) for one in listening)


@pytest.mark.parametrize("name", COMPOSE)
def test_a_container_may_do_nothing_on_its_machine(name: str) -> None:
    one = COMPOSE[name]

    assert one["read_only"] is True
    assert one["cap_drop"] == ["ALL"]


def _has_compose() -> bool:
    if shutil.which("docker") is None:
        return False
    asked = subprocess.run(["docker", "compose", "version"], check=False, capture_output=True)
    return asked.returncode == 0


def _settings(name: str) -> tuple[RuntimeSettings, Any]:
    (package,) = COMPOSE[name]["command"]
    own = importlib.import_module(f"{package}.config").Settings
    return load(COMPOSE[name]["environment"], RuntimeSettings, own)
