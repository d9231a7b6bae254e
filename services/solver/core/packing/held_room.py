"""The room of a nominated pod on its node where it is not there yet: what others may not take.

kube-scheduler counts such a pod on its node, for all that come after it, but nowhere else, and for
nothing that it would help others to. So what is kept is only what it takes there: its requests, its
host ports and disks. Where it would come too near to somebody for a rule, the whole node is kept.
"""

from collections.abc import Iterable, Iterator

from libs.domain.pod import PodShape
from libs.domain.requirements import ANYTHING
from libs.domain.resources import PODS, Resources
from libs.domain.selector import LabelSelector
from libs.domain.solution import PreferencePolicy
from services.solver.core.pods.ask import Ask, asks
from services.solver.core.pods.workload import Group


def held_room(shape: PodShape, groups: Iterable[Group], share: int) -> Ask:
    """Return what is asked for in the place of pods of a shape.

    Args:
        shape: of the pods.
        groups: all that wait.
        share: how many pods each of them takes the room of where the whole node is kept.
    """
    requests = shape.requests
    if _minds(shape, groups):
        requests = requests.maximum(Resources({PODS: max(share, 1)}))
    found = PodShape(
        # Nobody else's, so that nobody counts it.
        id=-1 - shape.id,
        namespace=shape.namespace,
        requests=requests,
        node_selector=ANYTHING,
        host_ports=shape.host_ports,
        volume_attach_counts=shape.volume_attach_counts,
        exclusive_disks=shape.exclusive_disks,
    )
    return asks(found, PreferencePolicy.IGNORE, prefer_no_schedule=False)[-1]


def _minds(shape: PodShape, groups: Iterable[Group]) -> bool:
    """Tell whether a rule of the pods, or of others about them, may keep others off their node.

    Namespaces are not looked at: in doubt the node is kept.
    """
    if shape.anti_affinity:
        return True
    labels = dict(shape.labels)
    return any(
        selector is not None and selector.matches(labels)
        for group in groups
        for selector in _looking(group.shape)
    )


def _looking(shape: PodShape) -> Iterator[LabelSelector | None]:
    yield from (term.selector for term in shape.anti_affinity)
    yield from (constraint.selector for constraint in shape.topology_spread)
