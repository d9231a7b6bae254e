"""What is refused, under which path; what an unknown number falls back to."""

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from joiner.lifecycle.v1 import lifecycle_pb2
from joiner.model.v1 import (
    capacity_pb2,
    node_pb2,
    nodeclaim_pb2,
    nodepool_pb2,
    pod_pb2,
    reason_pb2,
    requirement_pb2,
    resources_pb2,
    taint_pb2,
)
from joiner.provider.v1 import provider_pb2
from joiner.snapshot.v1 import snapshot_pb2
from joiner.solver.v1 import solver_pb2

from libs.domain.errors import InvalidRequest
from libs.domain.execution import CommandState
from libs.domain.nodeclaim import ConditionStatus
from libs.domain.pod import PodPhase
from libs.domain.provider import LaunchFailure, LaunchFailureKind, ProviderEventKind
from libs.domain.reason import Rule
from libs.domain.snapshot import PushResult
from libs.wire.execution import decode_command_progress
from libs.wire.launch import decode_launch_outcomes
from libs.wire.nodeclaim import decode_condition_status
from libs.wire.pod_table import decode_pod_table
from libs.wire.provider import decode_provider_event
from libs.wire.reason import decode_rule
from libs.wire.scenario import decode_edit
from libs.wire.snapshot import (
    decode_full_snapshot,
    decode_push_request,
    decode_push_response,
    decode_snapshot_update,
)

UNKNOWN = 99
BALANCED = nodepool_pb2.CONSOLIDATION_POLICY_BALANCED
WHEN = Timestamp(seconds=1)


def an_id() -> snapshot_pb2.SnapshotId:
    return snapshot_pb2.SnapshotId(
        cluster_id="c", epoch=snapshot_pb2.Epoch(boot_id="b"), revision=5
    )


def an_update(**fields: Any) -> snapshot_pb2.SnapshotUpdate:
    return snapshot_pb2.SnapshotUpdate(id=an_id(), observed_at=WHEN, **fields)


def a_node(**fields: Any) -> node_pb2.Node:
    given: dict[str, Any] = {"name": "n", "uid": "u", "created_at": WHEN}
    return node_pb2.Node(**(given | fields))


def amounts(name: str, amount: int) -> resources_pb2.Resources:
    return resources_pb2.Resources(amounts=[resources_pb2.ResourceAmount(name=name, amount=amount)])


def a_table(**columns: Any) -> pod_pb2.PodTable:
    one: dict[str, Any] = {
        "uids": ["u"],
        "namespaces": ["default"],
        "names": ["p"],
        "shapes": [1],
        "nodes": [""],
        "phases": [1],
        "ready": [False],
        "provisionable": [True],
        "created_ms": [1],
        "started_ms": [0],
        "deleting_ms": [0],
        "priorities": [0],
        "deletion_costs": [0],
        "do_not_disrupt_ms": [0],
        "owner_rows": [0],
    }
    return pod_pb2.PodTable(**(one | columns))


def a_pool(**fields: Any) -> nodepool_pb2.NodePool:
    given: dict[str, Any] = {
        "name": "p",
        "uid": "u",
        "template": nodepool_pb2.NodeTemplate(
            node_class=capacity_pb2.NodeClassRef(group="g", kind="k", name="n")
        ),
        "disruption": nodepool_pb2.Disruption(consolidation_policy=BALANCED),
    }
    return nodepool_pb2.NodePool(**(given | fields))


def a_shape(**fields: Any) -> pod_pb2.PodShape:
    return pod_pb2.PodShape(namespace="default", **fields)


def a_requirement(**fields: Any) -> requirement_pb2.Requirements:
    return requirement_pb2.Requirements(requirements=[requirement_pb2.Requirement(**fields)])


def a_catalogue(**offering: Any) -> capacity_pb2.Catalogue:
    return capacity_pb2.Catalogue(
        node_class=capacity_pb2.NodeClassRef(group="g", kind="k", name="n"),
        observed_at=WHEN,
        instance_types=[
            capacity_pb2.InstanceType(name="t", offerings=[capacity_pb2.Offering(**offering)])
        ],
    )


