"""What people should know before they carry a consolidation out, or doubt one that finds nothing.

Apart because the answer itself says what was decided; here is what it rests on.
"""

from collections.abc import Iterator

from cli.clusters import OfflineCluster
from cli.formats import counted, few
from libs.domain import labels as label_keys
from libs.domain.price import offering_key
from libs.domain.question import Consolidation
from libs.domain.snapshot import ClusterSnapshot


def notes_of(cluster: OfflineCluster, catalogue: str, found: Consolidation) -> tuple[str, ...]:
    """Return what is to be said about the input, and about pods that the commands move.

    Args:
        cluster: the input.
        catalogue: its name, as it was typed.
        found: the answer.
    """
    snapshot = cluster.snapshot
    return (
        *cluster.notes,
        *_no_claims(snapshot),
        *_not_sold(snapshot, catalogue),
        *_ended_for_good(snapshot, found),
    )


def _no_claims(snapshot: ClusterSnapshot) -> Iterator[str]:
    if snapshot.nodes and not snapshot.nodeclaims:
        yield "no NodeClaims are in the input, so that no node may be given up"


def _not_sold(snapshot: ClusterSnapshot, catalogue: str) -> Iterator[str]:
    """Say how many nodes have no price because their types are of another cloud."""
    sold = {kind.name for one in snapshot.catalogues.values() for kind in one.instance_types}
    kinds = []
    for node in snapshot.nodes.values():
        claim = snapshot.nodeclaims.get(node.nodeclaim)
        if claim is None:
            continue
        labels = label_keys.canonical_labels(dict(claim.labels))
        kind, _, _ = offering_key(labels | label_keys.canonical_labels(dict(node.labels)))
        if kind not in sold:
            kinds.append(kind or "without a type")
    if kinds:
        other = "a file" if catalogue == "aws" else "aws or a file"
        yield (
            f"{counted(len(kinds), 'node')} of types that catalogue {catalogue} does not sell "
            f"({few(sorted(set(kinds)))}): without a price a node goes only if it is empty; "
            f"--catalogue names another one, such as {other}"
        )


def _ended_for_good(snapshot: ClusterSnapshot, found: Consolidation) -> Iterator[str]:
    """Say which pods that move nobody will create again: the API allows to evict them as others."""
    moving = {uid for each in found.commands for one in each.candidates for uid in one.pod_uids}
    bare = sorted(
        row.key for row in snapshot.pods.rows() if row.uid in moving and row.owner is None
    )
    if bare:
        have = "has" if len(bare) == 1 else "have"
        yield (
            f"{counted(len(bare), 'pod')} to move {have} no controller ({few(bare)}): evicted, "
            "nobody creates them again, as with Karpenter; the annotation "
            "karpenter.sh/do-not-disrupt keeps them where they are"
        )
