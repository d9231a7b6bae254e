"""Pods that are added, and workloads that grow, shrink and go."""

from dataclasses import replace
from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.device import DeviceClaim, DeviceHold, DevicePool
from libs.domain.errors import InvalidRequest
from libs.domain.pod import NodeTerm, Owner, PodPhase, PodRow
from libs.domain.requirements import ANYTHING
from libs.domain.scenario import AddPods, RemoveNodes, ScaleOwner
from libs.domain.snapshot import ClusterSnapshot, inconsistencies
from services.solver.core.simulating.edited import edited
from tests.support.builders import (
    NOW,
    a_daemonset,
    a_node,
    a_pod,
    a_shape,
    a_snapshot,
    an_owner,
    require,
)

NOW_MS = int(NOW.timestamp() * 1000)
OLD_SET = an_owner(name="web-6c4f5b7d9")
NEW_SET = an_owner(name="web-7f9db5c6x")
DB = Owner(api_version="apps/v1", kind="StatefulSet", name="db", uid="uid-db")
AGENT = Owner(api_version="apps/v1", kind="DaemonSet", name="agent", uid="uid-agent")


def scaled(name: str, replicas: int, kind: str = "") -> ScaleOwner:
    return ScaleOwner(namespace="default", kind=kind, name=name, replicas=replicas)


def running(name: str, owner: Owner = OLD_SET, **override: Any) -> PodRow:
    row = a_pod(name, node="node-1", phase=PodPhase.RUNNING, ready=True, owner=owner)
    return row._replace(**override)


def a_cluster(*rows: PodRow, **collections: Any) -> ClusterSnapshot:
    shapes = [a_shape(1), a_shape(2, cpu="2"), a_shape(100)]
    return a_snapshot(
        shapes=shapes,
        pods=rows,
        nodes=[a_node("node-1"), a_node("node-2")],
        **collections,
    )


def names(snapshot: ClusterSnapshot) -> list[str]:
    return sorted(row.name for row in snapshot.pods.rows())


def test_added_pods_wait_and_are_numbered_on() -> None:
    edit = AddPods(shape=a_shape(1, cpu="3"), count=2)

    after = edited(a_cluster(), [edit, edit])

    rows = list(after.pods.rows())
    assert [row.uid for row in rows] == [f"default/whatif-{number}" for number in range(1, 5)]
    assert all(row.provisionable and not row.node for row in rows)
    assert {after.shapes[row.shape].requests for row in rows} == {edit.shape.requests}
    assert after.shapes[1] == a_shape(1)
    assert inconsistencies(after) == ()


@pytest.mark.parametrize(
    ("edit", "kind"),
    [
        pytest.param(scaled("web", 4), "whatever has that name", id="without a kind"),
        pytest.param(scaled("web", 4, "Deployment"), "as a Deployment", id="as a Deployment"),
    ],
)
def test_a_deployment_grows_by_pods_like_its_newest(edit: ScaleOwner, kind: str) -> None:
    rows = [
        running("old-1", created_ms=1),
        running("new-1", NEW_SET, created_ms=2, shape=2, priority=7),
    ]

    after = edited(a_cluster(*rows), [edit])

    added = [row for row in after.pods.rows() if not row.node]
    assert [row.name for row in added] == ["web-7f9db5c6x-whatif-1", "web-7f9db5c6x-whatif-2"]
    assert {(row.shape, row.owner, row.priority) for row in added} == {(2, NEW_SET, 7)}
    assert {row.created_ms for row in added} == {NOW_MS}
    assert all(row.provisionable and row.phase is PodPhase.PENDING for row in added)


def test_a_workload_of_another_name_or_namespace_is_left_alone() -> None:
    rows = [
        running("a", an_owner(name="web")),
        running("b", an_owner(name="web"), namespace="other"),
        running("c", an_owner(name="web-cache")),
    ]

    after = edited(a_cluster(*rows), [scaled("web", 0)])

    assert names(after) == ["b", "c"]


def test_pods_go_in_the_order_in_which_their_controller_deletes_them() -> None:
    rows = [
        running("a-lonely", node="node-2", created_ms=3),
        running("b-older", created_ms=1),
        running("c-newer", created_ms=2),
        running("d-cheap", deletion_cost=-1, created_ms=1),
        running("e-unready", ready=False, created_ms=1),
        running("f-starting", ready=False, phase=PodPhase.PENDING, created_ms=1),
        a_pod("g-waiting", owner=OLD_SET, created_ms=1),
    ]
    waiting_first = [row.name for row in reversed(rows)][:4]
    order = [*waiting_first, "c-newer", "b-older", "a-lonely"]

    for left in range(7, 0, -1):
        after = edited(a_cluster(*rows), [scaled("web", left)])
        assert names(after) == sorted(order[7 - left :])


def test_a_stateful_set_shrinks_and_grows_by_ordinals() -> None:
    rows = [running(f"db-{number}", DB, created_ms=number) for number in (0, 1, 2, 10)]

    shrunk = edited(a_cluster(*rows), [scaled("db", 2)])
    grown = edited(a_cluster(*rows), [scaled("db", 6, "StatefulSet")])

    assert names(shrunk) == ["db-0", "db-1"]
    assert names(grown) == ["db-0", "db-1", "db-10", "db-2", "db-3", "db-4"]


