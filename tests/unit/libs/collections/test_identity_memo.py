"""A value is made once per object and goes when the object does."""

import gc
from collections.abc import Sequence
from dataclasses import dataclass

from libs.collections.identity_memo import IdentityMemo


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Thing:
    number: int


def numbers(things: Sequence[Thing]) -> list[int]:
    return [thing.number for thing in things]


def test_a_value_is_made_once_per_object_not_per_content() -> None:
    one, equal = Thing(1), Thing(1)
    memo: IdentityMemo[Thing, int] = IdentityMemo(numbers)

    assert memo.of_all((one, equal, one)) == [1, 1, 1]
    assert memo.of(one) == 1
    assert memo.made == 2


def test_a_value_goes_with_its_object() -> None:
    things = [Thing(number) for number in range(3)]
    memo: IdentityMemo[Thing, int] = IdentityMemo(numbers)
    memo.of_all(things)

    del things[1:]
    gc.collect()

    assert len(memo) == 1
    assert memo.of_all([*things, Thing(7)]) == [0, 7]
