"""Stored objects cannot be changed, and share what they have in common."""

from typing import Any

import pytest

from services.simulator.core.api.frozen import FrozenDict, Sharing, thaw


def a_pod(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "env": [{"name": "A"}]}], **spec},
    }


def test_equal_parts_of_two_objects_are_one() -> None:
    sharing = Sharing()
    first, second = sharing.freeze(a_pod("a")), sharing.freeze(a_pod("b"))

    assert first["spec"]["containers"] is second["spec"]["containers"]
    assert first["metadata"]["labels"] is second["metadata"]["labels"]
    assert first["spec"] is not second["spec"]
    assert second == a_pod("b")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"x": 1}, {"x": "1"}, id="number and text"),
        pytest.param({"x": 1}, {"x": True}, id="number and truth"),
        pytest.param([], {}, id="list and object"),
        pytest.param({"x": None}, {}, id="null and nothing"),
    ],
)
def test_parts_that_only_look_alike_stay_apart(one: Any, other: Any) -> None:
    sharing = Sharing()

    assert sharing.freeze({"spec": {"p": one}})["spec"]["p"] == one
    found = sharing.freeze({"spec": {"p": other}})["spec"]["p"]

    assert (found, type(found).__mro__[1]) == (other, type(other))


def test_what_is_used_is_remembered_and_what_is_unique_goes() -> None:
    sharing = Sharing(generation=4)
    kept = sharing.freeze({"spec": {"p": {"kept": 1}}})["spec"]["p"]
    for number in range(20):
        sharing.freeze({"spec": {"p": {"unique": number}, "q": {"kept": 1}}})

    assert sharing.freeze({"spec": {"p": {"kept": 1}}})["spec"]["p"] is kept


def test_what_is_frozen_refuses_changes_and_thaws() -> None:
    frozen = Sharing().freeze(a_pod("a"))

    with pytest.raises(TypeError):
        frozen["spec"]["containers"][0]["name"] = "d"
    with pytest.raises(TypeError):
        frozen["spec"]["containers"].append({})
    changed = thaw(frozen)
    changed["spec"]["containers"][0]["name"] = "d"
    assert isinstance(frozen, FrozenDict)
    assert frozen["spec"]["containers"][0]["name"] == "c"
