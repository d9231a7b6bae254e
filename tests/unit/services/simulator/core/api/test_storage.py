from services.simulator.core.api.storage import Change, Storage


def an_object(name: str, **members: object) -> dict[str, object]:
    return {"kind": "K", "apiVersion": "v1", "metadata": {"name": name}, **members}


def test_every_write_gets_the_next_revision() -> None:
    storage = Storage()
    first = storage.write("a", "x", an_object("x"))
    second = storage.write("b", "y", an_object("y"))

    assert (first.revision, second.revision) == (1, 2)
    assert second.object["metadata"]["resourceVersion"] == "2"


def test_keys_are_listed_in_the_order_of_their_bytes() -> None:
    storage = Storage()
    for key in ("a/x", "a-b/x", "a/b", "b/a"):
        storage.write("things", key, an_object(key))

    assert [version.key for version in storage.scan("things")] == ["a-b/x", "a/b", "a/x", "b/a"]
    assert [version.key for version in storage.scan("things", "a/")] == ["a/b", "a/x"]


def test_a_past_state_can_be_listed_until_it_is_compacted() -> None:
    storage = Storage()
    storage.write("things", "x", an_object("x", v=1))
    past = storage.revision
    storage.write("things", "x", an_object("x", v=2))
    storage.write("things", "y", an_object("y"))
    storage.remove("things", "x")

    then = storage.view("things", "", past)
    assert then is not None
    assert [(version.key, version.object["v"]) for version in then] == [("x", 1)]

    storage.compact()
    assert storage.view("things", "", past) is None


def test_the_log_is_bounded_and_says_how_far_back_it_goes() -> None:
    storage = Storage(history=10)
    for number in range(40):
        storage.write("things", "x", an_object("x", v=number))
    bucket = storage.bucket("things")

    assert len(bucket.log) <= 20
    assert bucket.horizon == bucket.log[0].revision - 1


def test_a_deletion_carries_the_last_state_at_a_new_revision() -> None:
    storage = Storage()
    storage.write("things", "x", an_object("x", v=1))
    removed = storage.remove("things", "x")

    event = storage.bucket("things").log[-1]
    assert event.change is Change.DELETED
    assert removed.object["v"] == 1
    assert removed.object["metadata"]["resourceVersion"] == "2"


def a_pod(name: str, node: str | None = None) -> dict[str, object]:
    return an_object(name, spec={"nodeName": node} if node else {})


def test_pods_are_found_by_their_node_as_they_come_move_and_go() -> None:
    storage = Storage()
    storage.write("pods", "n/b", a_pod("b", "x"))
    storage.write("pods", "n/a", a_pod("a", "x"))
    storage.write("pods", "m/c", a_pod("c"))

    assert storage.view_by_field("pods", "", "x").keys == ["n/a", "n/b"]
    assert storage.view_by_field("pods", "m/", "x").keys == []
    assert storage.view_by_field("pods", "n/", "x", "b").keys == ["n/b"]

    storage.write("pods", "m/c", a_pod("c", "x"))
    storage.write("pods", "n/b", a_pod("b", "y"))
    storage.remove("pods", "n/a")
    assert storage.view_by_field("pods", "", "x").keys == ["m/c"]
    assert storage.view_by_field("pods", "", "y").keys == ["n/b"]


def test_a_view_of_the_past_has_what_was_there_in_order() -> None:
    storage = Storage()
    for name in ("a", "c", "e"):
        storage.write("things", f"n/{name}", an_object(name, v=1))
    past = storage.revision
    storage.write("things", "n/b", an_object("b", v=2))
    storage.remove("things", "n/c")
    storage.write("things", "n/e", an_object("e", v=2))

    then = storage.view("things", "n/", past, "b")

    assert then is not None
    assert [(version.key, version.object["v"]) for version in then] == [("n/c", 1), ("n/e", 1)]


def test_a_bucket_that_is_first_used_late_has_all_its_history() -> None:
    storage = Storage()
    storage.write("other", "x", an_object("x"))

    assert storage.bucket("things").horizon == 0

    storage.forget()
    assert storage.bucket("more").horizon == storage.revision


def test_json_is_kept_of_new_states_only() -> None:
    storage = Storage()
    old = storage.write("things", "x", an_object("x"))
    text = old.members
    assert old.members is text

    for number in range(5000):
        storage.write("things", "y", an_object("y", v=number))

    assert old.members == text
    assert old.members is not old.members
