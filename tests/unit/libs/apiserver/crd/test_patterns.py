"""Patterns that are none are told of in Go's words, and not on standard error."""

import pytest

from libs.apiserver.crd.patterns import Malformed, compile_pattern


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "missing closing ): `(`"),
        ("[", "missing closing ]: `[`"),
        ("*", "missing argument to repetition operator: `*`"),
        (r"\y", r"invalid escape sequence: `\y`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        (")", "unexpected ): `)`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("a\\", "trailing backslash at end of expression: ``"),
    ],
)
def test_a_pattern_that_is_none(pattern: str, why: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Malformed) as refused:
        compile_pattern(pattern)

    assert str(refused.value) == f"error parsing regexp: {why}"
    assert capfd.readouterr().err == ""


def test_a_pattern_that_is_one_matches() -> None:
    assert compile_pattern("^[a-z]+$").search("abc")
