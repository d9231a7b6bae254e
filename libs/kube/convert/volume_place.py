"""Where a volume can be used, as alternatives over a node's labels, any one of which suffices.

Differs from Karpenter on purpose: a volume of one host keeps the pod on that host. Karpenter
forgets the host name, and kube-scheduler refuses the node that it then buys.

Source: kube-scheduler's VolumeBinding and VolumeZone; Kubernetes documentation, "Storage Classes";
`docs/sources.md` D13.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from libs.domain import labels as label_keys
from libs.domain.errors import InvalidRequest
from libs.domain.labels import HOSTNAME, REGION, ZONE
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import ANYTHING, Requirements
from libs.kube.convert import selectors
from libs.kube.objects.storage import PersistentVolume, StorageClass

Places = tuple[Requirements, ...]
"""Alternatives; `ANYTHING` among them is everywhere, none at all is nowhere."""

_SEVERAL = "__"
"""Separates the zones in the label of a volume that several zones reach."""
_SAYS_NOTHING = Requirements(Requirement.of(key, Operator.DOES_NOT_EXIST) for key in (ZONE, REGION))
"""Nodes without zone and region are taken to reach every volume."""


def labelled_places(volume: PersistentVolume, reached: Places) -> Places:
    """Return in which of the places that it reaches a bound volume may be used by its zone labels.

    Raises:
        InvalidRequest: it can be used nowhere.
    """
    by_label = _label_places(volume.metadata.labels)
    both = (one.intersection(other) for one in reached for other in by_label)
    return merged(both) or _nowhere(volume)


def reachable_places(volume: PersistentVolume) -> Places:
    """Return where a volume can be used by its node affinity alone, as it is written.

    Only labels count: kube-scheduler asks without the node's name.

    Raises:
        InvalidRequest: it can be used nowhere, or an expression is one that Kubernetes refuses.
    """
    required = volume.spec.node_affinity.required
    if required is None:
        return (ANYTHING,)
    path = f"persistentvolume {volume.metadata.name}: spec.nodeAffinity.required.nodeSelectorTerms"
    found = selectors.node_terms(required.node_selector_terms, path)
    return tuple(one.requirements for one in found) or _nowhere(volume)


def class_places(storage_class: StorageClass) -> Places:
    """Return where a class makes volumes; an empty term of its topologies is nowhere."""
    if not storage_class.allowed_topologies:
        return (ANYTHING,)
    terms = (
        Requirements(
            Requirement.of(one.key, Operator.IN, one.values) for one in term.match_label_expressions
        )
        for term in storage_class.allowed_topologies
    )
    return tuple(term for term in terms if len(term))


def on_host(*names: str) -> Requirements:
    """Return the place of some nodes: nodes are made with their names as host label."""
    return Requirements((Requirement.of(HOSTNAME, Operator.IN, names),))


def merged(places: Iterable[Requirements]) -> Places:
    """Return the same places with those that list values of one and the same key in one.

    Places that contradict themselves are left out. A thousand volumes, each of its own host, are
    one place with a thousand values.
    """
    values: dict[str, set[str]] = defaultdict(set)
    others: set[Requirements] = set()
    for place in (one for one in places if one.satisfiable):
        (only, *more) = place or (None,)
        if only is None or more or only.complement or only.absent:
            others.add(place)
        else:
            values[only.key].update(only.values)
    listed = (
        Requirements((Requirement.of(key, Operator.IN, found),)) for key, found in values.items()
    )
    return (ANYTHING,) if ANYTHING in others else tuple(sorted((*others, *listed), key=_in_order))


def _in_order(place: Requirements) -> tuple[str, ...]:
    return tuple(map(str, place))


def _label_places(labels: Mapping[str, str]) -> Places:
    """Return what the zone and region labels of a volume demand."""
    canonical = label_keys.canonical_labels(labels)
    demanded = Requirements(
        Requirement.of(key, Operator.IN, values)
        for key in (ZONE, REGION)
        # A label that leaves a value empty is ignored.
        if all(values := canonical.get(key, "").split(_SEVERAL))
    )
    return (demanded, _SAYS_NOTHING) if len(demanded) else (ANYTHING,)


def _nowhere(volume: PersistentVolume) -> Places:
    raise InvalidRequest(f'persistentvolume "{volume.metadata.name}" can be used on no node')
