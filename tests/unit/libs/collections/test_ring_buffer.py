"""The newest few, in order."""

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.collections.ring_buffer import RingBuffer


def test_the_oldest_is_overwritten_and_order_is_kept() -> None:
    ring = RingBuffer[int](3)

    for number in range(5):
        ring.insert(number)

    assert list(ring) == [2, 3, 4]
    assert (len(ring), ring.capacity) == (3, 3)


def test_reset_forgets_everything() -> None:
    ring = RingBuffer[int](2)
    for number in range(3):
        ring.insert(number)

    ring.reset()
    ring.insert(9)

    assert list(ring) == [9]


def test_a_ring_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        RingBuffer[int](0)


@settings(max_examples=50)
@given(capacity=st.integers(1, 5), items=st.lists(st.integers(), max_size=15))
def test_it_holds_the_last_items(capacity: int, items: list[int]) -> None:
    ring = RingBuffer[int](capacity)

    for item in items:
        ring.insert(item)

    assert list(ring) == list(deque(items, maxlen=capacity))
