"""Which changes are proposed where the volumes run out that the claims of pods may take."""

from typing import Any

from libs.domain import labels as label_keys
from libs.domain.explanation import Change, ChangeKind
from libs.domain.question import SubjectKind
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.solution import SolveOptions
from libs.domain.volume import UnboundClaim, VolumeKind, VolumePlace
from services.solver.core.explaining.explain import explain
from tests.support.builders import a_node, a_shape, a_snapshot, pods

DISKS = "disks 1073741824 ReadWriteOnce Filesystem"
SMALL = "disks 1048576 ReadWriteOnce Filesystem"
OTHER = "other 1073741824 ReadWriteOnce Filesystem"
IN_B = Requirements.from_labels({label_keys.ZONE: "b"})
ZONES = (("n1", "a"), ("n2", "b"))
CLAIM = UnboundClaim(kinds=(DISKS,))


def _kind(key: str, count: int, term: Requirements = ANYTHING) -> VolumeKind:
    return VolumeKind(key=key, places=(VolumePlace(rank=0, count=count, terms=(term,)),))


def _volume_change(*kinds: VolumeKind, **shape: Any) -> Change:
    """Return what is proposed to the second of two pods, which want a volume each."""
    asked = {"unbound_claims": (CLAIM,), **shape}
    snapshot = a_snapshot(
        shapes=[a_shape(cpu="100m", **asked)],
        pods=pods(2),
        nodes=[a_node(name, labels=((label_keys.ZONE, zone),)) for name, zone in ZONES],
        nodepools=[],
        volume_kinds=kinds,
    )

    found = explain(snapshot, SolveOptions(), SubjectKind.POD, "uid-s1-00002")

    assert found.pod is not None
    assert [one.kind for one in found.pod.changes] == [ChangeKind.VOLUME]
    return found.pod.changes[0]


def test_one_more_volume_of_those_that_suit_is_proposed() -> None:
    change = _volume_change(_kind(DISKS, 1))

    assert change.landing == "n1"
    assert change.message == (
        "provide one more persistent volume that suits its persistentvolumeclaim: "
        "disks 1Gi ReadWriteOnce Filesystem"
    )


def test_it_is_said_for_which_nodes() -> None:
    change = _volume_change(_kind(DISKS, 1, IN_B), volumes=((IN_B,),))

    assert change.landing == "n2"
    assert change.message.endswith(", for nodes with topology.kubernetes.io/zone In [b]")


def test_a_volume_that_is_there_goes_before_one_that_is_not() -> None:
    change = _volume_change(_kind(DISKS, 1), _kind(SMALL, 1), _kind(OTHER, 1))

    assert change.message == (
        "make its persistentvolumeclaim anew as one that a volume suits which is there: "
        "disks 1Mi ReadWriteOnce Filesystem"
    )


def test_a_volume_that_is_kept_for_somebody_is_no_help() -> None:
    change = _volume_change(_kind(DISKS, 1), _kind(f"{SMALL} kept for default/other", 1))

    assert change.message.startswith("provide one more persistent volume")


def test_where_there_is_none_that_suits_a_class_that_makes_one_is_proposed() -> None:
    snapshot = a_snapshot(
        shapes=[a_shape(cpu="100m", unbound_claims=(UnboundClaim(kinds=("gone",)),))],
        pods=pods(1),
        nodes=[a_node("n1")],
        nodepools=[],
    )

    found = explain(snapshot, SolveOptions(), SubjectKind.POD, "uid-s1-00001")

    assert found.pod is not None
    assert [one.message for one in found.pod.changes] == [
        "make its persistentvolumeclaim anew with a storage class that makes a volume where its "
        "pod goes"
    ]
