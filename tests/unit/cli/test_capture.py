"""`joiner capture` writes a dump that plans can be made with."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

import cli.capture
from libs.domain.errors import Unavailable
from libs.kube import document_files
from libs.kube.api import KubeApi
from libs.runtime.clock import SystemClock
from services.simulator.app import new_server
from services.simulator.config import Settings
from services.simulator.memory_api import MemoryKubeApi
from tests.support.world import a_runtime
from tests.unit.cli.command import CLASS, joiner
from tests.unit.services.simulator.cluster import a_pod


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> MemoryKubeApi:
    server = new_server(Settings(), replace(a_runtime(), clock=SystemClock()))
    server.direct.create("pods", a_pod("waits"), "default")
    server.direct.create(
        "secrets", {"metadata": {"name": "s"}, "stringData": {"a": "b"}}, "default"
    )
    spec = {"template": {"spec": {"nodeClassRef": CLASS, "requirements": []}}}
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "pool"}}
    server.direct.create("nodepools.karpenter.sh", {**pool, "spec": spec})
    line = MemoryKubeApi(server)

    @contextlib.asynccontextmanager
    async def connect(kubeconfig: str) -> AsyncIterator[KubeApi]:
        if kubeconfig == "broken":
            raise Unavailable("nobody answers")
        yield line

    monkeypatch.setattr(cli.capture, "connect", connect)
    return line


@pytest.mark.usefixtures("api")
def test_a_dump_is_written_and_can_be_planned_with(tmp_path: Path) -> None:
    path = tmp_path / "cluster.jsonl.gz"

    answer = joiner("capture", "-o", path)

    assert (answer.code, answer.err) == (0, "")
    first, kinds, hint = answer.out.splitlines()
    assert first.startswith(f"{path}: ")
    assert "1 pods" in kinds
    assert "secrets" not in kinds
    assert hint == f"plan with it: joiner plan -f {path}"
    documents = [one for _, one in document_files.read([str(path)]) if isinstance(one, dict)]
    assert documents[0]["kind"] == "ClusterDump"
    assert documents[0]["counts"]["pods"] == 1
    assert {"Pod", "NodePool", "Namespace"} <= {one["kind"] for one in documents}
    planned = joiner("plan", "-f", path)
    assert (planned.code, planned.err.count("joiner:")) == (0, 0)
    assert planned.out.startswith("1 pod waits: 0 on existing nodes, 1 on new nodes")


def test_a_cluster_that_cannot_be_read_is_no_dump(tmp_path: Path, api: MemoryKubeApi) -> None:
    path = tmp_path / "cluster.jsonl.gz"

    answer = joiner("capture", "-o", path, "--kubeconfig", "broken")

    expected = "joiner: the cluster cannot be read: nobody answers\n"
    assert (answer.code, answer.out, answer.err) == (1, "", expected)
    assert not path.exists()


@pytest.mark.usefixtures("api")
def test_a_file_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    answer = joiner("capture", "-o", tmp_path / "nowhere" / "cluster.jsonl.gz")

    expected = f"joiner: --output: {tmp_path}/nowhere is no folder\n"
    assert (answer.code, answer.err) == (2, expected)
