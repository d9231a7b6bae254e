"""A list shared by threads."""

from concurrent.futures import ThreadPoolExecutor

from libs.collections.concurrent_list import ConcurrentList


def test_a_range_is_of_one_moment_and_in_order() -> None:
    shared = ConcurrentList([1, 2])

    for item in shared.range():
        shared.append(item + 10)

    assert shared.range() == (1, 2, 11, 12)


def test_delete_removes_the_first_equal_item_only() -> None:
    shared = ConcurrentList([1, 2, 1])

    assert shared.delete(1)
    assert not shared.delete(7)
    assert shared.range() == (2, 1)


def test_threads_lose_no_item() -> None:
    shared = ConcurrentList[int]()

    def fill(start: int) -> None:
        for number in range(start, start + 500):
            shared.append(number)
            if number % 2:
                shared.delete(number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fill, range(0, 2000, 500)))

    assert sorted(shared.range()) == list(range(0, 2000, 2))
