"""What is remembered between decisions changes no decision, and saves the work that it should."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

import pytest

from libs.domain import labels as label_keys
from libs.domain.node import Node
from libs.domain.pod import HostPort, Owner, PodPhase, PodRow, PodShape
from libs.domain.pod_table import PodTable
from libs.domain.scenario import AddPods, CordonNodes, Edit, RemoveNodes
from libs.domain.snapshot import ClusterSnapshot, SnapshotUpdate, apply
from libs.domain.solution import SolveOptions
from libs.runtime.randomness import Random
from services.solver.columns import ColumnsCache
from services.solver.core.offers.market import Memory, Remember
from services.solver.core.packing.encode import encode
from services.solver.core.reading.reader import Reader
from services.solver.core.simulating.edited import edited
from services.solver.core.solve import solve
from tests.support.builders import (
    NOW,
    a_daemonset,
    a_node,
    a_shape,
    a_snapshot,
    a_spread,
    selecting,
)

T = TypeVar("T")

AGENT = Owner(api_version="apps/v1", kind="DaemonSet", name="agent", uid="uid-agent")
SHAPES: tuple[PodShape, ...] = (
    a_shape(1),
    a_shape(
        2,
        cpu="2",
        labels={"app": "spread"},
        topology_spread=(a_spread(selector=selecting(app="spread")),),
    ),
    a_shape(3, cpu="500m", host_ports=(HostPort(port=80),)),
    a_shape(100, cpu="100m"),
)


def some_nodes(count: int) -> list[Node]:
    return [
        a_node(
            f"node-{number:02d}",
            labels={label_keys.ZONE: f"zone-{'abc'[number % 3]}"},
            initialized=number % 5 != 4,
        )
        for number in range(count)
    ]


def a_row(number: int, node: str, *, shape: int | None = None) -> PodRow:
    return PodRow(
        uid=f"uid-{number:04d}",
        namespace="default",
        name=f"pod-{number}",
        shape=shape or 1 + number % 3,
        node=node,
        phase=PodPhase.RUNNING if node else PodPhase.PENDING,
        provisionable=not node,
        created_ms=number % 7,
        owner=AGENT if shape == 100 else None,
    )


def a_cluster(nodes: int = 12, pods: int = 200) -> ClusterSnapshot:
    rows = [a_row(number, f"node-{number % nodes:02d}") for number in range(pods)]
    rows += [
        a_row(1_000 + number, f"node-{number:02d}", shape=100) for number in range(0, nodes, 2)
    ]
    return a_snapshot(shapes=SHAPES, pods=rows, nodes=some_nodes(nodes), daemonsets=[a_daemonset()])


def changed(snapshot: ClusterSnapshot, source: Random) -> ClusterSnapshot:
    """Return a later revision: pods come, go, end and leave; nodes leave, start and go."""
    rows = source.sample(list(snapshot.pods.rows()), 6)
    names = list(snapshot.nodes)
    gone, leaving, other = source.sample(names, 3)
    new = source.randrange(10_000, 90_000)
    return apply(
        SnapshotUpdate(
            id=replace(snapshot.id, revision=snapshot.id.revision + 1),
            base_revision=snapshot.id.revision,
            observed_at=NOW,
            pods=PodTable.from_rows(
                (
                    a_row(new, "", shape=source.choice((1, 2, 3))),
                    rows[0]._replace(phase=PodPhase.SUCCEEDED),
                    rows[1]._replace(deleting_ms=5),
                    rows[2]._replace(node="", provisionable=True),
                    *(
                        row._replace(node="", provisionable=True)
                        for row in snapshot.pods.bound_to(frozenset({gone}))
                    ),
                )
            ),
            removed_pods=(rows[3].uid,) if rows[3].node != gone else (),
            upserts={
                "nodes": (
                    replace(snapshot.nodes[leaving], leaving=not snapshot.nodes[leaving].leaving),
                    replace(snapshot.nodes[other], initialized=True),
                )
            },
            removals={"nodes": (gone,)},
        ),
        snapshot,
    )


def what_if(snapshot: ClusterSnapshot, source: Random) -> ClusterSnapshot:
    """Return what edits make of a revision: nodes go or are cordoned, pods come and are more."""
    names = source.sample(list(snapshot.nodes), 3)
    edits: tuple[Edit, ...] = (
        RemoveNodes(names=tuple(names[: source.randrange(0, 3)])),
        CordonNodes(names=(names[2],)),
        AddPods(shape=source.choice(SHAPES[:3]), count=source.randrange(1, 5)),
    )
    return edited(snapshot, edits)


def renumbered(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Return a revision in which the numbers of two shapes stand for each other's content."""
    one, other = snapshot.shapes[1], snapshot.shapes[2]
    shapes = {**snapshot.shapes, 1: replace(other, id=1), 2: replace(one, id=2)}
    return replace(snapshot, shapes=MappingProxyType(shapes))


