"""Claims that wait for their first consumer, from the scheduler's side.

The scheduler only says where: it reserves an existing volume, or names the node on the claim. The
volume binder (`controllers/volume_binder.py`) does the rest, and the pod is bound when all its
claims are.

Source: Kubernetes documentation, "Volume Binding Mode".
"""

from collections.abc import Iterator
from typing import Any

from libs.oracle.cluster import Cluster
from libs.oracle.filters.volume_binding import is_bound
from libs.oracle.pods import read_pod
from libs.oracle.volume_matching import SELECTED_NODE_ANNOTATION, match_static
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.objects import Object, key_of

CLAIMS = "persistentvolumeclaims"
VOLUMES = "persistentvolumes"


def unbound_claims(cluster: Cluster, pod: Object) -> list[Any]:
    """Return the pod's claims that have no volume for good."""
    claims = [
        cluster.claims[claim.key] for claim in read_pod(pod).claims if claim.key in cluster.claims
    ]
    return [claim for claim in claims if not is_bound(claim)]


def choose(
    api: DirectApi, cluster: Cluster, claims: list[Any], node: str
) -> Iterator[tuple[str, Object]]:
    """Say in the API for each claim where its volume shall be; yield what changed with its kind."""
    undecided = [
        c
        for c in claims
        if SELECTED_NODE_ANNOTATION not in (c["metadata"].get("annotations") or {})
    ]
    existing = match_static(cluster, undecided, cluster.nodes[node])
    for claim in undecided:
        meta = claim["metadata"]
        volume = existing.get(key_of(claim))
        if volume is not None:
            reserved = {"spec": {"claimRef": claim_reference(claim)}}
            yield "PersistentVolume", api.patch(VOLUMES, volume["metadata"]["name"], reserved)
        else:
            selected = {"metadata": {"annotations": {SELECTED_NODE_ANNOTATION: node}}}
            changed = api.patch(CLAIMS, meta["name"], selected, meta["namespace"])
            yield "PersistentVolumeClaim", changed


def claim_reference(claim: Any) -> Object:
    """Return the reference by which a volume names its claim."""
    meta = claim["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": meta["namespace"],
        "name": meta["name"],
        "uid": meta["uid"],
        "resourceVersion": meta["resourceVersion"],
    }
