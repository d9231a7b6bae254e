"""What is kept from the collector of cycles, and for how long."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from libs.runtime.garbage import Spared


class Node:
    """Something that refers to itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def unfrozen() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


def test_what_was_there_is_kept_from_collections() -> None:
    node = Node()
    gone = weakref.ref(node)
    Spared()

    del node
    gc.collect()

    assert gone() is not None


def test_what_became_garbage_since_the_last_time_is_collected() -> None:
    spared = Spared()
    node = Node()
    gone = weakref.ref(node)
    spared.all_there_is()

    del node
    gc.collect()
    assert gone() is not None
    spared.all_there_is()

    assert gone() is None


def test_what_is_garbage_already_is_collected_at_once() -> None:
    spared = Spared()
    node = Node()
    gone = weakref.ref(node)

    del node
    spared.all_there_is()

    assert gone() is None


def test_what_comes_later_is_collected_as_ever() -> None:
    Spared().all_there_is()
    node = Node()
    gone = weakref.ref(node)

    del node
    gc.collect()

    assert gone() is None


def test_a_batch_of_new_objects_is_not_looked_at_while_it_is_made() -> None:
    Spared().all_there_is()
    before = [one["collections"] for one in gc.get_stats()]

    batch = [[number] for number in range(50_000)]

    assert len(batch) == 50_000
    assert [one["collections"] for one in gc.get_stats()] == before


def test_the_collector_stays_on() -> None:
    Spared().all_there_is()
    node = Node()
    gone = weakref.ref(node)
    del node

    batch = [[number] for number in range(200_000)]

    assert len(batch) == 200_000
    assert gone() is None


def test_what_is_new_is_looked_at_early_only_if_it_is_much() -> None:
    spared = Spared()
    gc.collect()
    before = gc.get_stats()[0]["collections"]

    spared.early()
    assert gc.get_stats()[0]["collections"] == before

    much = [[number] for number in range(30_000)]
    spared.early()
    assert gc.get_stats()[0]["collections"] == before + 1
    assert gc.get_count()[0] < len(much) // 2
