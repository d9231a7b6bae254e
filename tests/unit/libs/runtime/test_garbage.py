"""What is kept from the collector of cycles, and for how long."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from libs.runtime import garbage


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
    garbage.spare()
    gone = weakref.ref(node)

    del node
    gc.collect()

    assert gone() is not None


def test_what_became_garbage_since_is_collected_the_next_time() -> None:
    node = Node()
    garbage.spare()
    gone = weakref.ref(node)

    del node
    garbage.spare()

    assert gone() is None


def test_what_comes_later_is_collected_as_ever() -> None:
    garbage.spare()
    node = Node()
    gone = weakref.ref(node)

    del node
    gc.collect()

    assert gone() is None
