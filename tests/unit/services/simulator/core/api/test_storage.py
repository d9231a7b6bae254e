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
