"""Quantities: every suffix, exact values, canonical text, and what is refused."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.domain import quantity
from libs.domain.errors import InvalidRequest

SUFFIXES = ("n", "u", "m", "", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "e3", "E-2", "e+1")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("0", Fraction(0), id="zero"),
        pytest.param("100m", Fraction(1, 10), id="milli"),
        pytest.param("5u", Fraction(5, 10**6), id="micro"),
        pytest.param("7n", Fraction(7, 10**9), id="nano"),
        pytest.param("2k", Fraction(2000), id="kilo"),
        pytest.param("3M", Fraction(3 * 10**6), id="mega"),
        pytest.param("1G", Fraction(10**9), id="giga"),
        pytest.param("1T", Fraction(10**12), id="tera"),
        pytest.param("1P", Fraction(10**15), id="peta"),
        pytest.param("1E", Fraction(10**18), id="exa, not an exponent"),
        pytest.param("1Ki", Fraction(2**10), id="kibi"),
        pytest.param("1.5Mi", Fraction(3 * 2**19), id="fraction of mebi"),
        pytest.param("1Gi", Fraction(2**30), id="gibi"),
        pytest.param("1Ti", Fraction(2**40), id="tebi"),
        pytest.param("1Pi", Fraction(2**50), id="pebi"),
        pytest.param("1Ei", Fraction(2**60), id="exbi"),
        pytest.param("12e6", Fraction(12 * 10**6), id="exponent"),
        pytest.param("12E6", Fraction(12 * 10**6), id="capital exponent"),
        pytest.param("5e-1", Fraction(1, 2), id="negative exponent"),
        pytest.param("+2", Fraction(2), id="plus sign"),
        pytest.param("-1.5Gi", Fraction(-3 * 2**29), id="minus sign"),
        pytest.param(".5", Fraction(1, 2), id="no whole part"),
        pytest.param("5.", Fraction(5), id="no fraction after the point"),
        pytest.param("007", Fraction(7), id="leading zeros"),
        pytest.param("0.1n", Fraction(1, 10**9), id="below a nano rounds away from zero"),
        pytest.param("-0.1n", Fraction(-1, 10**9), id="so does a negative one"),
        pytest.param("1e-999999999", Fraction(1, 10**9), id="an exponent far below"),
        pytest.param("0e999999999", Fraction(0), id="zero, however scaled"),
        pytest.param("9223372036854775807", Fraction(2**63 - 1), id="the largest"),
        pytest.param(3, Fraction(3), id="a bare integer"),
        pytest.param(0.1, Fraction(1, 10), id="a bare decimal, as it was written"),
        pytest.param(
            1e17, Fraction(10**17), id="a bare number that Python writes with an exponent"
        ),
    ],
)
def test_a_quantity_has_its_exact_value(text: str | float, value: Fraction) -> None:
    assert quantity.parse(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "", " 1", "1 ", "1\n", "+", "-", ".", "1.1.M", "1+1.0M", "0.1mi", "0.1am", "aoeu", ".5i",
        "1i", "-3.01i", "-3.01e-", "1e", "1e1.5", "1K", "1KiB", "1ki", "--1", "\u0661", "1_000",
        "0x10", "1,5", "nan", "inf", "1" * 200, "9223372036854775808", "-9223372036854775808",
        "8Ei", "1e19", "1e999999999999", "9.3E", 2**63, float("nan"), float("inf"), True,
    ],
)  # fmt: skip
def test_what_is_no_quantity_or_too_large_is_refused(text: str | float) -> None:
    with pytest.raises(InvalidRequest):
        quantity.parse(text)


def test_the_error_names_the_text() -> None:
    with pytest.raises(InvalidRequest, match="'12 GB'"):
        quantity.parse("12 GB")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("0.5", "500m"), ("1500m", "1500m"), ("2000m", "2"), ("1000", "1k"), ("1024Mi", "1Gi"),
        ("1536Mi", "1536Mi"), ("0.5Gi", "512Mi"), ("1024", "1024"), ("1.1Ki", "1126400m"),
        ("0.1Ki", "102400m"), ("1000Ki", "1000Ki"), ("1e3", "1e3"), ("1e4", "10e3"), ("1e0", "1"),
        ("1e-3", "1e-3"), ("1E", "1E"), ("1000P", "1E"), ("0Gi", "0"), ("-0", "0"),
        ("-1000", "-1k"),
        ("100n", "100n"), ("1000n", "1u"), ("0.0001", "100u"), (8, "8"), (0.25, "250m"),
    ],
)  # fmt: skip
def test_the_canonical_form_is_that_of_the_api(text: str | float, form: str) -> None:
    assert quantity.canonical(text) == form


@pytest.mark.parametrize(
    ("convert", "text", "amount"),
    [
        pytest.param(quantity.millicores, "1.5", 1500, id="cpu"),
        pytest.param(quantity.millicores, "100u", 1, id="a request for a bit of cpu rounds up"),
        pytest.param(quantity.floor_millicores, "1999u", 1, id="allocatable cpu rounds down"),
        pytest.param(quantity.units, "1.2", 2, id="a request for memory rounds up"),
        pytest.param(quantity.floor_units, "1.8", 1, id="allocatable memory rounds down"),
        pytest.param(quantity.units, "1Gi", 2**30, id="memory"),
    ],
)
def test_requests_round_up_and_allocatable_down(
    convert: Callable[[str], int], text: str, amount: int
) -> None:
    assert convert(text) == amount


@pytest.mark.parametrize(
    ("convert", "text"),
    [
        pytest.param(quantity.millicores, "9E", id="cpu"),
        pytest.param(quantity.millicores, "1152921504606847", id="a little more cpu than counts"),
        pytest.param(quantity.units, "1Ei", id="memory"),
        pytest.param(quantity.units, "2E", id="devices"),
    ],
)
def test_a_request_beyond_what_is_counted_is_refused_with_its_amount(
    convert: Callable[[str], int], text: str
) -> None:
    with pytest.raises(InvalidRequest, match=f"'{text}' is beyond the largest amount"):
        convert(text)


@pytest.mark.parametrize("text", ["1Ei", "8Ei", "1e30", 2**70], ids=str)
@pytest.mark.parametrize("convert", [quantity.floor_units, quantity.floor_millicores])
def test_room_beyond_what_is_counted_is_all_that_is_counted(
    convert: Callable[[str | int], int], text: str | int
) -> None:
    assert convert(text) == 2**60 - 1


def test_room_far_below_nothing_is_below_nothing() -> None:
    assert quantity.floor_units("-1e30") == -(2**63 - 1)


@settings(max_examples=100)
@given(
    whole=st.integers(0, 9000),
    part=st.text("0123456789", max_size=4),
    sign=st.sampled_from(("", "-", "+")),
    suffix=st.sampled_from(SUFFIXES),
)
def test_the_canonical_form_means_the_same_and_is_its_own(
    whole: int, part: str, sign: str, suffix: str
) -> None:
    text = f"{sign}{whole}.{part}{suffix}" if part else f"{sign}{whole}{suffix}"

    form = quantity.canonical(text)

    assert quantity.parse(form) == quantity.parse(text)
    assert quantity.canonical(form) == form


@settings(max_examples=100)
@given(amount=st.integers(-(2**53), 2**53))
def test_an_amount_comes_back_from_its_text(amount: int) -> None:
    assert quantity.millicores(quantity.format_millicores(amount)) == amount
    assert quantity.units(quantity.format_bytes(amount)) == amount
    assert quantity.floor_units(quantity.format_units(amount)) == amount


@pytest.mark.parametrize(
    ("amount", "up", "shown"),
    [
        pytest.param(1536 * 2**20, False, "1.5Gi", id="a fraction"),
        pytest.param(2**30, True, "1Gi", id="a whole unit"),
        pytest.param(2**30 + 1, False, "1Gi", id="down"),
        pytest.param(2**30 + 1, True, "1.1Gi", id="up"),
        pytest.param(7, True, "7", id="bytes"),
        pytest.param(0, False, "0", id="nothing"),
    ],
)
def test_bytes_are_shown_to_people_in_their_largest_unit(amount: int, up: bool, shown: str) -> None:
    assert quantity.readable_bytes(amount, up=up) == shown
