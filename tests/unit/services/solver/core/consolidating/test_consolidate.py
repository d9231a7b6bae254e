"""What is given up, what is replaced, and by what."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.blocking import BlockerKind
from libs.domain.errors import Unavailable
from libs.domain.feature_gates import FeatureGate
from libs.domain.nodepool import ConsolidationPolicy, Disruption, DisruptionReason
from libs.domain.question import Consolidation
from libs.domain.reason import TargetKind
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from libs.domain.workload import Gang
from services.solver.core.consolidating.consolidate import consolidate
from tests.support.builders import (
    NOW,
    a_catalogue,
    a_daemonset,
    a_pod,
    a_pool,
    a_shape,
    a_snapshot,
    a_spread,
    a_term,
    a_type,
    amounts,
    require,
    some_types,
)
from tests.support.fleets import Machine, a_fleet, a_machine, a_question
from tests.unit.services.solver.core.devices.planning import OPEN, claiming, gpus_of
from tests.unit.services.solver.core.devices.pools import CLASSES

ON_DEMAND = a_pool(requirements=require((label_keys.CAPACITY_TYPE, "In", ["on-demand"])))
DOLLAR = 10**9
SPOT_TO_SPOT = SolveOptions(feature_gates={FeatureGate.SPOT_TO_SPOT_CONSOLIDATION: True})


def asked(snapshot: ClusterSnapshot, *names: str, **override: Any) -> Consolidation:
    return consolidate(snapshot, a_question(snapshot, *names, **override))


def on_demand(*machines: Machine, **collections: Any) -> ClusterSnapshot:
    return a_fleet(*machines, **{"nodepools": [ON_DEMAND]} | collections)


def gone(found: Consolidation) -> list[list[str]]:
    return [[one.node for one in command.candidates] for command in found.commands]


def kinds(found: Consolidation) -> dict[str, str]:
    return {one.node: one.blockers[0].kind for one in found.left_alone}


def test_a_node_whose_pods_have_another_place_is_given_up() -> None:
    found = asked(on_demand(a_machine("a", 1), a_machine("b", 1, 1)), "a")

    (command,) = found.commands
    assert command.reason is DisruptionReason.UNDERUTILIZED
    assert command.candidates[0].pod_uids == ("uid-a-0",)
    assert command.saving_nanos_per_hour == DOLLAR // 5
    assert command.replacements == ()
    (nomination,) = command.nominations
    assert (nomination.target_kind, nomination.target) == (TargetKind.NODE, "b")
    assert nomination.pod_uids == ("uid-a-0",)
    assert found.existing_nanos_per_hour == 2 * DOLLAR // 5


def test_an_empty_node_is_given_up_as_empty() -> None:
    (command,) = asked(on_demand(a_machine("a"), a_machine("b", 1, 1, 1)), "a").commands

    assert (command.reason, command.moves) == (DisruptionReason.EMPTY, 0)


def test_a_node_that_is_too_large_is_replaced_by_cheaper_types_only() -> None:
    (command,) = asked(on_demand(a_machine("a", 1, cpus=16))).commands

    (claim,) = command.replacements
    assert claim.instance_types == ("m-2", "m-4", "m-8")
    assert claim.pod_uids == ("uid-a-0",)
    assert command.cost_nanos_per_hour == DOLLAR // 10
    assert command.saving_nanos_per_hour == 8 * DOLLAR // 10 - DOLLAR // 10


def test_nothing_as_dear_replaces_a_node() -> None:
    found = asked(on_demand(a_machine("a", 1, 1, 1)), "a")

    assert found.commands == ()
    assert kinds(found) == {"a": BlockerKind.NOT_CHEAPER}


def test_an_on_demand_node_is_replaced_by_spot_alone_where_that_is_allowed() -> None:
    (command,) = asked(a_fleet(a_machine("a", 1, cpus=16))).commands

    own = command.replacements[0].requirements.get(label_keys.CAPACITY_TYPE)
    assert own is not None
    assert own.values == {"spot"}


def test_one_new_node_replaces_several_where_none_alone_has_anything_cheaper() -> None:
    types = [
        a_type("m-4", price=200_000_000, capacity=amounts(cpu=4, memory="16Gi", pods=110)),
        a_type("m-8", price=300_000_000, capacity=amounts(cpu=8, memory="32Gi", pods=110)),
    ]
    full = (1, 1, 1, 1)
    snapshot = on_demand(
        a_machine("a", *full), a_machine("b", *full), catalogues=[a_catalogue(*types)]
    )

    (command,) = asked(snapshot).commands

    assert [one.node for one in command.candidates] == ["a", "b"]
    assert len(command.replacements) == 1
    assert command.saving_nanos_per_hour == DOLLAR // 10


def test_one_new_node_replaces_several_where_that_is_cheaper_than_one_for_each() -> None:
    types = [
        a_type("m-1", price=50_000_000, capacity=amounts(cpu=1, memory="4Gi", pods=110)),
        a_type("m-3", price=100_000_000, capacity=amounts(cpu=3, memory="12Gi", pods=110)),
        a_type("m-16", price=800_000_000, capacity=amounts(cpu=16, memory="64Gi", pods=110)),
    ]
    machines = [a_machine(name, 1, cpus=16) for name in "abcd"]

    found = asked(on_demand(*machines, catalogues=[a_catalogue(*types)]))

    assert sorted(map(len, gone(found))) == [1, 3]
    assert sum(one.cost_nanos_per_hour for one in found.commands) == 150_000_000


def test_fewer_are_replaced_together_where_all_at_once_cannot_be() -> None:
    types = [
        a_type("m-4", price=200_000_000, capacity=amounts(cpu=4, memory="16Gi", pods=110)),
        a_type("m-8", price=300_000_000, capacity=amounts(cpu=8, memory="32Gi", pods=110)),
        a_type("m-16", price=500_000_000, capacity=amounts(cpu=16, memory="64Gi", pods=110)),
    ]
    two_at_most = a_shape(
        1,
        cpu="4",
        labels=(("app", "web"),),
        topology_spread=(a_spread(label_keys.HOSTNAME, max_skew=2),),
    )
    machines = [*(a_machine(name, 1) for name in "abcd"), a_machine("full", 2)]
    shapes = [two_at_most, a_shape(2, cpu="4", labels={"app": "other"})]
    fleet = on_demand(*machines, catalogues=[a_catalogue(*types)], shapes=shapes)

    found = asked(fleet, *"abcd")

    assert sorted(map(len, gone(found))) == [2, 2]


@pytest.mark.parametrize(
    ("options", "types", "replaced"),
    [
        pytest.param(SolveOptions(), 20, False, id="gate closed"),
        pytest.param(SPOT_TO_SPOT, 20, True, id="gate open"),
        pytest.param(SPOT_TO_SPOT, 14, False, id="too few types are cheaper"),
    ],
)
def test_a_spot_node_is_replaced_by_spot(
    options: SolveOptions, types: int, *, replaced: bool
) -> None:
    sold = [a_type(f"s-{number:02}", price=10_000_000 + number) for number in range(types)]
    catalogue = a_catalogue(*sold, *some_types(16))
    snapshot = a_fleet(a_machine("a", 1, cpus=16, capacity_type="spot"), catalogues=[catalogue])

    found = asked(snapshot, options=options)

    assert [len(one.replacements[0].instance_types) for one in found.commands] == (
        [15] if replaced else []
    )


def test_no_more_nodes_go_than_the_budget_of_their_pool() -> None:
    fleet = on_demand(*(a_machine(f"n{number}", 1) for number in range(6)))

    found = asked(fleet, node_budgets=(("default", 2),))

    assert sum(len(one.candidates) for one in found.commands) == 2


@pytest.mark.parametrize(
    ("occupied", "empty", "given_up"),
    [
        pytest.param(0, 1, (0, 1), id="empty ones only"),
        pytest.param(0, 9, (0, 2), id="all empty ones"),
        pytest.param(2, 0, (2, 0), id="none that is empty"),
        pytest.param(1, 2, (0, 2), id="together no more than the larger"),
        pytest.param(2, 1, (1, 1), id="the scarcer reason first"),
        pytest.param(9, 9, (3, 2), id="both freely"),
    ],
)
def test_budgets_count_for_each_reason(
    occupied: int, empty: int, given_up: tuple[int, int]
) -> None:
    fleet = on_demand(
        *(a_machine(f"used-{number}", 1) for number in range(3)),
        *(a_machine(f"void-{number}") for number in range(2)),
        a_machine("large", 1, cpus=16),
    )
    names = [f"used-{number}" for number in range(3)] + ["void-0", "void-1"]

    found = asked(
        fleet,
        *names,
        node_budgets=(("default", occupied),),
        empty_node_budgets=(("default", empty),),
    )

    reasons = [one.reason for one in found.commands for _ in one.candidates]
    of_each = (DisruptionReason.UNDERUTILIZED, DisruptionReason.EMPTY)
    assert tuple(map(reasons.count, of_each)) == given_up
    bounds = dict(zip(of_each, (occupied, empty), strict=True))
    assert all(number < bounds[reason] for number, reason in enumerate(reasons))


def test_room_on_a_cordoned_node_is_not_counted_on() -> None:
    types = [
        a_type("m-4", price=200_000_000, capacity=amounts(cpu=4, memory="16Gi", pods=110)),
        a_type("m-8", price=300_000_000, capacity=amounts(cpu=8, memory="32Gi", pods=110)),
        a_type("m-16", price=500_000_000, capacity=amounts(cpu=16, memory="64Gi", pods=110)),
    ]
    machines = [*(a_machine(name, 1) for name in "abcd"), a_machine("e", unschedulable=True)]
    fleet = on_demand(*machines, catalogues=[a_catalogue(*types)], shapes=[a_shape(1, cpu="4")])

    assert gone(asked(fleet, *"abcd")) == [["a", "b", "c", "d"]]


def test_no_more_pods_move_than_allowed() -> None:
    fleet = on_demand(
        a_machine("a", 1, 1, 1), a_machine("b", 1), a_machine("c", 1, 1), a_machine("d", cpus=16)
    )

    found = asked(fleet, "a", "b", "c", max_moves=3)

    assert found.moves == 3
    assert len(found.commands) == 2


def test_pods_are_not_moved_for_less_than_the_price_of_a_move() -> None:
    fleet = on_demand(a_machine("a", 1), a_machine("b", 1, 1), a_machine("c", cpus=16))

    found = asked(fleet, "a", "b", move_price_nanos_per_hour=DOLLAR // 8)

    assert gone(found) == [["a"]]
    assert kinds(found) == {"b": BlockerKind.NOT_CHOSEN}


def test_no_pod_moves_twice() -> None:
    fleet = on_demand(*(a_machine(f"n{number}", 1, 1) for number in range(8)))

    found = asked(fleet)

    targets = {one.target for command in found.commands for one in command.nominations}
    assert found.commands
    assert targets.isdisjoint(name for names in gone(found) for name in names)


def test_pods_of_nodes_that_go_later_are_counted_where_they_run() -> None:
    alone = a_shape(1, anti_affinity=(a_term(label_keys.ZONE),))
    fleet = on_demand(
        a_machine("a", 1),
        a_machine("b", 1, zone="zone-b"),
        a_machine("c", zone="zone-b"),
        a_machine("d"),
        shapes=[alone],
    )

    found = asked(fleet, "a", "b")

    places = {one.pod_uids[0]: one.target for each in found.commands for one in each.nominations}
    assert places == {"uid-a-0": "d", "uid-b-0": "c"}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(a_machine("b", initialized=False), id="not initialized"),
        pytest.param(a_machine("b", unschedulable=True), id="cordoned"),
        pytest.param(
            a_machine("b", claim={"last_pod_event_at": NOW - timedelta(minutes=1)}),
            id="not at rest",
        ),
    ],
)
def test_pods_do_not_move_to_a_node_that_takes_none(other: Machine) -> None:
    waits = replace(ON_DEMAND, disruption=Disruption(consolidate_after=timedelta(minutes=5)))
    full = a_machine("a", 1, 1, 1, claim={"last_pod_event_at": NOW - timedelta(hours=1)})

    found = asked(on_demand(full, other, nodepools=[waits]), "a")

    assert found.commands == ()


def test_a_node_on_which_a_waiting_pod_has_a_place_stays() -> None:
    fleet = on_demand(a_machine("a"), waiting=[a_pod("new")])

    assert kinds(asked(fleet)) == {"a": BlockerKind.NOMINATED}


def test_room_that_a_waiting_pod_needs_is_not_given_to_others() -> None:
    fleet = on_demand(
        a_machine("a", 1, 1, 1), a_machine("b", 1, 1), waiting=[a_pod("new", 2)],
        shapes=[a_shape(1), a_shape(2, cpu="1500m", selector={label_keys.HOSTNAME: "b"})],
    )  # fmt: skip

    assert asked(fleet, "a").commands == ()


def test_a_replacement_needs_room_below_the_limits_while_both_stand() -> None:
    limited = replace(ON_DEMAND, limits=amounts(cpu=17))

    found = asked(on_demand(a_machine("a", 1, cpus=16), nodepools=[limited]))

    assert found.commands == ()
    ((blocker,),) = (one.blockers for one in found.left_alone)
    assert blocker.kind == BlockerKind.NO_PLACE
    assert 'nodepool "default" buys none: limits leave 1 cpu' in blocker.message
    assert "a node counts until it is gone" in blocker.message


def test_limits_are_not_to_blame_where_no_pool_sells_what_a_pod_needs() -> None:
    limited = replace(ON_DEMAND, limits=amounts(cpu=17))
    picky = a_shape(1, selector={label_keys.ARCH: "s390x"})

    found = asked(on_demand(a_machine("a", 1, cpus=16), nodepools=[limited], shapes=[picky]))

    ((blocker,),) = (one.blockers for one in found.left_alone)
    assert "limits" not in blocker.message


@pytest.mark.parametrize(
    ("machine", "kind"),
    [
        pytest.param(a_machine("a", leaving=True), BlockerKind.LEAVING, id="leaving"),
        pytest.param(a_machine("a", do_not_disrupt=True), BlockerKind.DO_NOT_DISRUPT, id="node"),
        pytest.param(
            a_machine("a", 1, pod={"do_not_disrupt_ms": -1}), BlockerKind.DO_NOT_DISRUPT, id="pod"
        ),
        pytest.param(a_machine("a", 1, cpus=5), BlockerKind.PRICE_UNKNOWN, id="type not sold"),
    ],
)
def test_a_candidate_stays(machine: Machine, kind: BlockerKind) -> None:
    assert kinds(asked(on_demand(machine, a_machine("b", 1)), "a")) == {"a": kind}


def test_a_candidate_that_is_not_what_it_was_stays() -> None:
    fleet = on_demand(a_machine("a"), a_machine("b", nodeclaim=""))
    first, second = a_question(on_demand(a_machine("a"), a_machine("b"))).candidates
    lost = replace(first, node="lost")
    candidates = (replace(first, nodeclaim_uid="other"), second, lost)

    found = asked(fleet, candidates=candidates)

    assert kinds(found) == {
        "a": BlockerKind.GONE,
        "b": BlockerKind.UNMANAGED,
        "lost": BlockerKind.GONE,
    }


def test_nodes_of_a_static_pool_stay() -> None:
    fleet = on_demand(a_machine("a"), nodepools=[replace(ON_DEMAND, replicas=1)])

    assert kinds(asked(fleet)) == {"a": BlockerKind.STATIC}


def test_the_order_of_candidates_does_not_matter() -> None:
    fleet = on_demand(*(a_machine(f"n{number}", 1, cpus=2**number) for number in (1, 2, 3)))
    question = a_question(fleet)
    turned = replace(question, candidates=question.candidates[::-1])

    assert consolidate(fleet, turned) == consolidate(fleet, question)


def test_commands_have_ids_of_their_own() -> None:
    fleet = on_demand(a_machine("a"), a_machine("b"), a_machine("c", 1, 1, 1))

    found = asked(fleet, "a", "b")

    assert len({one.id for one in found.commands}) == 2


def test_no_candidates_make_no_commands() -> None:
    snapshot = a_snapshot(pods=[])

    assert consolidate(snapshot, a_question(snapshot)).commands == ()


def test_who_has_gone_away_gets_no_answer() -> None:
    fleet = on_demand(a_machine("a", 1), a_machine("b", 1))

    with pytest.raises(Unavailable):
        consolidate(fleet, a_question(fleet), cancelled=lambda: True)


def test_a_replacement_has_room_for_the_daemons_that_come() -> None:
    fleet = on_demand(
        a_machine("a", 1, cpus=16),
        a_machine("b", 1, 1, 1, cpus=16),
        shapes=[a_shape(1), a_shape(9, cpu="1500m", labels={"app": "agent"})],
        daemonsets=[a_daemonset(shape=9)],
    )

    found = asked(fleet)

    assert [one.replacements[0].instance_types[0] for one in found.commands] == ["m-8"]


@pytest.mark.parametrize(
    ("members", "moves"),
    [pytest.param(2, True, id="enough run"), pytest.param(3, False, id="too few run")],
)
def test_a_pod_moves_whose_gang_is_whole(members: int, *, moves: bool) -> None:
    fleet = on_demand(
        a_machine("a", 1, pod={"gang": "default/train"}),
        a_machine("b", 1, pod={"gang": "default/train"}),
        gangs=[Gang(namespace="default", name="train", min_members=members)],
    )

    assert bool(asked(fleet, "a").commands) is moves


@pytest.mark.parametrize(
    ("pods", "given_up"),
    [
        pytest.param(1, True, id="a share of the cost for a share of the pods"),
        pytest.param(2, False, id="most of the pods for little of the cost"),
    ],
)
def test_a_balanced_pool_gives_up_what_saves_as_much_as_it_disturbs(
    pods: int, *, given_up: bool
) -> None:
    balanced = replace(
        ON_DEMAND,
        disruption=Disruption(consolidation_policy=ConsolidationPolicy.BALANCED),
    )
    small = a_shape(1, cpu="100m", memory="100Mi")
    fleet = on_demand(
        a_machine("a", *[1] * pods),
        a_machine("b", 1, 1, 1, cpus=16),
        shapes=[small],
        nodepools=[balanced],
    )

    assert bool(asked(fleet, "a").commands) is given_up


def test_devices_are_handed_out_by_one_command() -> None:
    classes = list(CLASSES.values())
    fleet = on_demand(
        a_machine("a", 1),
        a_machine("b", 1),
        a_machine("c"),
        shapes=[claiming()],
        device_pools=[gpus_of("c", 2)],
        device_classes=classes,
    )

    found = asked(fleet, "a", "b", options=OPEN)

    assert len(found.commands) == 1
    (stays,) = found.left_alone
    assert stays.blockers[0].message == "devices are handed out to other pods first"


def test_pods_that_keep_apart_share_no_new_node() -> None:
    alone = a_shape(1, anti_affinity=(a_term(label_keys.HOSTNAME),))
    fleet = on_demand(a_machine("a", 1, cpus=8), a_machine("b", 1, cpus=8), shapes=[alone])

    found = asked(fleet)

    assert gone(found) == [["a"], ["b"]]
    assert [len(one.replacements) for one in found.commands] == [1, 1]
