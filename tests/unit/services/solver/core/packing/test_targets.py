"""Pods stay where an earlier plan put them: asked again, the solver buys nothing."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from libs.domain import labels as label_keys
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.plan import Plan
from libs.domain.pod import PodRow, Target
from libs.domain.pod_table import PodTable
from libs.domain.reason import TargetKind
from libs.domain.snapshot import ClusterSnapshot, keyed
from libs.domain.solution import SolveOptions
from services.solver.core.solve import solve
from tests.support.builders import (
    a_node,
    a_nodeclaim,
    a_pod,
    a_shape,
    a_snapshot,
    a_spread,
    a_term,
    selecting,
)
from tests.support.strategies.small import clusters
from tests.unit.services.solver.core.plan_check import Host, hosts_of, takes, violations

SETTINGS = settings(
    max_examples=100,
    derandomize=True,
)


@st.composite
def crowds(draw: st.DrawFn) -> ClusterSnapshot:
    """Return many pods of few sizes, which can be packed in many ways."""
    numbers = range(1, draw(st.integers(2, 6)) + 1)
    listed = [
        a_shape(
            number,
            cpu=draw(st.sampled_from(["300m", "700m", "1", "1700m", "2600m"])),
            memory=draw(st.sampled_from(["400Mi", "1Gi", "3Gi", "7Gi"])),
            labels={"app": f"app-{number}"},
            **draw(st.sampled_from(_constraints(f"app-{number}"))),
        )
        for number in numbers
    ]
    rows = [
        a_pod(f"pod-{number}", draw(st.sampled_from(numbers)), created_ms=number)
        for number in range(draw(st.integers(4, 30)))
    ]
    return a_snapshot(shapes=listed, pods=rows)


def _constraints(app: str) -> list[dict[str, Any]]:
    own = selecting(app=app)
    return [
        {},
        {},
        {"selector": {label_keys.ZONE: "zone-b"}},
        {"topology_spread": (a_spread(selector=own),)},
        {"topology_spread": (a_spread(label_keys.HOSTNAME, selector=own, max_skew=2),)},
        {"anti_affinity": (a_term(selector=own),)},
    ]


def assignment(plan: Plan) -> dict[str, Target]:
    """Return where each pod goes; new claims are called `claim-<index>`."""
    found = {
        uid: Target(one.target_kind, one.target) for one in plan.nominations for uid in one.pod_uids
    }
    for claim in plan.nodeclaims:
        for uid in claim.pod_uids:
            found[uid] = Target(TargetKind.NODECLAIM, f"claim-{claim.index}")
    return found


def in_flight(snapshot: ClusterSnapshot, plan: Plan) -> list[NodeClaim]:
    """Return the claims of a plan as they are when they are created."""
    found = []
    for one in plan.nodeclaims:
        template = snapshot.nodepools[one.nodepool].template
        found.append(
            a_nodeclaim(
                f"claim-{one.index}",
                nodepool=one.nodepool,
                requirements=one.requirements,
                requests=one.requests,
                labels=dict(template.labels) | dict(one.labels),
                taints=template.taints,
            )
        )
    return found


def after(snapshot: ClusterSnapshot, rows: list[PodRow], **collections: Any) -> ClusterSnapshot:
    """Return the snapshot with these pods, and with these collections in the place of its own."""
    changed: dict[str, Any] = {name: keyed(name, items) for name, items in collections.items()}
    return replace(snapshot, pods=PodTable.from_rows(rows), **changed)


def node_name(place: str) -> str:
    """Return what the node of a claim is called; one that is there keeps its name."""
    return place.replace("claim-", "new-")


def as_node(claim: Host) -> Node:
    """Return the node that a claim became."""
    return a_node(
        claim.name,
        nodeclaim=claim.name.replace("new-", "claim-"),
        labels=claim.labels,
        taints=claim.taints,
        allocatable=claim.allocatable,
    )


def bound_at_random(hosts: list[Host], rows: list[PodRow], chance: Any) -> dict[str, str]:
    """Bind some pods to nodes that can take them, as kube-scheduler may; return the nodes."""
    shape_of = {shape.id: shape for host in hosts for shape in host.planned}
    for host in hosts:
        host.planned = []
    found = {}
    for row in chance.sample(rows, chance.randint(0, len(rows))):
        able = [host for host in hosts if takes(hosts, host, shape_of[row.shape])]
        if able:
            host = chance.choice(able)
            host.pods.append(shape_of[row.shape])
            found[row.uid] = host.name
    return found


@SETTINGS
@given(clusters() | crowds())
def test_what_was_arranged_stays_and_is_not_bought_for_again(snapshot: ClusterSnapshot) -> None:
    first = solve(snapshot, SolveOptions()).plan
    targets = assignment(first)
    rows = [row._replace(target=targets.get(row.uid)) for row in snapshot.pods.rows()]
    later = after(snapshot, rows, nodeclaims=in_flight(snapshot, first))

    second = solve(later, SolveOptions()).plan

    nominated = {
        uid: Target(one.target_kind, one.target)
        for one in second.nominations
        for uid in one.pod_uids
    }
    assert {uid: nominated.get(uid) for uid in targets} == targets
    # What a limit kept back may be bought now: a claim may be smaller than it was counted.
    left = {uid for one in first.unplaced for uid in one.pod_uids}
    assert {uid for claim in second.nodeclaims for uid in claim.pod_uids} <= left


@SETTINGS
@given(clusters() | crowds(), st.randoms(use_true_random=False))
def test_only_pods_whose_room_is_gone_go_elsewhere(snapshot: ClusterSnapshot, chance: Any) -> None:
    solution = solve(snapshot, SolveOptions())
    targets = {
        uid: Target(TargetKind.NODE, node_name(target.name))
        for uid, target in assignment(solution.plan).items()
    }
    hosts = hosts_of(snapshot, solution)
    for host in hosts:
        host.name = node_name(host.name)
        host.labels[label_keys.HOSTNAME] = host.name
    new = [as_node(host) for host in hosts if host.name not in snapshot.nodes]
    rows = list(snapshot.pods.rows())
    bound = bound_at_random(hosts, [row for row in rows if row.uid in targets], chance)
    later = after(
        snapshot,
        [
            row._replace(node=bound[row.uid], provisionable=False)
            if row.uid in bound
            else row._replace(target=targets.get(row.uid))
            for row in rows
        ],
        nodes=[*snapshot.nodes.values(), *new],
        nodeclaims=in_flight(snapshot, solution.plan),
    )

    second = solve(later, SolveOptions())

    assert violations(later, second) == []
    there = {host.name: host for host in hosts_of(later, second)}
    for host in there.values():
        host.pods += host.planned
        host.planned = []
    found = assignment(second.plan)
    for row in later.pods.rows():
        shape = snapshot.shapes[row.shape]
        if shape.topology_spread or shape.affinity or row.target is None:
            continue  # what comes later may open a place to such a pod that it did not have
        if found.get(row.uid) != row.target:
            assert not takes(list(there.values()), there[row.target.name], shape)
