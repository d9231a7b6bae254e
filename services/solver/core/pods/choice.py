"""How much of a choice a pod has: of domains over which it looks at others, and of volumes.

Apart from the workload because who goes first among pods of one spread is asked by it, too.
"""

from collections.abc import Callable, Iterable, Mapping

from libs.domain import labels as label_keys
from libs.domain.pod import NodeTerm, PodShape
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.volume import VolumeKind

_ANY = 2**31
"""More domains, or volumes, than there are."""


def choice(shape: PodShape) -> int:
    """Return how many domains a pod names for itself, of the keys over which it looks at others.

    Of pods of one size it comes first that names fewest, or one with more of a choice takes the
    only zone that it can use: a disk, say, ties one replica of a set whose replicas keep out of
    each other's zones.
    """
    terms = tuple(term.requirements for term in shape.required_node_terms)
    selected = (shape.node_selector,) if len(shape.node_selector) else ()
    asked = [one for one in (selected, terms, *shape.volumes) if one]
    if not asked:  # most name none
        return _ANY
    spread = (one.topology_key for one in shape.topology_spread if one.required)
    others = (one.topology_key for one in (*shape.affinity, *shape.anti_affinity))
    keys = {label_keys.canonical_key(key) for key in (*spread, *others)}
    return min((_named(key, one) for key in keys for one in asked), default=_ANY)


def choice_of_volumes(kinds: Mapping[str, VolumeKind]) -> Callable[[PodShape], int]:
    """Return what counts the volumes that would do for the claim of a pod for which fewest do.

    Of pods of one size it comes first that has fewest: whatever a larger claim may take a smaller
    one may take, too, so that in this order no claim takes a volume that another one needs.

    Args:
        kinds: the volumes that claims may still take.
    """
    known: dict[tuple[str, Requirements, tuple[NodeTerm, ...]], int] = {}

    def in_reach(shape: PodShape, key: str) -> int:
        memo = key, shape.node_selector, shape.required_node_terms
        if memo not in known:
            terms = [one.requirements for one in shape.required_node_terms] or [ANYTHING]
            asked = [shape.node_selector.intersection(one) for one in terms]
            known[memo] = sum(
                place.count
                for place in (kinds[key].places if key in kinds else ())
                if any(one.has_intersection(term) for one in asked for term in place.terms)
            )
        return known[memo]

    def choice_of(shape: PodShape) -> int:
        # Who can have one made needs none of them.
        tied = (one for one in shape.unbound_claims if not (one.made or one.made_at_start))
        return min((sum(in_reach(shape, key) for key in one.kinds) for one in tied), default=_ANY)

    return choice_of


def _named(key: str, alternatives: Iterable[Requirements]) -> int:
    values: set[str] = set()
    for one in alternatives:
        if any(own.key.startswith(label_keys.MIGRATED) and not own.absent for own in one):
            # The same volume as CSI drivers have it, which does not concern new nodes.
            continue
        own = one.get(key)
        if own is None:
            return _ANY
        if own.complement:
            return _ANY - 1
        values |= own.values
    return len(values)