@pytest.mark.parametrize(
    ("update", "field"),
    [
        pytest.param(snapshot_pb2.SnapshotUpdate(), "id", id="no id"),
        pytest.param(
            snapshot_pb2.SnapshotUpdate(id=an_id()),
            "observed_at",
            id="no instant",
        ),
        pytest.param(an_update(base_revision=5), "base_revision", id="base not below"),
        pytest.param(an_update(nodes=[a_node(), a_node(name="")]), "nodes[1].name", id="no name"),
        pytest.param(an_update(nodes=[a_node(), a_node()]), "nodes", id="a node twice"),
        pytest.param(
            an_update(nodes=[a_node(), a_node(name="m", allocatable=amounts("cpu", -1))]),
            "nodes[1].allocatable.cpu",
            id="negative allocatable",
        ),
        pytest.param(
            an_update(nodes=[a_node(allocatable=amounts("", 1))]),
            "nodes[0].allocatable.amounts[0].name",
            id="resource without name",
        ),
        pytest.param(
            an_update(nodes=[a_node(taints=[taint_pb2.Taint(key="k")])]),
            "nodes[0].taints[0].effect",
            id="taint without effect",
        ),
        pytest.param(
            an_update(nodes=[a_node(taints=[taint_pb2.Taint(key="k", effect=UNKNOWN)])]),  # type: ignore[arg-type]  # a newer peer's number
            "nodes[0].taints[0].effect",
            id="taint with unknown effect",
        ),
        pytest.param(
            an_update(nodes=[a_node(created_at=Timestamp(seconds=10**12))]),
            "nodes[0].created_at.seconds",
            id="year after 9999",
        ),
        pytest.param(
            an_update(nodes=[a_node(labels=[requirement_pb2.Label(value="v")])]),
            "nodes[0].labels",
            id="label without key",
        ),
        pytest.param(
            an_update(shapes=[a_shape(node_selector=a_requirement(values=["v"]))]),
            "shapes[0].node_selector.requirements[0].key",
            id="requirement without key",
        ),
        pytest.param(
            an_update(shapes=[a_shape(node_selector=a_requirement(key="k", min_values=51))]),
            "shapes[0].node_selector.requirements[0].min_values",
            id="minValues above 50",
        ),
        pytest.param(
            an_update(shapes=[a_shape(host_ports=[pod_pb2.HostPort(ip="0.0.0.0", port=80)])]),
            "shapes[0].host_ports[0].protocol",
            id="port without protocol",
        ),
        pytest.param(
            an_update(shapes=[a_shape(volumes=[pod_pb2.VolumeTopology()])]),
            "shapes[0].volumes[0].alternatives",
            id="volume without alternatives",
        ),
        pytest.param(
            an_update(nodepools=[a_pool(disruption=nodepool_pb2.Disruption())]),
            "nodepools[0].disruption.consolidation_policy",
            id="pool without policy",
        ),
        pytest.param(
            an_update(
                nodepools=[
                    a_pool(
                        disruption=nodepool_pb2.Disruption(
                            consolidation_policy=BALANCED,
                            budgets=[nodepool_pb2.Budget()],
                        )
                    )
                ]
            ),
            "nodepools[0].disruption.budgets[0].amount",
            id="budget without amount",
        ),
        pytest.param(
            an_update(
                nodepools=[
                    a_pool(
                        disruption=nodepool_pb2.Disruption(
                            consolidation_policy=BALANCED,
                            budgets=[
                                nodepool_pb2.Budget(
                                    nodes=1,
                                    reasons=[
                                        nodepool_pb2.DISRUPTION_REASON_EMPTY,
                                        nodepool_pb2.DISRUPTION_REASON_UNSPECIFIED,
                                    ],
                                )
                            ],
                        )
                    )
                ]
            ),
            "nodepools[0].disruption.budgets[0].reasons[1]",
            id="budget for no reason",
        ),
        pytest.param(
            an_update(
                catalogues=[a_catalogue(zone="a", capacity_type="spot", price_nanos_per_hour=-1)]
            ),
            "catalogues[0].instance_types[0].offerings[0].price_nanos_per_hour",
            id="negative price",
        ),
        pytest.param(
            an_update(catalogues=[a_catalogue(capacity_type="spot")]),
            "catalogues[0].instance_types[0].offerings[0].zone",
            id="offering without zone",
        ),
    ],
)
def test_a_bad_update_is_refused_under_the_path_of_what_is_wrong(
    update: snapshot_pb2.SnapshotUpdate, field: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        decode_snapshot_update(update)

    assert refused.value.field == field


@pytest.mark.parametrize(
    ("table", "field"),
    [
        pytest.param(a_table(names=[]), "names", id="short column"),
        pytest.param(a_table(ready=[True, True]), "ready", id="long column"),
        pytest.param(a_table(uids=[]), "namespaces", id="no uids"),
        pytest.param(a_table(uids=[""]), "uids[0]", id="empty uid"),
        pytest.param(a_table(owner_rows=[1]), "owner_rows[0]", id="owner out of range"),
        pytest.param(a_table(created_ms=[-1]), "created_ms[0]", id="before 1970"),
        pytest.param(a_table(deleting_ms=[2**60]), "deleting_ms[0]", id="after 9999"),
        pytest.param(a_table(do_not_disrupt_ms=[-2]), "do_not_disrupt_ms[0]", id="below for ever"),
        pytest.param(
            a_table(volumes=[pod_pb2.PodVolumes(row=1)]), "volumes[0].row", id="row out of range"
        ),
        pytest.param(
            a_table(gangs=[pod_pb2.PodGang(row=0), pod_pb2.PodGang(row=0)]),
            "gangs[1].row",
            id="row twice",
        ),
        pytest.param(
            a_table(targets=[pod_pb2.PodTarget(row=1, node="n")]),
            "targets[0].row",
            id="target of no row",
        ),
        pytest.param(
            a_table(targets=[pod_pb2.PodTarget(row=0)]), "targets[0].target", id="no target"
        ),
        pytest.param(
            a_table(owners=[pod_pb2.Owner(kind="Job")]), "owners[0].api_version", id="bad owner"
        ),
    ],
)
def test_a_bad_pod_table_is_refused(table: pod_pb2.PodTable, field: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        decode_pod_table(table)

    assert refused.value.field == field


def test_rows_that_are_not_sorted_by_uid_are_refused() -> None:
    one = a_table()
    two = pod_pb2.PodTable()
    two.MergeFrom(one)
    two.MergeFrom(one)

    with pytest.raises(InvalidRequest) as refused:
        decode_pod_table(two)

    assert refused.value.field == "uids[1]"


def test_a_full_snapshot_whose_references_lead_nowhere_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="unknown shape 1"):
        decode_full_snapshot(an_update(pods=a_table()))


def test_a_change_does_not_pass_for_a_full_snapshot() -> None:
    with pytest.raises(InvalidRequest) as refused:
        decode_full_snapshot(an_update(base_revision=1))

    assert refused.value.field == "base_revision"


@pytest.mark.parametrize("ppm", [-1_000_001, 10_000_000_001], ids=["less than nothing", "beyond"])
def test_prices_change_within_bounds(ppm: int) -> None:
    edit = solver_pb2.Edit(offerings=solver_pb2.OfferingEdit(price_delta_ppm=ppm))

    with pytest.raises(InvalidRequest) as refused:
        decode_edit(edit)

    assert refused.value.field == "offerings.price_delta_ppm"


def test_an_empty_push_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="message"):
        decode_push_request(snapshot_pb2.PushSnapshotsRequest())


