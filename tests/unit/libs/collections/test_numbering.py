"""Equal contents have one number, by which they are found again."""

import threading

from libs.collections.numbering import Numbering


def test_equal_contents_have_one_number_and_others_another() -> None:
    numbering = Numbering[tuple[str, int]]()
    numbers = [numbering.number(one) for one in (("a", 1), ("b", 1), ("a", 1), ("a", 2))]

    assert numbers[0] == numbers[2]
    assert len(set(numbers)) == len(numbering) == 3
    assert [numbering.content(one) for one in numbers] == [("a", 1), ("b", 1), ("a", 1), ("a", 2)]


def test_threads_that_meet_the_same_contents_agree() -> None:
    numbering, contents = Numbering[int](), range(2_000)
    told: list[list[int]] = [[], [], []]

    def ask(numbers: list[int]) -> None:
        numbers += map(numbering.number, contents)

    threads = [threading.Thread(target=ask, args=(numbers,)) for numbers in told]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert told[0] == told[1] == told[2]
    assert list(map(numbering.content, told[0])) == list(contents)
