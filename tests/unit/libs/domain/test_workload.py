"""Which pods stand for the room that a buffer keeps."""

import pytest

from libs.domain.workload import CapacityBuffer, virtual_pods

BUFFER = CapacityBuffer(namespace="default", name="room", uid="u-1", shape=1, replicas=12)


def test_virtual_pods_are_found_among_the_pods_and_nowhere_else() -> None:
    uids = ("u-1", "u-1-1", "u-1-12", "u-2-1")

    assert virtual_pods([BUFFER], uids) == {"default/room": ("u-1-1", "u-1-12")}
    assert set(BUFFER.pod_uids) == {uid for uid in BUFFER.pod_uids if BUFFER.has(uid)}


@pytest.mark.parametrize(
    "uid",
    [
        pytest.param("u-1-0", id="counted from 1"),
        pytest.param("u-1-13", id="beyond its replicas"),
        pytest.param("u-1-01", id="written otherwise"),
        pytest.param("u-1-²", id="no digit of a number"),
        pytest.param("u-1-" + "9" * 5000, id="longer than any number"),
        pytest.param("u-1-", id="without a number"),
    ],
)
def test_other_pods_are_not_of_a_buffer(uid: str) -> None:
    assert virtual_pods([BUFFER], [uid]) == {}


def test_a_buffer_of_any_number_of_replicas_costs_no_more_than_the_pods_there_are() -> None:
    boundless = CapacityBuffer(namespace="a", name="b", uid="u", shape=1, replicas=2**31 - 1)

    assert virtual_pods([boundless], ["u-2147483647"]) == {"a/b": ("u-2147483647",)}
