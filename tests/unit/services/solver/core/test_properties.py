"""Laws of every plan, over random small clusters with all kinds of constraints mixed."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.domain import labels as label_keys
from libs.domain.pod import PodRow, PodShape
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from services.solver.core.solve import solve
from tests.support.builders import (
    ZONES,
    a_catalogue,
    a_node,
    a_node_term,
    a_pod,
    a_pool,
    a_port,
    a_shape,
    a_snapshot,
    a_spread,
    a_taint,
    a_term,
    a_toleration,
    a_type,
    amounts,
    require,
    selecting,
)
from tests.unit.services.solver.core.plan_check import overlooked, violations

SETTINGS = settings(
    max_examples=150,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
APPS = ("web", "api")
KEYS = (label_keys.ZONE, label_keys.HOSTNAME)


@st.composite
def shapes(draw: st.DrawFn, number: int) -> PodShape:
    app = draw(st.sampled_from(APPS))
    override: dict[str, Any] = {"labels": {"app": app}}
    kinds = draw(st.sets(st.integers(0, 8), max_size=3))
    target = selecting(app=draw(st.sampled_from(APPS)))
    key = draw(st.sampled_from(KEYS))
    if 0 in kinds:
        override["topology_spread"] = (
            a_spread(
                key,
                selector=target,
                max_skew=draw(st.integers(1, 2)),
                min_domains=draw(st.sampled_from([None, 2, 3])),
            ),
        )
    if 1 in kinds:
        override["affinity"] = (a_term(key, selector=target),)
    if 2 in kinds:
        override["anti_affinity"] = (a_term(key, selector=target),)
    if 3 in kinds:
        override["selector"] = {label_keys.ZONE: draw(st.sampled_from(ZONES))}
    if 4 in kinds:
        zones = draw(st.lists(st.sampled_from(ZONES), min_size=1, max_size=2, unique=True))
        override["required_node_terms"] = (
            a_node_term((label_keys.ARCH, "In", ["arm64"])),
            a_node_term((label_keys.ZONE, "NotIn", zones)),
        )
    if 5 in kinds:
        override["tolerations"] = (a_toleration("dedicated"),)
    if 6 in kinds:
        override["host_ports"] = (a_port(draw(st.integers(80, 81))),)
    if 7 in kinds:
        override["extra"] = amounts(gpu=1)
    if 8 in kinds:
        zones = draw(st.lists(st.sampled_from(ZONES), min_size=1, max_size=2, unique=True))
        override["volumes"] = (tuple(require((label_keys.ZONE, "In", [zone])) for zone in zones),)
    return a_shape(
        number,
        cpu=draw(st.sampled_from(["100m", "1", "3"])),
        memory=draw(st.sampled_from(["256Mi", "2Gi", "6Gi"])),
        **override,
    )


@st.composite
def clusters(draw: st.DrawFn) -> ClusterSnapshot:
    listed = [draw(shapes(number)) for number in range(1, draw(st.integers(1, 4)) + 1)]
    nodes = [
        a_node(
            f"node-{number}",
            labels={label_keys.ZONE: draw(st.sampled_from(ZONES))},
            taints=draw(st.sampled_from([(), (), (a_taint(),)])),
            unschedulable=False,
        )
        for number in range(draw(st.integers(0, 3)))
    ]
    rows: list[PodRow] = []
    for number in range(draw(st.integers(1, 10))):
        shape = draw(st.sampled_from(listed))
        rows.append(a_pod(f"pod-{number}", shape.id, created_ms=draw(st.integers(1, 3))))
    bare = a_shape(50, cpu="500m", labels={"app": "web"})
    keeping_away = a_shape(
        51, cpu="500m", labels={"app": "api"}, anti_affinity=(a_term(draw(st.sampled_from(KEYS))),)
    )
    if nodes:
        rows += [
            a_pod(f"old-{number}", draw(st.sampled_from([50, 50, 51])), node=nodes[0].name)
            for number in range(draw(st.integers(0, 1)))
        ]
    pools = [
        a_pool("plain", weight=draw(st.integers(0, 1)), limits=draw(st.sampled_from(LIMITS))),
        a_pool(
            "special",
            taints=(a_taint(),),
            requirements=require((label_keys.ZONE, "In", list(ZONES[:2]))),
        ),
    ][: draw(st.integers(0, 2))]
    return a_snapshot(
        shapes=[*listed, bare, keeping_away],
        pods=rows,
        nodes=nodes,
        nodepools=pools,
        catalogues=[CATALOGUE],
    )


LIMITS = (amounts(), amounts(cpu=12), amounts(nodes=2))
CATALOGUE = a_catalogue(
    a_type("m-2", capacity=amounts(cpu=2, memory="8Gi", pods=4), price=10**8),
    a_type("m-8", capacity=amounts(cpu=8, memory="32Gi", pods=10), price=5 * 10**8),
    a_type("a-4", arch="arm64", capacity=amounts(cpu=4, memory="16Gi", pods=8), price=10**8),
    a_type("g-4", capacity=amounts(cpu=4, memory="16Gi", pods=8, gpu=2), price=10**9),
)


@SETTINGS
@given(clusters())
def test_no_plan_breaks_a_hard_rule(snapshot: ClusterSnapshot) -> None:
    assert violations(snapshot, solve(snapshot, SolveOptions())) == []


@SETTINGS
@given(clusters())
def test_nobody_is_left_over_who_would_fit_alone(snapshot: ClusterSnapshot) -> None:
    assert overlooked(snapshot, solve(snapshot, SolveOptions())) == []


@SETTINGS
@given(clusters(), st.randoms(use_true_random=False))
def test_the_order_and_numbering_of_the_input_never_matter(
    snapshot: ClusterSnapshot, chance: Any
) -> None:
    rows = list(snapshot.pods.rows())
    listed = list(snapshot.shapes.values())
    chance.shuffle(rows)
    chance.shuffle(listed)
    shuffled = a_snapshot(
        shapes=listed,
        pods=rows,
        nodes=reversed(list(snapshot.nodes.values())),
        nodepools=reversed(list(snapshot.nodepools.values())),
        catalogues=snapshot.catalogues.values(),
    )

    assert solve(shuffled, SolveOptions()) == solve(snapshot, SolveOptions())


@SETTINGS
@given(clusters())
def test_what_is_left_over_says_why_for_every_pool(snapshot: ClusterSnapshot) -> None:
    plan = solve(snapshot, SolveOptions()).plan

    for unplaced in plan.unplaced:
        assert {one.target for one in unplaced.reason.rejections} == set(snapshot.nodepools)
        assert sum(count for _, count in unplaced.reason.existing) == len(snapshot.nodes)


def test_no_pods_make_an_empty_plan() -> None:
    solution = solve(a_snapshot(pods=()), SolveOptions())

    assert (solution.plan.nodeclaims, solution.plan.nominations) == ((), ())
    assert solution.pods.waiting == 0
