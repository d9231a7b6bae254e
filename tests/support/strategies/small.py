"""Small clusters as snapshots: fast to make, for laws that need no Kubernetes objects.

Apart from `mixed`, whose clusters have constraints of all kinds and are read as files are.
"""

from typing import Any

from hypothesis import strategies as st

from libs.domain import labels as label_keys
from libs.domain.pod import PodRow, PodShape
from libs.domain.snapshot import ClusterSnapshot
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

_APPS = ("web", "api")
_KEYS = (label_keys.ZONE, label_keys.HOSTNAME)
_LIMITS = (amounts(), amounts(cpu=12), amounts(nodes=2))
_CATALOGUE = a_catalogue(
    a_type("m-2", capacity=amounts(cpu=2, memory="8Gi", pods=4), price=10**8),
    a_type("m-8", capacity=amounts(cpu=8, memory="32Gi", pods=10), price=5 * 10**8),
    a_type("a-4", arch="arm64", capacity=amounts(cpu=4, memory="16Gi", pods=8), price=10**8),
    a_type("g-4", capacity=amounts(cpu=4, memory="16Gi", pods=8, gpu=2), price=10**9),
)


@st.composite
def clusters(draw: st.DrawFn) -> ClusterSnapshot:
    """Return a cluster of up to ten waiting pods, three nodes and two pools."""
    listed = [draw(_shapes(number)) for number in range(1, draw(st.integers(1, 4)) + 1)]
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
        51, cpu="500m", labels={"app": "api"}, anti_affinity=(a_term(draw(st.sampled_from(_KEYS))),)
    )
    if nodes:
        rows += [
            a_pod(f"old-{number}", draw(st.sampled_from([50, 50, 51])), node=nodes[0].name)
            for number in range(draw(st.integers(0, 1)))
        ]
    pools = [
        a_pool("plain", weight=draw(st.integers(0, 1)), limits=draw(st.sampled_from(_LIMITS))),
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
        catalogues=[_CATALOGUE],
    )


@st.composite
def _shapes(draw: st.DrawFn, number: int) -> PodShape:
    app = draw(st.sampled_from(_APPS))
    override: dict[str, Any] = {"labels": {"app": app}}
    kinds = draw(st.sets(st.integers(0, 8), max_size=3))
    target = selecting(app=draw(st.sampled_from(_APPS)))
    key = draw(st.sampled_from(_KEYS))
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
