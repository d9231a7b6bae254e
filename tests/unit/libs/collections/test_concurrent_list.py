"""A list shared by threads."""

from concurrent.futures import ThreadPoolExecutor

from libs.collections.concurrent_list import ConcurrentList


def items_of(shared: ConcurrentList[int]) -> list[int]:
    seen: list[int] = []

    def visit(item: int) -> bool:
        seen.append(item)
        return True

    shared.range(visit)
    return seen


def test_items_are_visited_in_order_until_told_to_stop() -> None:
    shared = ConcurrentList([1, 2, 3])
    seen: list[int] = []

    def visit(item: int) -> bool:
        seen.append(item)
        return item < 2

    shared.range(visit)

    assert seen == [1, 2]


def test_delete_removes_the_first_equal_item_only() -> None:
    shared = ConcurrentList([1, 2, 1])

    assert shared.delete(1)
    assert not shared.delete(7)
    assert items_of(shared) == [2, 1]


def test_threads_lose_no_item() -> None:
    shared = ConcurrentList[int]()

    def fill(start: int) -> None:
        for number in range(start, start + 500):
            shared.append(number)
            if number % 2:
                shared.delete(number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fill, range(0, 2000, 500)))

    assert len(shared) == 1000
    assert sorted(items_of(shared)) == list(range(0, 2000, 2))
