from services.simulator.core.api.reading import ListOptions
from tests.unit.services.simulator.cluster import Cluster, a_config_map, a_pod


def told(watch: object) -> list[tuple[str, str]]:
    return [(event.type, event.object["metadata"]["name"]) for event in watch.poll()]  # type: ignore[attr-defined]  # a Watch; kept short for the tables


def test_a_watch_without_a_revision_begins_with_what_is_there() -> None:
    api = Cluster().server.direct
    api.create("configmaps", a_config_map("a"))
    watch = api.watch("configmaps", "default")
    api.create("configmaps", a_config_map("b"))

    assert told(watch) == [("ADDED", "a"), ("ADDED", "b")]
    assert watch.poll() == []


def test_the_writer_wakes_the_watcher() -> None:
    api = Cluster().server.direct
    watch = api.watch("configmaps")
    woken: list[int] = []
    watch.wake = lambda: woken.append(1)
    api.create("configmaps", a_config_map())

    assert woken


def test_leaving_a_selector_is_a_deletion_with_the_last_matching_state() -> None:
    api = Cluster().server.direct
    api.create("pods", a_pod("p"))
    watch = api.watch("pods", None, ListOptions(fields="spec.nodeName="))
    watch.poll()
    api.bind("p", "default", "n1")
    (event,) = watch.poll()

    assert event.type == "DELETED"
    assert "nodeName" not in event.object["spec"]
    assert event.object["metadata"]["resourceVersion"] == str(api.revision)


def test_a_watch_from_forgotten_history_is_told_410_and_closed() -> None:
    cluster = Cluster()
    api = cluster.server.direct
    api.create("configmaps", a_config_map("a"))
    since = str(api.revision)
    api.create("configmaps", a_config_map("b"))
    cluster.server.store.storage.forget()
    watch = api.watch("configmaps", None, ListOptions(resource_version=since))
    (event,) = watch.poll()

    assert (event.type, event.object["code"]) == ("ERROR", 410)
    assert watch.closed


def test_a_reader_that_fell_behind_is_told_410() -> None:
    cluster = Cluster()
    api = cluster.server.direct
    watch = api.watch("configmaps")
    api.create("configmaps", a_config_map("a"))
    cluster.server.store.storage.forget()

    assert [event.type for event in watch.poll()] == ["ERROR"]
    assert watch.closed


def test_an_update_that_changes_nothing_is_no_event() -> None:
    api = Cluster().server.direct
    stored = api.create("configmaps", a_config_map("a", k="v"))
    watch = api.watch("configmaps")
    watch.poll()

    assert api.update("configmaps", stored) == stored
    assert watch.poll() == []
