"""Read-only mappings in the order of their keys, and what they know of where they come from."""

import gc
from collections.abc import Callable
from typing import Any

import pytest

from libs.domain.sorted_map import SortedMap


def test_keys_are_in_order_whatever_order_they_came_in() -> None:
    made = SortedMap.of({"b": 2, "a": 1})

    assert list(made.items()) == [("a", 1), ("b", 2)]
    assert made == {"b": 2, "a": 1}
    assert SortedMap.of(made) is made


@pytest.mark.parametrize(
    ("removed", "put", "expected", "touched"),
    [
        pytest.param([], {}, {"a": 1, "c": 3}, (), id="nothing"),
        pytest.param(["a", "x"], {}, {"c": 3}, ("a",), id="less"),
        pytest.param([], {"a": 9}, {"a": 9, "c": 3}, ("a",), id="another value"),
        pytest.param(["c"], {"b": 2}, {"a": 1, "b": 2}, ("c", "b"), id="another key"),
    ],
)
def test_what_comes_after_knows_which_keys_may_differ(
    removed: list[str], put: dict[str, int], expected: dict[str, int], touched: tuple[str, ...]
) -> None:
    base = SortedMap.of({"a": 1, "c": 3})

    made = base.after(removed, put)

    assert list(made.items()) == list(expected.items())
    assert made.origin == (base, touched)
    assert base == {"a": 1, "c": 3}


def test_nothing_keeps_what_a_mapping_was_made_from() -> None:
    base = SortedMap.of({"a": 1})
    made = base.after(["a"], {})
    assert base.origin is None

    del base
    gc.collect()

    assert made.origin is None


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda one: one.__setitem__("a", 2), id="set"),
        pytest.param(lambda one: one.__delitem__("a"), id="delete"),
        pytest.param(lambda one: one.update(a=2), id="update"),
        pytest.param(lambda one: one.pop("a"), id="pop"),
        pytest.param(lambda one: one.clear(), id="clear"),
        pytest.param(lambda one: one.setdefault("b", 2), id="default"),
    ],
)
def test_a_sorted_map_never_changes(change: Callable[[Any], object]) -> None:
    made = SortedMap.of({"a": 1})

    with pytest.raises(TypeError, match="never changes"):
        change(made)

    assert made == {"a": 1}
