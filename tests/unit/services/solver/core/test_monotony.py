"""More room, or less asked for, never costs a pod its place, where all pods are of one shape.

With one constraint at a time: of several together, kube-scheduler itself may refuse more once a
node makes a domain real that the other constraint keeps empty.
"""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from libs.domain import labels as label_keys
from libs.domain.pod import PodShape
from libs.domain.snapshot import ClusterSnapshot, keyed
from libs.domain.solution import SolveOptions
from services.solver.core.solve import solve
from tests.support.builders import (
    ZONES,
    a_catalogue,
    a_node,
    a_node_term,
    a_pool,
    a_port,
    a_shape,
    a_snapshot,
    a_spread,
    a_term,
    a_type,
    amounts,
    pods,
    require,
)

SETTINGS = settings(
    max_examples=150,
    derandomize=True,
)
KEYS = st.sampled_from((label_keys.ZONE, label_keys.HOSTNAME))
SOME_ZONES = st.lists(st.sampled_from(ZONES), min_size=1, max_size=2, unique=True)
CATALOGUE = a_catalogue(
    a_type("m-2", capacity=amounts(cpu=2, memory="8Gi", pods=4), price=10**8),
    a_type("m-8", capacity=amounts(cpu=8, memory="32Gi", pods=10), price=5 * 10**8),
    a_type("g-4", capacity=amounts(cpu=4, memory="16Gi", pods=8, gpu=2), price=10**9),
)
LIMITS = (amounts(), amounts(cpu=12), amounts(nodes=2), amounts(cpu=4))


@st.composite
def constraints(draw: st.DrawFn) -> dict[str, Any]:
    """Return one constraint, as fields of a shape."""
    key, zones = draw(KEYS), draw(SOME_ZONES)
    spread = a_spread(
        key,
        max_skew=draw(st.integers(1, 2)),
        min_domains=draw(st.sampled_from([None, None, 2, 3])),
    )
    return draw(
        st.sampled_from(
            [
                {"topology_spread": (spread,)},
                {"affinity": (a_term(key),)},
                {"anti_affinity": (a_term(key),)},
                {"selector": {label_keys.ZONE: zones[0]}},
                {"required_node_terms": (a_node_term((label_keys.ZONE, "NotIn", zones)),)},
                {"host_ports": (a_port(),)},
                {"extra": amounts(gpu=1)},
                {"volumes": (tuple(require((label_keys.ZONE, "In", [zone])) for zone in zones),)},
            ]
        )
    )


def shaped(**constraint: Any) -> PodShape:
    return a_shape(cpu="1", memory="1Gi", **constraint)


@st.composite
def clusters(draw: st.DrawFn) -> ClusterSnapshot:
    return a_snapshot(
        shapes=[shaped(**draw(constraints()))],
        pods=pods(draw(st.integers(1, 12))),
        nodes=[
            a_node(f"node-{number}", labels={label_keys.ZONE: draw(st.sampled_from(ZONES))})
            for number in range(draw(st.integers(0, 3)))
        ],
        nodepools=[
            a_pool(
                "plain",
                limits=draw(st.sampled_from(LIMITS)),
                requirements=require((label_keys.ZONE, "In", draw(SOME_ZONES))),
            )
        ][: draw(st.integers(0, 1))],
        catalogues=[CATALOGUE],
    )


def _placed(snapshot: ClusterSnapshot) -> int:
    found = solve(snapshot, SolveOptions()).pods
    return found.on_existing + found.on_new


@SETTINGS
@given(clusters(), st.sampled_from(ZONES))
def test_one_more_node_with_room_unplaces_nobody(snapshot: ClusterSnapshot, zone: str) -> None:
    room = amounts(cpu=64, memory="256Gi", pods=110, gpu=64)
    node = a_node("another", labels={label_keys.ZONE: zone}, allocatable=room)
    more = replace(snapshot, nodes=keyed("nodes", [*snapshot.nodes.values(), node]))

    assert _placed(more) >= _placed(snapshot)


@SETTINGS
@given(clusters())
def test_a_constraint_less_unplaces_nobody(snapshot: ClusterSnapshot) -> None:
    bare = replace(snapshot, shapes=keyed("shapes", [shaped()]))

    assert _placed(bare) >= _placed(snapshot)