def phase(number: Any) -> PodPhase:
    return decode_pod_table(a_table(phases=[number])).blocks[0].phases[0]


def state(number: Any) -> CommandState:
    return decode_command_progress(
        lifecycle_pb2.WatchCommandsResponse(command_id="c", state=number, changed_at=WHEN)
    ).state


def event(number: Any) -> ProviderEventKind:
    return decode_provider_event(
        provider_pb2.WatchEventsResponse(id="e", provider_id="p", kind=number)
    ).kind


def failure(number: Any) -> LaunchFailureKind:
    outcome = provider_pb2.LaunchOutcome(
        nodeclaim="c", failure=provider_pb2.LaunchFailure(kind=number)
    )
    (decoded,) = decode_launch_outcomes(provider_pb2.CreateResponse(outcomes=[outcome]))
    assert isinstance(decoded.result, LaunchFailure)
    return decoded.result.kind


def pushed(number: Any) -> PushResult:
    return decode_push_response(snapshot_pb2.PushSnapshotsResponse(id=an_id(), result=number))[1]


@pytest.mark.parametrize(
    ("decode", "number", "fallback"),
    [
        pytest.param(phase, 0, PodPhase.PENDING, id="phase not set"),
        pytest.param(phase, UNKNOWN, PodPhase.UNKNOWN, id="unknown phase"),
        pytest.param(decode_rule, reason_pb2.RULE_UNSPECIFIED, Rule.UNKNOWN, id="rule not set"),
        pytest.param(decode_rule, UNKNOWN, Rule.UNKNOWN, id="unknown rule"),
        pytest.param(
            decode_condition_status, UNKNOWN, ConditionStatus.UNKNOWN, id="unknown status"
        ),
        pytest.param(state, 0, CommandState.UNKNOWN, id="state not set"),
        pytest.param(state, UNKNOWN, CommandState.UNKNOWN, id="unknown state"),
        pytest.param(event, UNKNOWN, ProviderEventKind.UNKNOWN, id="unknown event"),
        pytest.param(failure, 0, LaunchFailureKind.OTHER, id="failure not set"),
        pytest.param(failure, UNKNOWN, LaunchFailureKind.OTHER, id="unknown failure"),
        pytest.param(pushed, UNKNOWN, PushResult.NEEDS_FULL, id="unknown result"),
    ],
)
def test_unknown_numbers_are_read_as_the_contract_says(
    decode: Callable[[Any], Any], number: int, fallback: Any
) -> None:
    assert decode(number) is fallback


def test_a_condition_without_status_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="status"):
        decode_condition_status(nodeclaim_pb2.Condition.STATUS_UNSPECIFIED)