@pytest.mark.parametrize("seed", range(6))
def test_a_decision_is_the_same_whatever_was_decided_before(seed: int) -> None:
    source, memory = Random(seed), ColumnsCache(4).memory
    snapshot = a_cluster()
    for step in range(5):
        snapshot = changed(renumbered(snapshot) if step == 3 else snapshot, source)
        for one in (snapshot, what_if(snapshot, source), what_if(snapshot, source)):
            assert solve(one, SolveOptions(), memory=memory) == solve(one, SolveOptions())


def counting(remember: Remember, made: list[Hashable]) -> Remember:
    def counted(name: Hashable, make: Callable[[], T], /, *objects: object) -> T:
        def noted() -> T:
            made.append(name)
            return make()

        return remember(name, noted, *objects)

    return counted


@pytest.fixture
def watched() -> tuple[Memory, Reader, list[Hashable]]:
    reader, made = Reader(), list[Hashable]()
    memory = ColumnsCache(4).memory
    return (
        replace(
            memory,
            reader=lambda: reader,
            few=counting(memory.few, made),
            many=counting(memory.many, made),
        ),
        reader,
        made,
    )


def test_a_change_costs_the_rows_and_nodes_that_changed(
    watched: tuple[Memory, Reader, list[Hashable]],
) -> None:
    memory, reader, made = watched
    base = a_cluster(pods=2_000)
    waiting = PodTable.from_rows([a_row(5_000, "")])
    update = SnapshotUpdate(
        id=replace(base.id, revision=2), base_revision=1, observed_at=NOW, pods=waiting
    )
    first = apply(update, base)
    encode(first, SolveOptions(), NOW, memory)
    rows, names = reader.pods.read, len(made)

    row = first.pods.find("uid-0007")
    assert row is not None
    later = apply(
        replace(
            update,
            id=replace(base.id, revision=3),
            base_revision=2,
            pods=PodTable.from_rows([row._replace(ready=True)]),
        ),
        first,
    )
    encode(later, SolveOptions(), NOW, memory)

    assert reader.pods.read == rows + 2
    assert made[names:] == []


def test_a_what_if_costs_its_edits() -> None:
    reader = Reader()
    memory = replace(ColumnsCache(4).memory, reader=lambda: reader)
    base = a_cluster(nodes=200, pods=4_000)
    encode(edited(base, [CordonNodes(names=("node-01",))]), SolveOptions(), NOW, memory)
    before = encode(base, SolveOptions(), NOW, memory).work.bound
    rows, nodes, claims = (
        reader.pods.read,
        reader.nodes.objects.read,
        reader.claims.objects.read,
    )

    after = edited(base, [RemoveNodes(names=("node-107",))])
    bound = encode(after, SolveOptions(), NOW, memory).work.bound

    moved = list(base.pods.bound_to(frozenset({"node-107"})))
    touched = {row.shape for row in moved}
    assert reader.pods.read - rows == 2 * len(moved) == 40
    assert (reader.nodes.objects.read, reader.claims.objects.read) == (nodes, claims)
    assert bound.residents is before.residents
    assert {one for one in bound.by_shape if bound.by_shape[one] is before.by_shape[one]} == (
        before.by_shape.keys() - touched
    )
