"""An edited snapshot is that of a cluster in which the same was done to the objects themselves.

Random clusters of Kubernetes documents with constraints of all kinds: the plan is the same, and the
checker, which knows nothing of edits, accepts it. `JOINER_TEST_MIXED_EXAMPLES` as in `test_mixed`.
"""

import os
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.checker.plan import check_solution
from libs.domain import labels as label_keys
from libs.domain.capacity import InstanceType
from libs.domain.scenario import CordonNodes, Edit, EditOfferings, RemoveNodePool, RemoveNodes
from libs.domain.solution import among, with_unplaced
from services.solver.core.simulating.edited import edited
from services.solver.core.solve import solve
from tests.support.mixed import Document, MixedCluster, load
from tests.support.strategies.mixed import mixed_clusters

_WANTED = os.environ.get("JOINER_TEST_MIXED_EXAMPLES")

thorough = settings(
    max_examples=int(_WANTED or 12),
    derandomize=_WANTED is None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@st.composite
def changes(draw: st.DrawFn) -> tuple[MixedCluster, MixedCluster, tuple[Edit, ...]]:
    """Return a cluster, the same after a change by hand, and the edits that say the same."""
    mixed = draw(mixed_clusters())
    nodes = _names(mixed, "Node")
    removed = draw(st.sets(st.sampled_from(nodes))) if nodes else set()
    cordoned = draw(st.sets(st.sampled_from(nodes))) - removed if nodes else set()
    # Which open claims can become nothing else, once a zone is gone, is decided elsewhere.
    zone = "" if _has_open_claims(mixed) else draw(st.sampled_from(("", *_zones(mixed))))
    pools = _names(mixed, "NodePool")
    pool = draw(st.sampled_from(("", "", *pools))) if len(pools) > 1 else ""
    edits: list[Edit] = [
        RemoveNodes(names=tuple(sorted(removed))),
        CordonNodes(names=tuple(sorted(cordoned))),
    ]
    if zone:
        edits.append(EditOfferings(zone=zone, available=False))
        removed |= set(_in_zone(mixed, zone))
    if pool:
        edits.append(RemoveNodePool(name=pool))
        removed |= set(_of_pool(mixed, pool))
    gone = (*sorted(removed), pool)
    documents = [
        _cordoned(one, cordoned)
        for one in mixed.documents
        if not (_is_gone(one, gone) or (zone and _is_claim_in(one, zone)))
    ]
    by_hand = replace(
        mixed,
        documents=tuple(_unbound(one, removed) for one in documents),
        types=tuple(_without(kind, zone) for kind in mixed.types),
    )
    return mixed, by_hand, tuple(edits)


@thorough
@given(changes())
def test_edits_are_what_a_change_of_the_objects_is(
    given_change: tuple[MixedCluster, MixedCluster, tuple[Edit, ...]],
) -> None:
    mixed, by_hand, edits = given_change
    before, expected = load(mixed), load(by_hand)

    after = edited(before.snapshot, edits)

    left_out = among(before.left_out, len(after.nodes))
    found = with_unplaced(solve(after, before.options), left_out)
    rebuilt = with_unplaced(solve(expected.snapshot, expected.options), expected.left_out)
    assert found.plan == rebuilt.plan
    assert found.cost == rebuilt.cost
    violations = check_solution(expected.cluster, after, found, daemon_sets=expected.daemon_sets)
    assert violations == []


def _has_open_claims(mixed: MixedCluster) -> bool:
    claims = [one for one in mixed.documents if one["kind"] == "NodeClaim"]
    return any(not (one.get("status") or {}).get("capacity") for one in claims)


def _is_claim_in(document: Document, zone: str) -> bool:
    labels = document["metadata"].get("labels") or {}
    return document["kind"] == "NodeClaim" and labels.get(label_keys.ZONE) == zone


def _names(mixed: MixedCluster, kind: str) -> list[str]:
    return sorted(one["metadata"]["name"] for one in mixed.documents if one["kind"] == kind)


def _zones(mixed: MixedCluster) -> list[str]:
    return sorted({one.zone for kind in mixed.types for one in kind.offerings})


def _in_zone(mixed: MixedCluster, zone: str) -> Iterable[str]:
    for one in mixed.documents:
        labels = one["metadata"].get("labels") or {}
        if one["kind"] == "Node" and labels.get(label_keys.ZONE) == zone:
            yield one["metadata"]["name"]


def _of_pool(mixed: MixedCluster, pool: str) -> Iterable[str]:
    claims = {}
    for one in mixed.documents:
        if one["kind"] == "NodeClaim":
            labels = one["metadata"].get("labels") or {}
            claims[one["status"].get("nodeName")] = labels.get(label_keys.NODEPOOL)
    yield from (name for name in _names(mixed, "Node") if claims.get(name) == pool)


def _is_gone(document: Document, gone: tuple[str, ...]) -> bool:
    """Tell whether an object goes with these nodes, the last of the names being a pool's."""
    *nodes, pool = gone
    name, spec = document["metadata"]["name"], document.get("spec") or {}
    match document["kind"]:
        case "Node" | "CSINode":
            return name in nodes
        case "NodePool":
            return bool(name == pool)
        case "NodeClaim":
            labels = document["metadata"].get("labels") or {}
            node = (document.get("status") or {}).get("nodeName")
            return node in nodes or (bool(pool) and labels.get(label_keys.NODEPOOL) == pool)
        case "ResourceSlice":
            return spec.get("nodeName") in nodes
        case "Pod":
            leaves = spec.get("nodeName") in nodes
            return leaves and "deletionTimestamp" in document["metadata"]
        case _:
            return False


def _unbound(document: Document, nodes: set[str]) -> Document:
    if document["kind"] != "Pod" or document["spec"].get("nodeName") not in nodes:
        return document
    pod: Any = deepcopy(document)
    del pod["spec"]["nodeName"]
    pod["status"] = {"phase": "Pending"}
    return dict(pod)


def _cordoned(document: Document, nodes: set[str]) -> Document:
    if document["kind"] != "Node" or document["metadata"]["name"] not in nodes:
        return document
    return {**document, "spec": {**document.get("spec", {}), "unschedulable": True}}


def _without(kind: InstanceType, zone: str) -> InstanceType:
    offerings = tuple(
        replace(one, available=one.available and one.zone != zone) for one in kind.offerings
    )
    return replace(kind, offerings=offerings)
