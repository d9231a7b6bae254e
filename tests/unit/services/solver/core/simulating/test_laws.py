"""Laws of edits and of what they change, over random clusters."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue
from libs.domain.errors import InvalidRequest, Unavailable
from libs.domain.plan import Plan
from libs.domain.pod_table import PodTable
from libs.domain.scenario import (
    AddNodes,
    AddPods,
    CordonNodes,
    Edit,
    EditOfferings,
    PutNodePool,
    PutOverlay,
    RemoveNodePool,
    RemoveNodes,
    ScaleOwner,
    Scenario,
)
from libs.domain.snapshot import ClusterSnapshot, apply, delta, full, inconsistencies
from libs.domain.solution import SolveOptions
from services.solver.core.offers.catalogue import CatalogueColumns, build
from services.solver.core.offers.market import Memory
from services.solver.core.simulating.edited import edited
from services.solver.core.simulating.simulate import base, outcome, simulate
from services.solver.core.solve import solve
from tests.support.builders import ZONES, a_pool, a_shape, an_owner
from tests.support.everything import OPTIONS, everything
from tests.support.strategies.small import clusters
from tests.unit.services.solver.core.plan_check import violations

thorough = settings(max_examples=150, derandomize=True, suppress_health_check=list(HealthCheck))
OWNER = an_owner(name="web")
EDITS: tuple[st.SearchStrategy[Edit], ...] = (
    st.builds(RemoveNodes, names=st.sets(st.sampled_from(("node-0", "node-1"))).map(tuple)),
    st.builds(CordonNodes, names=st.sampled_from((("node-0",), ("node-2",)))),
    st.builds(
        AddNodes,
        nodepool=st.sampled_from(("plain", "special")),
        instance_type=st.sampled_from(("m-2", "m-8", "a-4")),
        zone=st.sampled_from(ZONES),
        capacity_type=st.sampled_from(("spot", "on-demand")),
        count=st.integers(1, 2),
    ),
    st.builds(AddPods, shape=st.sampled_from((a_shape(), a_shape(cpu="3"))), count=st.just(2)),
    st.builds(
        ScaleOwner,
        namespace=st.just("default"),
        kind=st.sampled_from(("", "ReplicaSet")),
        name=st.just(OWNER.name),
        replicas=st.integers(0, 6),
    ),
    st.builds(PutNodePool, nodepool=st.sampled_from((a_pool("plain", weight=9), a_pool("new")))),
    st.builds(RemoveNodePool, name=st.sampled_from(("plain", "special"))),
    st.builds(
        EditOfferings,
        zone=st.sampled_from(("", *ZONES)),
        capacity_type=st.sampled_from(("", "spot", "on-demand")),
        available=st.booleans(),
    ),
    st.builds(EditOfferings, zone=st.sampled_from(ZONES), price_delta_ppm=st.integers(-9, 9)),
)
scenarios = st.lists(st.one_of(EDITS), min_size=1, max_size=4).map(tuple)


@st.composite
def worlds(draw: st.DrawFn) -> ClusterSnapshot:
    """Return a small cluster of whose pods some have an owner."""
    snapshot = draw(clusters())
    rows = [
        row._replace(owner=OWNER) if draw(st.booleans()) else row for row in snapshot.pods.rows()
    ]
    return replace(snapshot, pods=PodTable.from_rows(rows))


def one_by_one(snapshot: ClusterSnapshot, edits: tuple[Edit, ...]) -> ClusterSnapshot:
    for edit in edits:
        snapshot = edited(snapshot, [edit])
    return snapshot


def attempted(
    edit: Callable[[ClusterSnapshot, tuple[Edit, ...]], ClusterSnapshot],
    snapshot: ClusterSnapshot,
    edits: tuple[Edit, ...],
) -> tuple[ClusterSnapshot | None, str]:
    """Return the edited snapshot, or why there is none."""
    try:
        return edit(snapshot, edits), ""
    except InvalidRequest as error:
        return None, error.detail


def possible(snapshot: ClusterSnapshot, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Return the edits without those that name what is not there when it is their turn."""
    kept: tuple[Edit, ...] = ()
    for edit in edits:
        if attempted(edited, snapshot, (*kept, edit))[0] is not None:
            kept = (*kept, edit)
    return kept


@thorough
@given(worlds(), scenarios)
def test_edits_compose(snapshot: ClusterSnapshot, edits: tuple[Edit, ...]) -> None:
    after, refusal = attempted(edited, snapshot, edits)

    assert (after, refusal) == attempted(one_by_one, snapshot, edits)
    if after is None:
        return
    assert inconsistencies(after) == ()
    assert apply(full(after), None) == after
    assert apply(delta(snapshot, after), snapshot) == after


