"""What was asked for lately is there; the rest is made again."""

from functools import partial

from libs.collections.recent import Recent


def test_what_was_not_asked_for_longest_goes_first() -> None:
    made: list[str] = []
    recent = Recent(2)

    def make(key: str) -> str:
        made.append(key)
        return key.upper()

    assert [recent.get(key, partial(make, key)) for key in "abacab"] == list("ABACAB")
    assert made == ["a", "b", "c", "b"]


def test_objects_are_known_by_identity() -> None:
    recent = Recent(9)
    one, equal = [1], [1]

    assert recent.get("sum", lambda: "first", one) == "first"
    assert recent.get("sum", lambda: "second", equal) == "second"
    assert recent.get("sum", lambda: "third", one) == "first"
    assert recent.get("product", lambda: "fourth", one) == "fourth"
