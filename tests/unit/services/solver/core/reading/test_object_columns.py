"""Each number is read once per object, and no object is taken for another."""

from collections.abc import Iterable, Iterator

import pytest

from libs.domain.sorted_map import SortedMap
from libs.runtime.randomness import Random
from services.solver.core.reading import object_columns
from services.solver.core.reading.object_columns import ObjectColumns


class Thing:
    """An object with a number."""

    def __init__(self, number: int) -> None:
        self.number = number


def numbers(things: Iterable[Thing]) -> Iterator[int]:
    return (thing.number for thing in things)


def test_a_number_is_read_once_however_often_it_is_asked_for() -> None:
    columns, things = ObjectColumns[Thing](), [Thing(number) for number in range(5)]

    assert columns.of(things).column("number", numbers).tolist() == [0, 1, 2, 3, 4]
    assert columns.of(things[::-2]).column("number", numbers).tolist() == [4, 2, 0]
    assert columns.read == 5

    more = Thing(9)
    assert columns.of([things[3], more]).column("number", numbers).tolist() == [3, 9]
    assert columns.read == 6


def test_columns_are_apart() -> None:
    columns, things = ObjectColumns[Thing](), [Thing(7), Thing(8)]
    columns.of(things).column("number", numbers)

    squares = columns.of(things).column("square", lambda them: (t.number**2 for t in them))

    assert squares.tolist() == [49, 64]


def test_nothing_at_all_has_no_numbers() -> None:
    assert ObjectColumns[Thing]().of([]).column("number", numbers).tolist() == []


@pytest.mark.parametrize("seed", range(4))
def test_who_comes_to_the_place_of_another_has_its_own_numbers(seed: int) -> None:
    source, columns = Random(seed), ObjectColumns[Thing]()
    things = [Thing(number) for number in range(30)]
    for step in range(100):
        things[source.randrange(0, 30)] = Thing(1_000 + step)
        asked = source.sample(things, 20)
        name = source.choice(("one", "other"))

        assert columns.of(asked).column(name, numbers).tolist() == list(numbers(asked))
    # Places of those that are gone are used again.
    assert columns.of(things).places.max() < 60


def test_an_object_may_go_when_the_module_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    columns, things = ObjectColumns[Thing](), [Thing(7)]
    columns.of(things)
    for name in ("_PLACE_BITS", "_COLUMNS", "count"):  # as at the end of a process
        monkeypatch.setattr(object_columns, name, None)

    things.clear()  # what is raised of it is a warning, and a warning an error

    assert columns.of([]).places.tolist() == []


@pytest.mark.parametrize("seed", range(6))
def test_a_collection_costs_what_differs_from_the_one_it_was_made_from(seed: int) -> None:
    source, columns = Random(seed), ObjectColumns[Thing]()
    names = [f"{number:02}" for number in range(40)]
    items = SortedMap.of({name: Thing(number) for number, name in enumerate(names)})
    columns.of_items(items)
    for step in range(60):
        put = {name: Thing(1_000 + step) for name in source.sample(names, source.randrange(0, 4))}
        before, sought = items, columns.sought
        items = before.after(source.sample(names, source.randrange(0, 4)), put)

        found = columns.of_items(items)

        assert found.column("number", numbers).tolist() == list(numbers(items.values()))
        assert list(found.objects) == list(items.values())
        assert columns.sought - sought <= len(put)


def test_a_collection_is_looked_up_whole_where_that_before_it_never_was() -> None:
    columns, base = ObjectColumns[Thing](), SortedMap.of({"a": Thing(1), "b": Thing(2)})

    found = columns.of_items(later := base.after(["a"], {"c": Thing(3)}))

    assert found.column("number", numbers).tolist() == [2, 3]
    assert columns.of_items(later) is found
    assert columns.sought == 2
