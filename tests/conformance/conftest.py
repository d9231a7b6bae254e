"""Fixtures of the suite: one cluster for each target, started once; a namespace for each test."""

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from libs.runtime.randomness import Random
from tests.conformance import targets
from tests.conformance.cluster import PATIENCE_SECONDS, Cluster, Object

_PAGE = Path(__file__).parents[2] / "docs" / "simulator.md"
_WANTED = targets.wanted(os.environ)
_IN_VAIN_SECONDS = 2
"""How long one waits for what is known not to come."""
_numbers = itertools.count(1)
_run = f"{Random().getrandbits(32):08x}"


def pytest_configure(config: pytest.Config) -> None:
    """Make the suite's marker known."""
    config.addinivalue_line("markers", "needs(*parts): what must run beside the API server")
    config.addinivalue_line("markers", "differs(entry): fails on the simulator, as its page says")


@pytest.fixture(scope="session")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Cluster]]:
    """Open clusters by the name of their target, each once; all end with the session."""
    opened: dict[str, Cluster] = {}
    with contextlib.ExitStack() as held:

        def cluster(name: str) -> Cluster:
            if name not in opened:
                folder = tmp_path_factory.mktemp("cluster")
                found = Cluster(held.enter_context(targets.opened(name, folder)))
                held.callback(found.close)
                opened[name] = found
            return opened[name]

        yield cluster


@pytest.fixture(params=_WANTED)
def cluster(request: pytest.FixtureRequest, clusters: Callable[[str], Cluster]) -> Cluster:
    """Return a cluster; skip, saying why, if it lacks what the test needs."""
    found = clusters(request.param)
    for marker in request.node.iter_markers("needs"):
        for part in marker.args:
            if part not in found.target.has:
                pytest.skip(f"{request.param} has no {part}")
    found.patience_seconds = PATIENCE_SECONDS
    if request.param == targets.SIMULATOR:
        for marker in request.node.iter_markers("differs"):
            (entry,) = marker.args
            assert f"- **{entry}" in _PAGE.read_text(), f"docs/simulator.md does not list: {entry}"
            request.node.add_marker(pytest.mark.xfail(strict=True, reason=entry))
            found.patience_seconds = _IN_VAIN_SECONDS
    return found


@pytest.fixture
def unique() -> Callable[[str], str]:
    """Make names that no other test uses, in no other run either."""
    return lambda prefix: f"{prefix}-{_run}-{next(_numbers)}"


@pytest.fixture
def namespace(cluster: Cluster, unique: Callable[[str], str]) -> Iterator[str]:
    """Return a namespace of the test's own; it goes with the test."""
    name = unique("conformance")
    cluster.post("/api/v1/namespaces", {"metadata": {"name": name}}).ok()
    if targets.ACCOUNTS in cluster.target.has:
        cluster.until(f"/api/v1/namespaces/{name}/serviceaccounts/default", bool)
    yield name
    cluster.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture
def create(cluster: Cluster) -> Iterator[Callable[[str, Object], Object]]:
    """Create objects that belong to no namespace; they go with the test."""
    with contextlib.ExitStack() as held:

        def created(path: str, body: Object) -> Object:
            made: Object = cluster.post(path, body).ok()
            held.callback(cluster.delete, f"{path}/{made['metadata']['name']}")
            return made

        yield created
