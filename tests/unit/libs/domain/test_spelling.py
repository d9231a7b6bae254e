"""Guesses at what was meant: only where a slip of the hand explains what was written."""

import pytest

from libs.domain import spelling

KNOWN = ("m5.large", "m5.xlarge", "c5.large", "shop/web-1", "shop/web-2", "zone-a")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        pytest.param("m5.lagre", ("m5.large",), id="two letters that changed places"),
        pytest.param("m5.larg", ("m5.large",), id="a letter too few"),
        pytest.param("mm5.large", ("m5.large",), id="a letter too many"),
        pytest.param("shop/web-3", ("shop/web-1", "shop/web-2"), id="ties by name"),
        pytest.param("m5.large", ("c5.large",), id="a known name is not itself meant"),
        pytest.param("p4d.24xlarge", (), id="nothing alike"),
        pytest.param("zo", (), id="too short to tell"),
        pytest.param("", (), id="nothing"),
    ],
)
def test_what_was_meant(word: str, meant: tuple[str, ...]) -> None:
    assert spelling.nearest(word, KNOWN, most=max(len(meant), 1)) == meant


def test_the_order_of_the_known_names_does_not_matter() -> None:
    assert spelling.nearest("web-1x", ["web-19", "web-18"]) == ("web-18",)
    assert spelling.nearest("web-1x", ["web-18", "web-19"]) == ("web-18",)


def test_among_thousands_of_names_the_nearest_is_found() -> None:
    names = [f"web-{number:06}" for number in range(20_000)]

    assert spelling.nearest("wbe-012345", names) == ("web-012345",)


@pytest.mark.parametrize(
    ("word", "meant"),
    [("x86_64", "amd64"), ("x86-64", "amd64"), ("X64", "amd64"), ("aarch64", "arm64")],
)
def test_what_others_call_an_architecture_is_meant(word: str, meant: str) -> None:
    assert spelling.nearest(word, ["amd64", "arm64"]) == (meant,)
    assert spelling.nearest(word, ["s390x"]) == ()


@pytest.mark.parametrize(
    ("left", "right", "count"),
    [("", "", 0), ("", "abc", 3), ("abc", "acb", 1), ("kitten", "sitting", 3), ("ab", "ba", 1)],
)
def test_slips_are_counted(left: str, right: str, count: int) -> None:
    assert spelling.slips(left, right) == spelling.slips(right, left) == count
