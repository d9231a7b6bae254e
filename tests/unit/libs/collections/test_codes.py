"""A name has one number, whoever asks first."""

from libs.collections.codes import Codes


def test_equal_names_have_equal_numbers_and_others_have_others() -> None:
    codes = Codes()

    a, empty, b, again = codes.of(["a", "", "b", "a"])

    assert (a, empty) == (again, 0)
    assert len({a, b, empty}) == 3
    assert codes.of(("b", "a")) == [b, a]
    assert len(codes) == 3
