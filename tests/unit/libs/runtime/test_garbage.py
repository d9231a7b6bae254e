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
    yield
    gc.unfreeze()


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
