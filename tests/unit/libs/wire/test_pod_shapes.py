"""Shapes that share their rules are written from one of them, and each as it is by itself."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from joiner.snapshot.v1 import snapshot_pb2 as pb

from libs.domain.pod import PodShape
from libs.domain.resources import Resources
from libs.wire import pod
from tests.support.strategies.pod import shapes

SIZES = st.lists(st.integers(0, 3), min_size=1, max_size=4)


@given(st.lists(shapes, max_size=4), SIZES)
def test_many_shapes_are_written_as_each_by_itself(kinds: list[PodShape], sizes: list[int]) -> None:
    many = [
        replace(
            kind,
            id=number,
            requests=Resources({"cpu": cpu} if cpu else {}),
            labels=kind.labels if cpu else (),
        )
        for number, (kind, cpu) in enumerate((kind, cpu) for cpu in sizes for kind in kinds)
    ]
    message = pb.SnapshotUpdate()

    pod.write_pod_shapes(message.shapes, many)

    assert list(message.shapes) == [pod.encode_pod_shape(one) for one in many]
    assert [pod.decode_pod_shape(one) for one in message.shapes] == many
