"""Volumes that CSI drivers have taken over: where they are reached as written, and as migrated."""

import pytest

from libs.domain.labels import MIGRATED
from libs.domain.requirements import Requirements
from libs.kube.convert.migration import migrated_labels, reached_places
from libs.kube.objects.decoding import from_document
from libs.kube.objects.storage import CsiNode, PersistentVolume
from tests.unit.libs.kube.manifests import Document, metadata

PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
ZONE = "topology.kubernetes.io/zone"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
EBS_ZONE = "topology.ebs.csi.aws.com/zone"
EBS: Document = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
EBS_LABEL = f"{MIGRATED}aws-ebs"


def _volume(
    *zones: str, key: str = ZONE, source: Document = EBS, **labels: str
) -> PersistentVolume:
    spec: Document = {**source}
    if zones:
        expression = {"key": key, "operator": "In", "values": list(zones)}
        spec["nodeAffinity"] = {
            "required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        }
    named = {ZONE: labels["zone"]} if labels else {}
    return from_document({"metadata": metadata("v", labels=named), "spec": spec}, PersistentVolume)


def _csi_node(plugins: str) -> CsiNode:
    named = metadata("n", annotations={PLUGINS: plugins})
    return from_document({"metadata": named}, CsiNode)


def _shown(places: tuple[Requirements, ...]) -> list[str]:
    return [", ".join(map(str, one)) for one in places]


@pytest.mark.parametrize(
    ("volume", "places"),
    [
        pytest.param(
            _volume("a"),
            [
                f"{EBS_LABEL} DoesNotExist, {ZONE} In [a]",
                f"{EBS_LABEL} Exists, {EBS_ZONE} In [a]",
            ],
            id="zone",
        ),
        pytest.param(
            _volume("a", key=OLD_ZONE),
            [
                f"{EBS_LABEL} DoesNotExist, {ZONE} In [a]",
                f"{EBS_LABEL} Exists, {EBS_ZONE} In [a]",
            ],
            id="zone by its old name",
        ),
        pytest.param(
            _volume(zone="a__b"),
            [f"{EBS_LABEL} DoesNotExist", f"{EBS_LABEL} Exists, {EBS_ZONE} In [a b]"],
            id="zones in the volume's own label",
        ),
        pytest.param(_volume("r", key="example.com/rack"), ["example.com/rack In [r]"], id="rack"),
        pytest.param(_volume(), [""], id="everywhere"),
        pytest.param(
            _volume("a", source={"azureDisk": {"diskURI": "/d"}}), [f"{ZONE} In [a]"], id="Azure"
        ),
        pytest.param(
            _volume("a", source={"csi": {"driver": "ebs.csi.aws.com"}}),
            [f"{ZONE} In [a]"],
            id="the driver's own",
        ),
    ],
)
def test_a_migrated_volume_is_reached_by_the_drivers_label(
    volume: PersistentVolume, places: list[str]
) -> None:
    assert _shown(reached_places(volume, frozenset({EBS_LABEL}))) == places


def test_a_volume_is_as_written_where_no_node_leaves_it_to_a_driver() -> None:
    assert _shown(reached_places(_volume("a"), frozenset())) == [f"{ZONE} In [a]"]


@pytest.mark.parametrize(
    ("plugins", "labels"),
    [
        pytest.param("", (), id="none"),
        pytest.param(
            "kubernetes.io/gce-pd,kubernetes.io/aws-ebs",
            (EBS_LABEL, f"{MIGRATED}gce-pd"),
            id="sorted",
        ),
        pytest.param("kubernetes.io/azure-disk", (), id="one that changes no label"),
        pytest.param("kubernetes.io/vsphere-volume", (), id="unknown"),
    ],
)
def test_plugins_that_change_labels_are_labels(plugins: str, labels: tuple[str, ...]) -> None:
    assert migrated_labels(_csi_node(plugins)) == labels


def test_a_node_without_csi_node_leaves_nothing_to_drivers() -> None:
    assert migrated_labels(None) == ()
