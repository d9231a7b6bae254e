"""Leases and single documents on the simulator's API server in process."""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from libs.domain.errors import AlreadyExists, NotFound, StaleRevision
from libs.kube import documents
from libs.kube.api import LEASES, NODES
from libs.kube.leases import KARPENTER_LEASE, KubeLeaseStore, fresh_lease
from libs.runtime.clock import LoopClock
from libs.runtime.leader import LeaderSettings, Leadership
from libs.runtime.lease import Lease
from libs.runtime.randomness import Random
from libs.runtime.virtual import run_virtual
from tests.support.memory_api import MemoryKubeApi, new_server

START = datetime(2026, 1, 1, tzinfo=UTC)
CLOCK = LoopClock(START)


def store() -> KubeLeaseStore:
    return KubeLeaseStore(api(), "kube-system", "joiner-watcher")


def api() -> MemoryKubeApi:
    return MemoryKubeApi(new_server(CLOCK))


def a_lease(**changes: Any) -> Lease:
    fields: dict[str, Any] = {
        "holder": "one",
        "duration": timedelta(seconds=15),
        "acquired_at": START,
        "renewed_at": START + timedelta(microseconds=123456),
        "transitions": 3,
    }
    return Lease(**{**fields, **changes})


def run(main: Coroutine[Any, Any, None]) -> None:
    run_virtual(main)


def test_a_lease_comes_back_as_it_was_stored() -> None:
    async def main() -> None:
        leases = store()
        assert await leases.get() is None
        written = await leases.create(a_lease())
        assert written == a_lease(resource_version=written.resource_version)
        assert await leases.get() == written

    run(main())


def test_a_released_lease_has_no_holder() -> None:
    async def main() -> None:
        leases = store()
        written = await leases.create(a_lease())
        freed = await leases.update(a_lease(holder="", resource_version=written.resource_version))
        assert freed.holder == ""

    run(main())


def test_a_lease_that_changed_is_not_overwritten() -> None:
    async def main() -> None:
        leases = store()
        first = await leases.create(a_lease())
        await leases.update(a_lease(holder="two", resource_version=first.resource_version))
        with pytest.raises(StaleRevision):
            await leases.update(a_lease(resource_version=first.resource_version))
        with pytest.raises(AlreadyExists):
            await leases.create(a_lease())

    run(main())


def test_a_lease_that_was_deleted_is_made_again_by_one_candidate_only() -> None:
    async def main() -> None:
        leases = store()
        assert (await leases.update(a_lease(resource_version="7"))).holder == "one"
        with pytest.raises(StaleRevision):
            await leases.update(a_lease(holder="two", resource_version="7"))

    run(main())


def test_two_candidates_lead_one_after_the_other() -> None:
    async def main() -> None:
        leases = store()
        terms: list[tuple[str, int]] = []

        def start(name: str) -> "asyncio.Task[None]":
            leadership = Leadership(
                store=leases,
                boot_id=name,
                settings=LeaderSettings(),
                clock=CLOCK,
                random=Random(name),
            )

            async def lead() -> None:
                terms.append((name, leadership.epoch.lease_transitions))
                await asyncio.Event().wait()

            return asyncio.create_task(leadership.run(lead), name=name)

        first, second = start("a"), start("b")
        await CLOCK.sleep(timedelta(seconds=30))
        leader = terms[0][0]
        (first if leader == "a" else second).cancel()
        await CLOCK.sleep(timedelta(seconds=30))
        assert [transitions for _, transitions in terms] == [0, 1]
        assert len({name for name, _ in terms}) == 2
        first.cancel()
        second.cancel()
        await asyncio.gather(first, second, return_exceptions=True)

    run(main())


@pytest.mark.parametrize(
    ("holder", "age", "expected"),
    [
        pytest.param("karpenter-0", 10, f"kube-system/{KARPENTER_LEASE}", id="held now"),
        pytest.param("karpenter-0", 16, "", id="run out"),
        pytest.param("", 1, "", id="released"),
    ],
)
def test_a_rival_is_alive_while_its_lease_is_held(holder: str, age: int, expected: str) -> None:
    async def main() -> None:
        door = api()
        rival = KubeLeaseStore(door, "kube-system", KARPENTER_LEASE)
        await rival.create(a_lease(holder=holder, renewed_at=START - timedelta(seconds=age)))
        await KubeLeaseStore(door, "kube-system", "another").create(a_lease())
        assert await fresh_lease(door, KARPENTER_LEASE, START) == expected

    run(main())


def test_writes_of_documents_keep_their_preconditions() -> None:
    async def main() -> None:
        door = api()
        node = documents.Target(NODES, "a")
        made = await documents.create(door, NODES, {"metadata": {"name": "a"}})
        version, uid = made["metadata"]["resourceVersion"], made["metadata"]["uid"]
        labels = {"metadata": {"labels": {"x": "y"}, "resourceVersion": version}}
        patched = await documents.merge_patch(door, node, labels)
        assert patched["metadata"]["labels"]["x"] == "y"
        with pytest.raises(StaleRevision):
            await documents.merge_patch(door, node, labels)
        status = {"status": {"phase": "Running"}}
        changed = await documents.merge_patch(door, node, status, subresource=documents.STATUS)
        assert changed["status"]["phase"] == "Running"
        with pytest.raises(StaleRevision):
            await documents.delete(door, node, uid="another")
        await documents.delete(door, node, uid=uid)
        with pytest.raises(NotFound):
            await documents.get(door, node)

    run(main())


def test_a_pod_is_evicted_by_uid_only() -> None:
    async def main() -> None:
        door = api()
        pods = documents.pod_target("default", "p")
        spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "a"}
        made = await documents.create(
            door, pods.resource, {"metadata": {"name": "p", "namespace": "default"}, "spec": spec}
        )
        with pytest.raises(StaleRevision):
            await documents.evict(door, pods, uid="another")
        await documents.evict(door, pods, uid=made["metadata"]["uid"], grace=timedelta())
        with pytest.raises(NotFound):
            await documents.evict(door, pods, uid=made["metadata"]["uid"])

    run(main())


def test_the_path_of_a_lease_is_escaped() -> None:
    assert documents.Target(LEASES, "a/b", "n").path().endswith("/namespaces/n/leases/a%2Fb")
