"""Volumes of the storage kinds that CSI drivers have taken over from Kubernetes itself.

Apart because two filters ask: such a volume counts for the driver, and on a node whose kubelet says
that it is the driver's, it is reached by the driver's own topology label, not by the zone's.

Source: Kubernetes documentation, "CSI migration"; kube-scheduler's VolumeBinding (1.36).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from libs.oracle.objects import KubeObject, annotations_of, labels_of, spec_of

_PLUGINS_ANNOTATION = "storage.alpha.kubernetes.io/migrated-plugins"
_ZONE, _REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
_OLD_REGION = "failure-domain.beta.kubernetes.io/region"
_SEPARATOR = "__"


class Migration(NamedTuple):
    """A storage kind that a CSI driver has taken over."""

    source: str
    """Field of a volume's spec."""
    plugin: str
    """The provisioner of its classes."""
    driver: str
    handle: str
    """Field that names the disk."""
    topology_key: str = ""
    """Label by which the driver knows zones; empty where volumes keep the zone's own."""


MIGRATIONS = (
    Migration(
        "awsElasticBlockStore",
        "kubernetes.io/aws-ebs",
        "ebs.csi.aws.com",
        "volumeID",
        "topology.ebs.csi.aws.com/zone",
    ),
    Migration(
        "gcePersistentDisk",
        "kubernetes.io/gce-pd",
        "pd.csi.storage.gke.io",
        "pdName",
        "topology.gke.io/zone",
    ),
    Migration("azureDisk", "kubernetes.io/azure-disk", "disk.csi.azure.com", "diskURI"),
    Migration(
        "cinder",
        "kubernetes.io/cinder",
        "cinder.csi.openstack.org",
        "volumeID",
        "topology.cinder.csi.openstack.org/zone",
    ),
    Migration("portworxVolume", "kubernetes.io/portworx-volume", "pxd.portworx.com", "volumeID"),
)


def is_migrated(volume: KubeObject, csi_node: KubeObject | None) -> bool:
    """Tell whether the node's kubelet says that volumes of this kind are a CSI driver's."""
    listed = annotations_of(csi_node or {}).get(_PLUGINS_ANNOTATION) or ""
    return any(
        one.plugin in listed.split(",") for one in MIGRATIONS if spec_of(volume).get(one.source)
    )


def required_affinity(volume: KubeObject, *, as_migrated: bool) -> Mapping[str, Any] | None:
    """Return the required node affinity of a volume; None if there is none.

    Args:
        volume: a PersistentVolume.
        as_migrated: as its CSI driver has it, rather than as it is written.
    """
    required: Mapping[str, Any] | None
    required = (spec_of(volume).get("nodeAffinity") or {}).get("required")
    for one in MIGRATIONS if as_migrated else ():
        if one.topology_key and spec_of(volume).get(one.source):
            return _translated(required, labels_of(volume), one.topology_key)
    return required


def _translated(
    required: Mapping[str, Any] | None, labels: Mapping[str, str], key: str
) -> Mapping[str, Any] | None:
    terms: Sequence[Mapping[str, Any]] = (required or {}).get("nodeSelectorTerms") or ()
    named = {one.get("key") for term in terms for one in _expressions(term)}
    zone, region = _spelling(named, labels)
    renamed: dict[str, str] = {}
    added: list[dict[str, Any]] = []
    if any(one.get("values") for term in terms for one in _expressions(term, zone)):
        renamed[zone] = key
    elif zone in labels:
        zones = sorted({value.strip() for value in labels[zone].split(_SEPARATOR)} - {""})
        added.append({"key": key, "operator": "In", "values": zones})
    if region == _OLD_REGION:
        renamed[_OLD_REGION] = _REGION
    if not (renamed or added):
        return required
    return {
        "nodeSelectorTerms": [
            {**term, "matchExpressions": [*_renamed(_expressions(term), renamed), *added]}
            for term in terms or ({},)
        ]
    }


def _spelling(named: set[Any], labels: Mapping[str, str]) -> tuple[str, str]:
    """Return the keys by which a volume names its zone and its region: all new ones or all old."""
    for there in (named, labels.keys()):
        if _ZONE in there:
            return _ZONE, _REGION
        if _OLD_ZONE in there:
            return _OLD_ZONE, _OLD_REGION
    return _ZONE, _REGION


def _expressions(term: Mapping[str, Any], key: str | None = None) -> Iterator[Mapping[str, Any]]:
    for one in term.get("matchExpressions") or ():
        if key is None or one.get("key") == key:
            yield one


def _renamed(
    expressions: Iterable[Mapping[str, Any]], names: Mapping[str, str]
) -> Iterator[Mapping[str, Any]]:
    for one in expressions:
        yield {**one, "key": names.get(one.get("key", ""), one.get("key", ""))}