@thorough
@given(worlds(), scenarios)
def test_a_what_if_keeps_all_rules_and_tells_what_it_changes(
    snapshot: ClusterSnapshot, edits: tuple[Edit, ...]
) -> None:
    edits = possible(snapshot, edits)
    after = edited(snapshot, edits)

    start = base(snapshot, SolveOptions())
    answer = simulate(start, Scenario(name="s", edits=edits), 3)

    assert replace(answer, scenario="", position=0) == outcome(start, after)
    assert answer.solution == solve(after, SolveOptions())
    assert violations(after, answer.solution) == []
    diff, plan = answer.diff, answer.solution.plan
    assert diff.cost_after_nanos_per_hour == (
        answer.solution.cost.existing_nanos_per_hour + answer.solution.cost.new_nanos_per_hour
    )
    assert set(after.nodes) == set(snapshot.nodes) - set(diff.removed_nodes) | set(diff.added_nodes)
    added = {one.uid for one in diff.added_pods}
    assert set(after.pods.uids) == set(snapshot.pods.uids) - set(diff.removed_pods) | added
    assert _at_home(snapshot) - _at_home(after) == (
        {uid for move in diff.moves for uid in move.pod_uids}
        | set(diff.stranded_pods)
        | {uid for uid in diff.removed_pods if uid in _at_home(snapshot)}
    )
    assert set(diff.stranded_pods) <= _unplaced(plan)


def _at_home(snapshot: ClusterSnapshot) -> set[str]:
    return {row.uid for row in snapshot.pods.rows() if row.node}


def _unplaced(plan: Plan) -> set[str]:
    return {uid for group in plan.unplaced for uid in group.pod_uids}


def test_what_is_not_touched_is_shared() -> None:
    snapshot = everything()

    assert edited(snapshot, []) is snapshot
    after = edited(snapshot, [CordonNodes(names=("node-1",))])

    assert after.pods is snapshot.pods
    assert after.catalogues is snapshot.catalogues
    assert after.shapes is snapshot.shapes
    assert after.nodes["node-2"] is snapshot.nodes["node-2"]


def test_scenarios_share_the_columns_of_what_is_sold_and_leave_theirs_to_nobody() -> None:
    built: list[Catalogue] = []

    def columns_of(catalogue: Catalogue) -> CatalogueColumns:
        built.append(catalogue)
        return build(catalogue)

    snapshot = everything()
    start = base(snapshot, OPTIONS, memory=Memory(columns_of=columns_of))
    known = len(built)

    for edits in ((), (CordonNodes(names=("node-1",)),), (EditOfferings(price_delta_ppm=1),)):
        answer = simulate(start, Scenario(name="s", edits=edits))
        assert answer.solution == solve(edited(snapshot, edits), OPTIONS)
    assert len(built) == known


def test_overlays_count_on_top_of_edits() -> None:
    snapshot = everything()
    dearer = EditOfferings(price_delta_ppm=10**6)
    overlay = replace(snapshot.overlays["cheaper"], price_nanos_per_hour=7, price_delta_ppm=None)
    edits = (dearer, PutOverlay(overlay=replace(overlay, price_delta_nanos_per_hour=None)))

    answer = simulate(base(snapshot, OPTIONS), Scenario(name="s", edits=edits))

    assert answer.solution == solve(edited(snapshot, edits), OPTIONS)


def test_a_bad_edit_is_named_by_its_place_in_the_question() -> None:
    edits = (CordonNodes(names=("node-1",)), RemoveNodes(names=("node-9",)))

    with pytest.raises(InvalidRequest) as refused:
        simulate(base(everything(), OPTIONS), Scenario(name="s", edits=edits), 2)

    assert refused.value.field == "scenarios[2].edits[1].remove_nodes.names[0]"


def test_a_caller_who_leaves_stops_the_work() -> None:
    with pytest.raises(Unavailable):
        simulate(base(everything(), OPTIONS), Scenario(name="s"), cancelled=lambda: True)


def test_a_node_without_a_price_costs_nothing() -> None:
    snapshot = everything()
    unmanaged = replace(
        snapshot,
        nodes={
            name: replace(node, labels=((label_keys.HOSTNAME, name),), nodeclaim="")
            for name, node in snapshot.nodes.items()
        },
        nodeclaims={},
    )

    assert base(unmanaged, OPTIONS).cost_nanos_per_hour == 0
