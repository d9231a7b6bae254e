"""What was asked for lately is there; the rest is made again."""

from functools import partial

from libs.collections.recent import Recent


def test_what_was_not_asked_for_longest_goes_first() -> None:
    made: list[str] = []
    recent: Recent[str, str] = Recent(2)

    def make(key: str) -> str:
        made.append(key)
        return key.upper()

    assert [recent.get(key, partial(make, key)) for key in "abacab"] == list("ABACAB")

    assert made == ["a", "b", "c", "b"]
