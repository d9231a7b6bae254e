"""What is built before the first question."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from libs.domain.capacity import Catalogue
from libs.domain.labels import WELL_KNOWN
from libs.domain.resources import CPU, NOTHING, PODS
from libs.domain.snapshot import ClusterSnapshot, PushResult, full, keyed
from libs.domain.workload import NodeOverlay
from libs.runtime.virtual import run_virtual
from libs.snapshots.holder import SnapshotHolder
from services.solver.columns import ColumnsCache
from services.solver.core.offers import catalogue
from services.solver.core.offers.catalogue import CatalogueColumns, KeyColumn
from services.solver.core.reading.reader import Reader
from services.solver.warming import keep_warm
from tests.support.builders import a_node, a_snapshot, pods, require
from tests.support.world import a_runtime


class WatchedCache(ColumnsCache):
    """Tells what was asked for, once where it was asked for again and again."""

    def __init__(self) -> None:
        super().__init__(8)
        self.asked: list[Catalogue] = []

    def of(self, wanted: Catalogue) -> CatalogueColumns:
        if not (self.asked and self.asked[-1] is wanted):
            self.asked.append(wanted)
        return super().of(wanted)


def a_cluster(cluster_id: str = "home", revision: int = 1) -> ClusterSnapshot:
    snapshot = a_snapshot(pods=pods(3))
    return replace(snapshot, id=replace(snapshot.id, cluster_id=cluster_id, revision=revision))


def warmed(
    *snapshots: ClusterSnapshot, spare: Callable[[], None] = lambda: None
) -> list[Catalogue]:
    """Push the snapshots one after the other; return the catalogues that were looked at."""

    async def scenario() -> list[Catalogue]:
        runtime, cache = replace(a_runtime(), spare=spare), WatchedCache()
        holder = SnapshotHolder(clock=runtime.clock)
        task = asyncio.create_task(keep_warm(holder, cache, runtime))
        for snapshot in snapshots:
            assert await holder.accept("watcher", full(snapshot), 1) is PushResult.HELD
            for _ in range(20):
                await asyncio.sleep(0)  # noqa: TID251  # lets the task run, takes no time
        assert not task.done()
        task.cancel()
        return cache.asked

    return run_virtual(scenario())


def test_a_catalogue_is_built_when_it_arrives() -> None:
    snapshot = a_cluster()

    assert warmed(snapshot) == list(snapshot.catalogues.values())


def test_what_most_pods_ask_by_is_read_before_they_do(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    key_column = catalogue._key_column

    def noted(columns: CatalogueColumns, key: str) -> KeyColumn:
        read.append(key)
        return key_column(columns, key)

    monkeypatch.setattr(catalogue, "_key_column", noted)

    warmed(a_cluster())

    assert set(read) >= WELL_KNOWN
    assert len(read) == len(set(read))


def test_what_most_decisions_ask_of_nodes_is_read_before_they_do() -> None:
    snapshot = a_snapshot(nodes=[a_node(f"n{one}") for one in range(3)], pods=pods(2, node="n1"))
    reader = Reader()
    reader.look_over(snapshot)
    read = reader.nodes.objects.read

    nodes = reader.nodes.of(snapshot.nodes)
    nodes.kinds(frozenset(WELL_KNOWN), np.arange(3))
    assert [nodes.room(resource).tolist() for resource in (CPU, PODS)] == [[4_000] * 3, [110] * 3]

    assert reader.nodes.objects.read == read
    assert len(reader.pods.of(snapshot.pods, snapshot.shapes).bound) == 2


def test_a_catalogue_that_stays_is_built_once() -> None:
    first = a_cluster()
    second = replace(first, id=replace(first.id, revision=2))

    assert len(warmed(first, second)) == 1


def test_what_was_built_is_kept_from_the_collector_once_per_catalogue() -> None:
    told: list[None] = []
    first = a_cluster()
    second = replace(first, id=replace(first.id, revision=2))

    warmed(first, second, a_cluster(revision=3), spare=lambda: told.append(None))

    assert len(told) == 2


def test_a_catalogue_that_changes_is_built_again() -> None:
    assert len(warmed(a_cluster(), a_cluster(revision=2))) == 2


def test_what_an_overlay_makes_of_a_catalogue_is_built_when_it_arrives() -> None:
    first = a_cluster()
    overlay = NodeOverlay(
        name="cheap", uid="1", requirements=require(), price_nanos_per_hour=1, capacity=NOTHING
    )
    second = replace(first, id=replace(first.id, revision=2), overlays=keyed("overlays", [overlay]))

    before, overlaid, again = warmed(first, second)

    assert before is again
    assert overlaid.instance_types[0].offerings[0].price_nanos_per_hour == 1


def test_catalogues_of_other_clusters_are_not_built_ahead() -> None:
    assert warmed(a_cluster("elsewhere")) == []
