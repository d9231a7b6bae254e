"""Volumes of the storage kinds that CSI drivers have taken over from Kubernetes itself.

Apart because such a volume counts for the driver, and because on a node whose kubelet says that it
is the driver's it is reached by the driver's own topology label, not by the zone's. Nodes of the
one and of the other sort are told apart by a label that no node has (`labels.MIGRATED`).

Source: Kubernetes documentation, "CSI migration"; kube-scheduler's VolumeBinding.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from msgspec.structs import replace

from libs.domain import labels as label_keys
from libs.domain.errors import InvalidRequest
from libs.domain.labels import ZONE
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.kube.convert.volume_place import Places, reachable_places
from libs.kube.objects.metadata import LabelSelectorRequirement, NodeSelector, NodeSelectorTerm
from libs.kube.objects.storage import CsiNode, PersistentVolume, VolumeNodeAffinity

EBS_DRIVER = "ebs.csi.aws.com"
GCE_DRIVER = "pd.csi.storage.gke.io"
AZURE_DRIVER = "disk.csi.azure.com"
CINDER_DRIVER = "cinder.csi.openstack.org"
PORTWORX_DRIVER = "pxd.portworx.com"

_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
_OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
_SEVERAL = "__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A storage kind that a CSI driver has taken over."""

    field: str
    """Of a volume's spec."""
    plugin: str
    """The provisioner of its classes."""
    driver: str
    topology_key: str = ""
    """Label by which the driver knows zones; empty where volumes keep the zone's own."""

    @property
    def label(self) -> str:
        """Return the label that nodes have here whose kubelet leaves it to the driver."""
        return f"{label_keys.MIGRATED}{self.plugin.rpartition('/')[2]}"


MIGRATIONS = (
    Migration(
        field="aws_elastic_block_store",
        plugin="kubernetes.io/aws-ebs",
        driver=EBS_DRIVER,
        topology_key="topology.ebs.csi.aws.com/zone",
    ),
    Migration(
        field="gce_persistent_disk",
        plugin="kubernetes.io/gce-pd",
        driver=GCE_DRIVER,
        topology_key="topology.gke.io/zone",
    ),
    Migration(field="azure_disk", plugin="kubernetes.io/azure-disk", driver=AZURE_DRIVER),
    Migration(
        field="cinder",
        plugin="kubernetes.io/cinder",
        driver=CINDER_DRIVER,
        topology_key="topology.cinder.csi.openstack.org/zone",
    ),
    Migration(
        field="portworx_volume",
        plugin="kubernetes.io/portworx-volume",
        driver=PORTWORX_DRIVER,
    ),
)
CSI_OF_PLUGIN: Mapping[str, str] = MappingProxyType({one.plugin: one.driver for one in MIGRATIONS})
"""CSI driver by provisioner."""


def migration_of(volume: PersistentVolume) -> Migration | None:
    """Return the migration that a volume's kind went through, if it did."""
    return next((one for one in MIGRATIONS if getattr(volume.spec, one.field) is not None), None)


def migrated_labels(csi: CsiNode | None) -> tuple[str, ...]:
    """Return the labels that a node has here for what its kubelet leaves to CSI drivers, sorted."""
    if csi is None:
        return ()
    plugins = csi.metadata.annotations.get(_PLUGINS, "").split(",")
    return tuple(
        sorted(one.label for one in MIGRATIONS if one.topology_key and one.plugin in plugins)
    )


def reached_places(volume: PersistentVolume, migrated: frozenset[str]) -> Places:
    """Return where a bound volume can be used by its node affinity.

    Args:
        volume: the volume.
        migrated: the labels of `migrated_labels` that any node has.

    Raises:
        InvalidRequest: it can be used nowhere, or an expression is one that Kubernetes refuses.
    """
    known = migration_of(volume)
    if known is None or known.label not in migrated:
        return reachable_places(volume)
    translated = _translated(volume, known.topology_key)
    if translated is volume:
        return reachable_places(volume)
    return (
        *_where(reachable_places(volume), known.label, Operator.DOES_NOT_EXIST),
        *_where(_reachable(translated), known.label, Operator.EXISTS),
    )


def _where(places: Places, label: str, operator: Operator) -> Places:
    there = Requirements((Requirement.of(label, operator),))
    return tuple(one.intersection(there) for one in places)


def _reachable(volume: PersistentVolume) -> Places:
    try:
        return reachable_places(volume)
    except InvalidRequest:
        return ()


def _translated(volume: PersistentVolume, key: str) -> PersistentVolume:
    """Return the volume as its CSI driver has it; itself where it says nothing about zones."""
    required = volume.spec.node_affinity.required
    terms = required.node_selector_terms if required is not None else ()
    labels = volume.metadata.labels
    named = {one.key for term in terms for one in term.match_expressions}
    zone = next((own for there in (named, labels) for own in (ZONE, _OLD_ZONE) if own in there), "")
    valued = (one for term in terms for one in term.match_expressions if one.key == zone)
    if any(one.values for one in valued):
        made = tuple(_renamed(term, zone, key) for term in terms)
    elif zone in labels:
        values = tuple(sorted({one.strip() for one in labels[zone].split(_SEVERAL)} - {""}))
        own = LabelSelectorRequirement(key=key, operator=Operator.IN, values=values)
        made = tuple(_added(term, own) for term in terms or (NodeSelectorTerm(),))
    else:
        return volume
    affinity = VolumeNodeAffinity(required=NodeSelector(node_selector_terms=made))
    return replace(volume, spec=replace(volume.spec, node_affinity=affinity))


def _renamed(term: NodeSelectorTerm, zone: str, key: str) -> NodeSelectorTerm:
    return _with(
        term,
        (replace(one, key=key) if one.key == zone else one for one in term.match_expressions),
    )


def _added(term: NodeSelectorTerm, one: LabelSelectorRequirement) -> NodeSelectorTerm:
    return _with(term, (*term.match_expressions, one))


def _with(
    term: NodeSelectorTerm, expressions: Iterable[LabelSelectorRequirement]
) -> NodeSelectorTerm:
    return replace(term, match_expressions=tuple(expressions))