def test_a_replica_brings_a_volume_of_its_own() -> None:
    tied = a_shape(1, volumes=((require((label_keys.ZONE, "In", ["zone-a"])),),))
    own = running("db-0", DB, volume_claims=("data-db-0",))
    shared = running("web-1", volume_claims=("files",))
    snapshot = replace(a_cluster(own, shared), shapes={1: tied})

    after = edited(snapshot, [scaled("db", 2), scaled("web", 2)])

    by_name = {row.name: row for row in after.pods.rows()}
    of_db, of_web = by_name["db-1"], by_name["web-6c4f5b7d9-whatif-1"]
    assert (after.shapes[of_db.shape].volumes, of_db.volume_claims) == ((), ())
    assert (after.shapes[of_web.shape], of_web.volume_claims) == (tied, ("files",))


def test_a_replica_is_not_held_where_a_volume_holds_another() -> None:
    held = (NodeTerm(requirements=ANYTHING, node_names=("node-1",)),)
    own = running("db-0", DB, volume_claims=("data-db-0",))
    shared = running("web-1", volume_claims=("files",))
    snapshot = replace(
        a_cluster(own, shared), shapes={1: replace(a_shape(1), required_node_terms=held)}
    )

    after = edited(snapshot, [scaled("db", 2), scaled("web", 2)])

    by_name = {row.name: after.shapes[row.shape] for row in after.pods.rows()}
    (free,) = by_name["db-1"].required_node_terms
    assert free.node_names == ()
    assert by_name["db-0"].required_node_terms == held
    assert by_name["web-6c4f5b7d9-whatif-1"].required_node_terms == held


def test_pods_that_end_do_not_count_and_go_with_their_workload_alone() -> None:
    rows = [
        running("going", created_ms=9, deleting_ms=10),
        running("done", created_ms=9, phase=PodPhase.SUCCEEDED),
        running("there", created_ms=1),
    ]

    assert names(edited(a_cluster(*rows), [scaled("web", 1)])) == ["done", "going", "there"]
    assert names(edited(a_cluster(*rows), [scaled("web", 0)])) == []


def test_a_daemon_set_that_is_removed_is_expected_nowhere() -> None:
    rows = [running("agent-1", AGENT, shape=100)]
    snapshot = a_cluster(*rows, daemonsets=[a_daemonset()])

    after = edited(snapshot, [scaled("agent", 0)])

    assert (list(after.daemonsets), names(after)) == ([], [])


def test_devices_of_pods_that_go_are_free() -> None:
    holds = (
        DeviceHold(device="a", claim="default/mine", reserved_for=("uid-w",)),
        DeviceHold(device="b", claim="default/ours", reserved_for=("uid-other", "uid-w")),
        DeviceHold(device="c", claim="default/fixed"),
    )
    pool = DevicePool(driver="gpu", pool="all", holds=holds)
    terms = (require((label_keys.ZONE, "In", ["zone-a"])),)
    claim = DeviceClaim(allocated_terms=terms, reserved_for=("uid-w",))
    snapshot = replace(
        a_cluster(running("w"), device_pools=[pool]), shapes={1: a_shape(1, device_claims=(claim,))}
    )

    for edit in (scaled("web", 0), RemoveNodes(names=("node-1",))):
        after = edited(snapshot, [edit])
        assert after.device_pools[pool.key].holds == (
            replace(holds[1], reserved_for=("uid-other",)),
            holds[2],
        )
        assert after.shapes[1].device_claims == (DeviceClaim(),)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        pytest.param(
            scaled("wbe", 1),
            'scale_owner.name: there is no workload with pods "wbe"; perhaps "web" in namespace '
            '"default"; what has no pod is added by its shape',
            id="no such name",
        ),
        pytest.param(
            scaled("both", 1),
            'scale_owner.kind: "default/both" is the name of several: ReplicaSet, StatefulSet; '
            "name one of the kinds",
            id="two of one name",
        ),
        pytest.param(
            scaled("agent", 2),
            "scale_owner.replicas: a DaemonSet has a pod per node; it takes no number but 0, "
            "which removes it",
            id="a DaemonSet",
        ),
        pytest.param(
            scaled("web", 300_000),
            "scale_owner.replicas: a scenario adds at most 200000 pods",
            id="too many",
        ),
        pytest.param(
            AddPods(shape=a_shape(), count=200_001),
            "add_pods.count: a scenario adds at most 200000 pods",
            id="too many added",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_field(edit: ScaleOwner | AddPods, message: str) -> None:
    both = Owner(api_version="apps/v1", kind="StatefulSet", name="both", uid="uid-both")
    rows = [
        running("web-1"),
        running("both-0", both),
        running("both-x", an_owner(name="both")),
    ]

    with pytest.raises(InvalidRequest) as refused:
        edited(a_cluster(*rows, daemonsets=[a_daemonset()]), [edit])

    assert str(refused.value) == f"edits[0].{message}"


@pytest.mark.parametrize(
    ("edits", "replicas"),
    [
        pytest.param([scaled("web", 1), scaled("web", 3)], 3, id="down, then up"),
        pytest.param([scaled("web", 0), scaled("web", 2, "Deployment")], 2, id="gone, then back"),
        pytest.param([scaled("web", 5), scaled("web", 2)], 2, id="up, then down"),
    ],
)
def test_of_one_workload_the_last_number_counts(edits: list[ScaleOwner], replicas: int) -> None:
    cluster = a_cluster(running("a"), running("b"))

    after = edited(cluster, edits)

    assert after == edited(cluster, edits[-1:])
    assert len(names(after)) == replicas
    assert {"a", "b"} <= set(names(after))
