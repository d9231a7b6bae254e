import pytest

from services.simulator.matching import Bindings, filtered


def test_a_placeholder_keeps_the_value_it_was_bound_to() -> None:
    bindings = Bindings()

    assert bindings.compare("$rv1", "7", "") == []
    assert bindings.compare("$rv1", "7", "") == []
    assert bindings.compare("$rv1", "8", "") != []
    assert bindings.fill({"a": "at $rv1"}) == {"a": "at 7"}


def test_resource_versions_keep_the_order_of_their_numbers() -> None:
    bindings = Bindings()
    bindings.compare("$rv2", "7", "")

    assert bindings.compare("$rv1", "9", "") != []
    assert bindings.compare("$rv3", "9", "") == []


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        pytest.param({"a": 1}, {"a": 1, "b": 2}, id="a member too many"),
        pytest.param({"a": 1, "b": 2}, {"a": 1}, id="a member too few"),
        pytest.param([1, 2], [2, 1], id="list order"),
        pytest.param(1, True, id="a number is no boolean"),
        pytest.param("$uid1", "no uid", id="the wrong shape"),
    ],
)
def test_differences_are_told(expected: object, found: object) -> None:
    assert Bindings().compare(expected, found, "x") != []


def test_a_filter_keeps_members_in_its_order() -> None:
    value = {"items": [{"n": "b"}, {"n": "a"}, {"n": "c"}], "kind": "List"}

    assert filtered(value, {"list": "items", "key": "n", "in": ["a", "b"]}) == {
        "items": [{"n": "a"}, {"n": "b"}],
        "kind": "List",
    }
