"""What parts are told: changes, indexes and due times."""

from datetime import timedelta
from typing import Any

from services.simulator.core.client import Client, controller_uid
from services.simulator.core.feed import Change, Feed
from services.simulator.core.timetable import Timetable
from tests.support.memory_api import new_server
from tests.unit.services.simulator.living import START, a_pod


class _Still:
    """A clock that stands."""

    def now(self) -> Any:
        return START

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, span: timedelta) -> None:
        raise AssertionError(span)


def keys(changes: list[Change]) -> list[tuple[str, bool, bool]]:
    return [(change.key, change.old is not None, change.new is not None) for change in changes]


def test_a_feed_begins_with_what_is_there_and_tells_each_change_once() -> None:
    api = new_server(_Still()).direct
    api.create("pods", a_pod("a"), "default")
    feed = Feed(api, "pods")

    first = keys(feed.changes())
    api.create("pods", a_pod("b"), "default")
    api.patch("pods", "a", {"metadata": {"labels": {"x": "y"}}}, "default")
    api.delete("pods", "b", "default")
    then = keys(feed.changes())

    assert first == [("default/a", False, True)]
    assert then[:2] == [("default/b", False, True), ("default/a", True, True)]
    assert then[-1] == ("default/b", True, False)
    assert feed.changes() == []
    assert list(feed.objects) == ["default/a"]


def test_a_feed_that_fell_behind_tells_the_differences() -> None:
    server = new_server(_Still())
    api = server.direct
    for name in ("stays", "changes", "goes"):
        api.create("pods", a_pod(name), "default")
    feed = Feed(api, "pods")
    feed.changes()

    api.delete("pods", "goes", "default")
    api.patch("pods", "changes", {"metadata": {"labels": {"x": "y"}}}, "default")
    api.create("pods", a_pod("new"), "default")
    server.store.storage.forget()

    assert sorted(keys(feed.changes())) == [
        ("default/changes", True, True),
        ("default/goes", True, False),
        ("default/new", False, True),
    ]
    api.create("pods", a_pod("later"), "default")
    assert keys(feed.changes()) == [("default/later", False, True)]


def test_an_index_is_current_at_every_read() -> None:
    api = new_server(_Still()).direct
    index = Client(api).index("pods", controller_uid)
    owner = {"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u", "controller": True}
    pod = a_pod("owned")
    pod["metadata"]["ownerReferences"] = [owner]

    api.create("pods", pod, "default")
    api.create("pods", a_pod("free"), "default")
    assert [found["metadata"]["name"] for found in index.of("u")] == ["owned"]
    api.patch("pods", "owned", {"metadata": {"ownerReferences": None}}, "default")

    assert index.of("u") == []


def test_a_timetable_gives_keys_by_time_then_in_order() -> None:
    table: Timetable[str] = Timetable()
    for key, seconds in (("late", 9), ("b", 2), ("a", 2), ("gone", 1), ("moved", 1)):
        table.put(key, START + timedelta(seconds=seconds))
    table.drop("gone")
    table.put("moved", START + timedelta(seconds=8))
    table.hasten("late", START + timedelta(seconds=3))
    table.hasten("a", START + timedelta(seconds=7))

    taken = table.take(START + timedelta(seconds=3))

    assert taken == ["b", "a", "late"]
    assert table.next() == START + timedelta(seconds=8)
    assert table.take(START + timedelta(seconds=8)) == ["moved"]
    assert table.next() is None


def test_subscribers_share_what_is_there_and_are_told_each_change() -> None:
    api = new_server(_Still()).direct
    client = Client(api)
    early = client.subscribe("pods")
    api.create("pods", a_pod("a"), "default")
    assert keys(early.changes()) == [("default/a", False, True)]

    late = client.subscribe("pods")
    api.delete("pods", "a", "default")

    seen = keys(late.changes())
    assert (seen[0], seen[-1]) == (("default/a", False, True), ("default/a", True, False))
    assert keys(early.changes()) == seen[1:]
    assert early.objects is late.objects
    assert client.index("pods", controller_uid) is client.index("pods", controller_uid)
