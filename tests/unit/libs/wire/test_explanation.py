"""What the round trip does not show of explanations: order of size, readings of newer peers."""

from joiner.solver.v1 import explanation_pb2 as pb

from libs.domain.explanation import ChangeKind, PodSituation
from libs.wire.explanation import decode_pod_explanation


def test_kinds_of_changes_come_in_the_order_of_their_numbers() -> None:
    prefix = "CHANGE_KIND_"

    numbered = [one.name.removeprefix(prefix) for one in pb.ChangeKind.DESCRIPTOR.values]

    assert numbered[1:] == [kind.name for kind in ChangeKind][1:]


def test_what_a_newer_peer_says_is_read_as_unknown() -> None:
    change = pb.Change(message="new", on_new="pool")
    change.MergeFromString(b"\x08\xe7\x07")  # field 1 is 999
    message = pb.PodExplanation(namespace="a", name="b", changes=[change])
    message.MergeFromString(b"\x20\xe7\x07")  # field 4 is 999

    pod = decode_pod_explanation(message)

    assert pod.situation is PodSituation.UNKNOWN
    assert pod.changes[0].kind is ChangeKind.UNKNOWN
