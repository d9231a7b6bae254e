"""One key's algebra, against plain predicates over probe values, and by its laws."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.domain.errors import InvalidRequest
from libs.domain.requirement import Entry, Operator, Requirement
from libs.domain.requirements import Requirements

Accepts = Callable[[str | None], bool]
PROBES = (
    None,
    "",
    "A",
    "B",
    "C",
    "0",
    "1",
    "2",
    "5",
    "01",
    "9",
    "10",
    "12",
    "19",
    "99",
    "x1",
    "-1",
)


def required(operator: str, *values: str, least: int | None = None) -> Requirement:
    return Requirement.of("k", operator, values, least)


def number(value: str | None) -> int:
    """Return the number that a label value is, -1 if it is none."""
    return int(value) if value is not None and value.isdigit() else -1


# What each accepts, said without the code under test; None stands for an absent key.
TABLE: dict[str, tuple[Requirement, Accepts]] = {
    "exists": (required("Exists"), lambda v: v is not None),
    "does not exist": (required("DoesNotExist"), lambda v: v is None),
    "in A": (required("In", "A"), lambda v: v == "A"),
    "in B": (required("In", "B"), lambda v: v == "B"),
    "in A B": (required("In", "A", "B"), lambda v: v in ("A", "B")),
    "not in A": (required("NotIn", "A"), lambda v: v != "A"),
    "in 1": (required("In", "1"), lambda v: v == "1"),
    "in 9": (required("In", "9"), lambda v: v == "9"),
    "in 1 9": (required("In", "1", "9"), lambda v: v in ("1", "9")),
    "not in 1 2": (required("NotIn", "1", "2"), lambda v: v not in ("1", "2")),
    "gt 1": (required("Gt", "1"), lambda v: number(v) > 1),
    "gte 9": (required("Gte", "9"), lambda v: number(v) >= 9),
    "lt 1": (required("Lt", "1"), lambda v: 0 <= number(v) < 1),
    "lte 9": (required("Lte", "9"), lambda v: 0 <= number(v) <= 9),
}
PAIRS = [
    pytest.param(*left, *right, id=f"{left_name} with {right_name}")
    for left_name, left in TABLE.items()
    for right_name, right in TABLE.items()
]

entries = st.one_of(
    st.builds(
        Requirement.of,
        st.just("k"),
        st.sampled_from(("In", "NotIn")),
        st.lists(st.sampled_from(("a", "b", "0", "1", "5", "05", "9", "x-1")), min_size=1),
    ),
    st.builds(Requirement.of, st.just("k"), st.sampled_from(("Exists", "DoesNotExist"))),
    st.builds(
        Requirement.of,
        st.just("k"),
        st.sampled_from(("Gt", "Lt", "Gte", "Lte")),
        st.integers(-2, 10).map(lambda n: (str(n),)),
    ),
)
requirements = st.lists(entries, min_size=1, max_size=4).map(
    lambda many: Requirements(many).get("k") or many[0]
)
values = st.sampled_from(("", "a", "b", "c", "0", "1", "2", "5", "05", "005", "9", "10", "x-1"))


def accepts(requirement: Requirement, value: str | None) -> bool:
    return requirement.absent if value is None else requirement.has(value)


@pytest.mark.parametrize(("requirement", "expected"), TABLE.values(), ids=TABLE)
def test_an_operator_accepts_what_it_says(requirement: Requirement, expected: Accepts) -> None:
    assert [v for v in PROBES if accepts(requirement, v)] == [v for v in PROBES if expected(v)]


@pytest.mark.parametrize(("left", "in_left", "right", "in_right"), PAIRS)
def test_an_intersection_accepts_what_both_accept(
    left: Requirement, in_left: Accepts, right: Requirement, in_right: Accepts
) -> None:
    both = left.intersection(right)

    expected = [v for v in PROBES if in_left(v) and in_right(v)]
    assert [v for v in PROBES if accepts(both, v)] == expected
    assert left.has_intersection(right) is bool(expected)
    assert both.satisfiable is bool(expected)
    assert right.intersection(left) == both


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        pytest.param(TABLE["exists"], TABLE["does not exist"], "k In []", id="nothing is left"),
        pytest.param(TABLE["exists"], TABLE["not in A"], "k NotIn [A]", id="exclusions stay"),
        pytest.param(TABLE["gt 1"], TABLE["lte 9"], "k >=2 <=9", id="a window"),
        pytest.param(TABLE["gte 9"], TABLE["lt 1"], "k In []", id="an empty window"),
        pytest.param(TABLE["lte 9"], TABLE["in 1 9"], "k In [1 9]", id="a list drops the bounds"),
        pytest.param(TABLE["gt 1"], TABLE["not in 1 2"], "k NotIn [2] >=2", id="useless ones go"),
        pytest.param(TABLE["not in A"], TABLE["does not exist"], "k DoesNotExist", id="absence"),
    ],
)
def test_an_intersection_reads_as(
    one: tuple[Requirement, Accepts], other: tuple[Requirement, Accepts], shown: str
) -> None:
    assert str(one[0].intersection(other[0])) == shown


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(required("Gt", "4"), required("Gte", "5"), id="Gt and Gte"),
        pytest.param(required("Lt", "6"), required("Lte", "5"), id="Lt and Lte"),
        pytest.param(required("NotIn"), required("Exists"), id="NotIn of nothing and Exists"),
        pytest.param(required("Gte", "-7"), required("Gte", "0"), id="bounds below zero"),
        pytest.param(
            required("Gte", "0"), required("Lte", str(2**63 - 1)), id="any integer, said twice"
        ),
        pytest.param(
            required("Gte", "0").intersection(required("Lte", "5")),
            required("Lte", "5"),
            id="an idle lower bound",
        ),
        pytest.param(required("Lt", "0"), required("Gt", str(2**63 - 1)), id="impossible bounds"),
        pytest.param(
            Requirement.of("beta.kubernetes.io/os", "In", ["linux"]),
            Requirement.of("kubernetes.io/os", "In", ["linux", "linux"]),
            id="a deprecated key",
        ),
    ],
)
def test_what_means_the_same_is_equal_and_hashes_alike(
    one: Requirement, other: Requirement
) -> None:
    assert one == other
    assert hash(one) == hash(other)


def test_min_values_distinguish_and_the_larger_one_prevails() -> None:
    one, other = required("Exists", least=2), required("In", "a", "b", "c", least=3)

    assert one != required("Exists")
    assert one.intersection(other).min_values == 3
    assert required("Exists").intersection(one).min_values == 2


@pytest.mark.parametrize(
    ("operator", "listed", "least", "path"),
    [
        pytest.param("Near", ("1",), None, "operator", id="unknown operator"),
        pytest.param("in", ("1",), None, "operator", id="operators have capitals"),
        pytest.param("In", (), None, "values", id="In without values"),
        pytest.param("Exists", ("a",), None, "values", id="Exists with a value"),
        pytest.param("DoesNotExist", ("a",), None, "values", id="DoesNotExist with a value"),
        pytest.param("Gt", (), None, "values", id="a bound without a value"),
        pytest.param("Gt", ("1", "2"), None, "values", id="a bound with two"),
        pytest.param("Lte", ("1.5",), None, "values", id="a bound that is no integer"),
        pytest.param("Lte", ("٣",), None, "values", id="a digit of another script"),
        pytest.param("Lte", (str(2**63),), None, "values", id="a bound beyond 64 bits"),
        pytest.param("Exists", (), 0, "minValues", id="minValues too small"),
        pytest.param("Exists", (), 51, "minValues", id="minValues too large"),
    ],
)
def test_illegal_requirements_are_refused(
    operator: str, listed: tuple[str, ...], least: int | None, path: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        Requirement.of("k", operator, listed, least)

    assert caught.value.field == path


@pytest.mark.parametrize(
    ("requirement", "value"),
    [
        pytest.param(required("In", "b", "a"), "a", id="the smallest of a list"),
        pytest.param(required("DoesNotExist"), None, id="none where the key is absent"),
        pytest.param(required("Exists"), "0", id="zero if anything goes"),
        pytest.param(required("NotIn", "0", "1"), "2", id="the first that is not excluded"),
        pytest.param(required("Gt", "41"), "42", id="the lower bound"),
        pytest.param(
            required("Gte", "5")
            .intersection(required("Lte", "5"))
            .intersection(required("NotIn", "5")),
            "05",
            id="another spelling of the only number",
        ),
    ],
)
def test_any_value_is_the_smallest(requirement: Requirement, value: str | None) -> None:
    assert requirement.any_value() == value


def test_entries_keep_the_exclusions_of_a_window() -> None:
    window = required("Gt", "1", least=2).intersection(required("NotIn", "5", "a"))

    assert window.entries() == (
        Entry(key="k", operator=Operator.GTE, values=("2",), min_values=2),
        Entry(key="k", operator=Operator.NOT_IN, values=("5",), min_values=2),
    )


def test_five_values_are_shown_and_the_others_counted() -> None:
    shown = str(required("In", *"gfedcba", least=2))

    assert shown == "k In [a b c d e and 2 others] minValues 2"


@settings(max_examples=150)
@given(a=requirements, b=requirements, c=requirements)
def test_intersection_is_commutative_associative_and_idempotent(
    a: Requirement, b: Requirement, c: Requirement
) -> None:
    assert a.intersection(b) == b.intersection(a)
    assert a.intersection(b).intersection(c) == a.intersection(b.intersection(c))
    assert a.intersection(a.intersection(b)) == a.intersection(b)


@settings(max_examples=150)
@given(a=requirements, b=requirements, value=st.none() | values)
def test_an_intersection_accepts_a_value_exactly_if_both_do(
    a: Requirement, b: Requirement, value: str | None
) -> None:
    both = a.intersection(b)

    assert accepts(both, value) is (accepts(a, value) and accepts(b, value))
    assert a.has_intersection(b) is both.satisfiable


@settings(max_examples=150)
@given(a=requirements, b=requirements)
def test_containing_means_that_intersecting_changes_nothing(a: Requirement, b: Requirement) -> None:
    assert a.contains(b) is (a.intersection(b) == b)
    assert a.contains(a.intersection(b))


@settings(max_examples=150)
@given(a=requirements)
def test_entries_and_any_value_tell_the_truth(a: Requirement) -> None:
    assert Requirements.of(a.entries()) == Requirements([a])
    value = a.any_value()
    assert a.has(value) if value is not None else not (a.complement or a.values)
