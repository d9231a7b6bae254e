"""The room of a nominated pod on its node where it is not there yet: what others may not take.

kube-scheduler counts such a pod on its node, for all that come after it, but nowhere else, and for
nothing that it would help others to. So what is kept is what it takes there: its requests, its host
ports and disks; and whoever must not be near it keeps off its node.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from libs.domain.labels import HOSTNAME
from libs.domain.pod import PodShape
from libs.domain.requirements import ANYTHING
from libs.domain.solution import PreferencePolicy
from libs.domain.workload import Namespace
from services.solver.core.exclusion import conflict, exclusives
from services.solver.core.pods.ask import Ask, asks
from services.solver.core.pods.grouping import Group
from services.solver.core.pods.shape_index import ShapeIndex

Apart = Mapping[int, Mapping[int, frozenset[str]]]
"""Topology keys over which pods of nominated ones keep away from others, or these from them: by id
of the former's shape, then of the latter's."""


def held_room(shape: PodShape) -> Ask:
    """Return what is asked for in the place of pods of a shape."""
    found = PodShape(
        # Nobody else's, so that nobody counts it.
        id=-1 - shape.id,
        namespace=shape.namespace,
        requests=shape.requests,
        node_selector=ANYTHING,
        host_ports=shape.host_ports,
        volume_attach_counts=shape.volume_attach_counts,
        exclusive_disks=shape.exclusive_disks,
    )
    return asks(found, PreferencePolicy.IGNORE, prefer_no_schedule=False)[-1]


def keeping_apart(groups: Sequence[Group], namespaces: Mapping[str, Namespace]) -> Apart:
    """Return who keeps off a node as long as it is nominated for somebody who is not there.

    In doubt they do. Over what they spread is taken for full, and who keeps others away is minded
    even by those for whom kube-scheduler does not look at neighbours.

    Args:
        groups: all that wait.
        namespaces: as selectors see them.
    """
    nominated = {group.shape.id: group.shape for group in groups if group.nominated}
    if not nominated:
        return {}
    shapes = {group.shape.id: group.shape for group in groups}
    found: dict[int, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for one, other, key in _pairs(nominated, shapes, ShapeIndex(shapes.values(), namespaces)):
        found[one][other].add(key)
    return {
        one: {other: frozenset(keys) for other, keys in others.items()}
        for one, others in found.items()
    }


def _pairs(
    nominated: Mapping[int, PodShape], shapes: Mapping[int, PodShape], index: ShapeIndex
) -> Iterator[tuple[int, int, str]]:
    """Yield ids of a nominated shape and of one that keeps away from it, and over which key."""
    for number, shape in nominated.items():
        for term in shape.anti_affinity:
            yield from ((number, other, term.topology_key) for other in index.matching_all((term,)))
        yield from ((number, other, HOSTNAME) for other in _sharing(shape, shapes.values()))
    for other, shape in shapes.items():
        for term in shape.anti_affinity:
            minded = index.matching_all((term,)) & nominated.keys()
            yield from ((number, other, term.topology_key) for number in minded)
        for spread in (one for one in shape.topology_spread if one.required):
            minded = index.spread(spread, shape.namespace) & nominated.keys()
            yield from ((number, other, spread.topology_key) for number in minded)


def _sharing(shape: PodShape, others: Iterable[PodShape]) -> Iterator[int]:
    """Yield the ids of those who use what such a pod has for itself."""
    own = exclusives(shape)
    claims = {one.claim for one in shape.shared_volumes if one.exclusive}
    for other in others if own or claims else ():
        theirs = {one.claim for one in other.shared_volumes if one.exclusive}
        if conflict(own, exclusives(other)) or not claims.isdisjoint(theirs):
            yield other.id
