"""`edited`: a snapshot after the edits of a scenario.

A pure function; the edits are made in order, each on what those before it left, and what they do
not touch is shared with the snapshot they were made on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from libs.domain.errors import InvalidRequest
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
    RemoveOverlay,
    ScaleOwner,
)
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.simulating import new_nodes, nodes, offerings, pods, pools
from services.solver.core.simulating.draft import Draft
from services.solver.core.simulating.owners import is_same_owner
from services.solver.core.simulating.watching import Cancelled, look

_MAKERS: Mapping[type[Any], Callable[[Draft, Any], None]] = {
    AddNodes: new_nodes.add_nodes,
    AddPods: pods.add_pods,
    CordonNodes: nodes.cordon_nodes,
    EditOfferings: offerings.edit_offerings,
    PutNodePool: pools.put_nodepool,
    PutOverlay: pools.put_overlay,
    RemoveNodePool: pools.remove_nodepool,
    RemoveNodes: nodes.remove_nodes,
    RemoveOverlay: pools.remove_overlay,
    ScaleOwner: pods.scale_owner,
}


def edited(snapshot: ClusterSnapshot, edits: Iterable[Edit]) -> ClusterSnapshot:
    """Return the snapshot after the edits, under its own id; the same object if there are none.

    Pods of nodes that are gone wait, but for those that their nodes alone have: daemons and static
    pods. Pods that are added have the uid `namespace/name`.

    Raises:
        InvalidRequest: an edit names what is not there, with its field path
            (`edits[0].remove_nodes.names[1]`) and what was perhaps meant; or cannot be made.
    """
    return drafted(snapshot, edits).snapshot()


def drafted(
    snapshot: ClusterSnapshot, edits: Iterable[Edit], cancelled: Cancelled = lambda: False
) -> Draft:
    """Return the same as a draft, which knows what was touched; errors are the same.

    Raises:
        Unavailable: `cancelled` said that nobody waits any more.
    """
    draft = Draft(snapshot, cancelled)
    asked = tuple(edits)
    late = outdone(asked)
    for index, edit in enumerate(asked):
        if index in late:
            continue
        look(cancelled)
        try:
            _MAKERS[type(edit)](draft, edit)
        except InvalidRequest as error:
            raise error.under(f"edits[{index}]") from None
    return draft


def outdone(edits: Sequence[Edit]) -> frozenset[int]:
    """Return the positions of edits that a later one makes void.

    Of a workload the last number counts: pods that a smaller one took away would else come back as
    others, without their place.
    """
    scaled = [(index, one) for index, one in enumerate(edits) if isinstance(one, ScaleOwner)]
    return frozenset(
        index
        for index, one in scaled
        if any(later > index and is_same_owner(one, other) for later, other in scaled)
    )
