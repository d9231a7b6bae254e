import pytest

from libs.cel.program import compile_expression
from libs.cel.semver import parse
from libs.cel.values import CelError


def _value(expression: str) -> object:
    return compile_expression(expression, frozenset()).evaluate({})


ASCENDING = [
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.10",
    "1.2.0",
    "10.0.0",
]


@pytest.mark.parametrize(
    ("lower", "higher"),
    [(a, b) for i, a in enumerate(ASCENDING) for b in ASCENDING[i + 1 :]],
)
def test_versions_are_ordered_by_precedence(lower: str, higher: str) -> None:
    assert _value(f"semver('{lower}').isLessThan(semver('{higher}'))") is True
    assert _value(f"semver('{higher}').isGreaterThan(semver('{lower}'))") is True
    assert _value(f"semver('{higher}').compareTo(semver('{lower}'))") == 1
    assert _value(f"semver('{higher}') == semver('{lower}')") is False


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        pytest.param("semver('1.2.3').major()", 1, id="major"),
        pytest.param("semver('1.2.3').minor()", 2, id="minor"),
        pytest.param("semver('1.2.3-rc.1+b').patch()", 3, id="patch"),
        pytest.param("semver('1.2.3+a') == semver('1.2.3+b')", True, id="build is no difference"),
        pytest.param("isSemver('1.2.3')", True, id="is one"),
        pytest.param("isSemver('1.2')", False, id="short"),
        pytest.param("isSemver('01.2.3')", False, id="leading zero"),
        pytest.param("isSemver('1.2.3-01')", False, id="leading zero before the release"),
        pytest.param("isSemver('v1.2.3')", False, id="with v"),
        pytest.param("isSemver('99999999999999999999.0.0')", False, id="too large"),
        pytest.param("isSemver('v1.2', true)", True, id="short and normalized"),
        pytest.param("semver('v01.2', true) == semver('1.2.0')", True, id="normalized"),
        pytest.param("semver('1.00.00', true) == semver('1.0.0')", True, id="zeros alone"),
        pytest.param("isSemver('1.2-rc', true)", False, id="short before the release"),
        pytest.param("type(semver('1.2.3')) == type(semver('1.0.0'))", True, id="type"),
        pytest.param("'1.2.3' == semver('1.2.3')", False, id="a text is no version"),
    ],
)
def test_semver(expression: str, value: object) -> None:
    assert _value(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("semver('x')", id="no version"),
        pytest.param("semver(1)", id="no text"),
        pytest.param("isSemver(1)", id="asked of no text"),
        pytest.param("semver('1.2.3', 'yes')", id="no truth value"),
        pytest.param("'1.2.3'.major()", id="part of a text"),
        pytest.param("semver('1.2.3') == '1.2.3'", id="a version is no text"),
        pytest.param("semver('1.2.3').isLessThan('1.2.3')", id="no order with a text"),
    ],
)
def test_what_has_no_value_is_an_error(expression: str) -> None:
    with pytest.raises(CelError):
        _value(expression)


def test_a_version_keeps_what_its_order_needs() -> None:
    version = parse("1.2.3-rc.1+build")

    assert (version.major, version.minor, version.patch) == (1, 2, 3)
    assert version.prerelease == ("rc", 1)
