"""The simulator as a service: put together, over HTTP, and in the world of the other services."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
import yaml

from libs.domain.errors import InvalidRequest
from libs.kube import document_files
from libs.runtime.app import App, Runtime
from libs.runtime.clock import SystemClock
from libs.runtime.settings import NoSettings, SettingsError, load
from libs.runtime.virtual import run_virtual
from services.simulator import app, kubeconfig
from services.simulator.config import Settings
from services.simulator.core.api.server import ApiServer
from tests.support.world import World, a_runtime
from tests.unit.services.simulator.living import a_node, a_workload


def test_a_cluster_lives_in_a_world_of_services() -> None:
    servers: list[ApiServer] = []

    def build(settings: Settings, runtime: Runtime) -> App:
        servers.append(app.new_server(settings, runtime))
        return app.assemble(settings, runtime, servers[0])

    async def scenario() -> None:
        async with World(seed=1) as world:
            await world.start("simulator", build, Settings(), "simulator:1")
            api = servers[0].direct
            api.create("nodes", a_node())
            api.create("deployments.apps", a_workload("web", replicas=2), "default")

            def available() -> bool:
                status = api.get("deployments.apps", "web", "default")["status"]
                return bool(status.get("availableReplicas") == 2)

            await world.until(
                available, within=timedelta(seconds=10), every=timedelta(milliseconds=100)
            )
            assert api.list("nodepools.karpenter.sh") == ()

    run_virtual(scenario())


@contextlib.asynccontextmanager
async def running(built: App) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(task(), name=name) for name, task in built.tasks.items()]
    try:
        await built.ready()
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_the_api_is_served_where_the_kubeconfig_says(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    settings = Settings(api_listen="127.0.0.1:0", kubeconfig=path, api_token="secret")
    runtime = a_runtime("simulator")
    built = app.build(settings, runtime)
    async with running(built):
        told = yaml.safe_load(path.read_text())
        url = told["clusters"][0]["cluster"]["server"]
        token = told["users"][0]["user"]["token"]
        async with aiohttp.ClientSession() as session:
            path_of_pools = f"{url}/apis/karpenter.sh/v1/nodepools"
            async with session.get(path_of_pools) as answer:
                assert answer.status == 401
            headers = {"Authorization": f"Bearer {token}"}
            async with session.get(path_of_pools, headers=headers) as answer:
                assert (await answer.json())["kind"] == "NodePoolList"
    assert path.stat().st_mode & 0o077 == 0


def test_the_kubeconfig_names_the_address_that_is_advertised() -> None:
    told = yaml.safe_load(kubeconfig.text("sim.example:80", ""))

    assert told["clusters"][0]["cluster"]["server"] == "http://sim.example:80"
    assert told["users"][0]["user"] == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(None, "is no folder", id="no such folder"),
        pytest.param('{"spec": {"names": {"kind": "X", "plural": "xs"}}}', "refused", id="no CRD"),
        pytest.param("a: [", "cannot be read", id="no YAML"),
        pytest.param("{}", "cannot be read", id="no names"),
    ],
)
async def test_crds_that_cannot_be_installed_stop_the_start(
    tmp_path: Path, content: str | None, message: str
) -> None:
    folder = tmp_path / "crds"
    if content is not None:
        folder.mkdir()
        (folder / "example.com_xs.yaml").write_text(content)

    with pytest.raises(InvalidRequest, match=message):
        app.new_server(Settings(crds=folder), a_runtime("simulator"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("API_LISTEN", "", id="no address"),
        pytest.param("API_LISTEN", "8001", id="no host"),
        pytest.param("ADVERTISE_ADDRESS", "host:port", id="no number"),
        pytest.param("VOLUME_LIMITS", "ebs.csi.aws.com=-1", id="negative limit"),
    ],
)
def test_settings_that_cannot_work_are_refused(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"JOINER_CFG_{name}"):
        load({f"JOINER_CFG_{name}": value}, Settings, NoSettings)


def test_settings_are_read() -> None:
    environ = {
        "JOINER_CFG_VOLUME_LIMITS": "ebs.csi.aws.com=25",
        "JOINER_CFG_BOOT_DELAY": "2s",
        "JOINER_CFG_KUBECONFIG": "/run/kubeconfig",
    }

    settings, _ = load(environ, Settings, NoSettings)

    assert settings.volume_limits == {"ebs.csi.aws.com": 25}
    assert settings.boot_delay == timedelta(seconds=2)
    assert settings.kubeconfig == Path("/run/kubeconfig")


async def test_a_cluster_begins_with_a_dump_plays_a_script_and_leaves_a_dump(
    tmp_path: Path,
) -> None:
    script, first, last = (tmp_path / name for name in ("script.yaml", "first.yaml", "last.gz"))
    first.write_text("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
    step = "{at: 0s, apply: [{apiVersion: v1, kind: Namespace, metadata: {name: bank}}]}"
    script.write_text(f"steps: [{step}]")
    settings = Settings(
        api_listen="127.0.0.1:0", script=script, state=first, save_state=last, kubeconfig=None
    )
    built = app.build(settings, replace(a_runtime("simulator"), clock=SystemClock()))

    async with running(built):
        pass
    await built.close()

    documents = [one for _, one in document_files.read([str(last)]) if isinstance(one, dict)]
    assert documents[0]["kind"] == "ClusterDump"
    names = {one["metadata"]["name"] for one in documents if one["kind"] == "Namespace"}
    assert {"shop", "bank", "default"} <= names


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        pytest.param(lambda path: Settings(script=path), r"\[0\]\.at: is missing", id="script"),
        pytest.param(lambda path: Settings(state=path), "apiVersion: is missing", id="state"),
    ],
)
def test_a_script_or_a_state_that_is_wrong_stops_the_start(
    tmp_path: Path, wrong: Callable[[Path], Settings], words: str
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text("steps: [{}]")
    settings = wrong(path)

    with pytest.raises(InvalidRequest, match=words):
        app.build(settings, replace(a_runtime("simulator"), clock=SystemClock()))
