"""Every operator against every other, with and without minValues, and what each is written as.

The model is a set: what a requirement accepts of a small universe, where `None` is an absent key.
It is spelt out by hand, so nothing here asks the code under test what it should have answered.
"""

from dataclasses import replace
from itertools import product

import pytest

from libs.domain.requirement import Entry, Operator, Requirement
from libs.domain.requirements import Requirements

LARGEST = 2**63 - 1
UNIVERSE = frozenset(
    {None, "", "A", "B", "C", "-1", "0", "1", "2", "5", "8", "9", "09", "10", "1.5"}
)
NUMBERS = frozenset({"0", "1", "2", "5", "8", "9", "09", "10"})

Accepted = frozenset[str | None]


def required(operator: str, *values: str, least: int | None = None) -> Requirement:
    return Requirement.of("k", operator, values, least)


def both(*rows: tuple[str, *tuple[str, ...]]) -> Requirement:
    """Return one requirement of several entries for one key."""
    found = Requirements(required(operator, *values) for operator, *values in rows).get("k")
    assert found is not None
    return found


def accepted(requirement: Requirement) -> Accepted:
    """Return what of the universe the code accepts."""
    return frozenset(
        value
        for value in UNIVERSE
        if (requirement.absent if value is None else requirement.has(value))
    )


# The fourteen operators of the reference's matrix, then bounds combined with bounds and lists.
OPERATORS: dict[str, tuple[Requirement, Accepted]] = {
    "Exists": (required("Exists"), UNIVERSE - {None}),
    "DoesNotExist": (required("DoesNotExist"), frozenset({None})),
    "In A": (required("In", "A"), frozenset({"A"})),
    "In B": (required("In", "B"), frozenset({"B"})),
    "In A B": (required("In", "A", "B"), frozenset({"A", "B"})),
    "NotIn A": (required("NotIn", "A"), UNIVERSE - {"A"}),
    "In 1": (required("In", "1"), frozenset({"1"})),
    "In 9": (required("In", "9"), frozenset({"9"})),
    "In 1 9": (required("In", "1", "9"), frozenset({"1", "9"})),
    "NotIn 1 2": (required("NotIn", "1", "2"), UNIVERSE - {"1", "2"}),
    "Gt 1": (required("Gt", "1"), frozenset({"2", "5", "8", "9", "09", "10"})),
    "Gt 9": (required("Gt", "9"), frozenset({"10"})),
    "Lt 1": (required("Lt", "1"), frozenset({"0"})),
    "Lt 9": (required("Lt", "9"), frozenset({"0", "1", "2", "5", "8"})),
}
COMBINED: dict[str, tuple[Requirement, Accepted]] = {
    "Gte 1": (required("Gte", "1"), NUMBERS - {"0"}),
    "Gte 9": (required("Gte", "9"), frozenset({"9", "09", "10"})),
    "Lte 1": (required("Lte", "1"), frozenset({"0", "1"})),
    "Lte 9": (required("Lte", "9"), NUMBERS - {"10"}),
    "Gt 1 Lt 9": (both(("Gt", "1"), ("Lt", "9")), frozenset({"2", "5", "8"})),
    "Gte 1 Lte 9": (both(("Gte", "1"), ("Lte", "9")), NUMBERS - {"0", "10"}),
    "Gte 9 Lte 9": (both(("Gte", "9"), ("Lte", "9")), frozenset({"9", "09"})),
    "Gt 1 NotIn 5 A": (
        both(("Gt", "1"), ("NotIn", "5", "A")),
        frozenset({"2", "8", "9", "09", "10"}),
    ),
    "Exists NotIn A": (both(("Exists",), ("NotIn", "A")), UNIVERSE - {None, "A"}),
    "Gt 9 Lt 1": (both(("Gt", "9"), ("Lt", "1")), frozenset()),
    "In A In B": (both(("In", "A"), ("In", "B")), frozenset()),
    "Exists DoesNotExist": (both(("Exists",), ("DoesNotExist",)), frozenset()),
}
ALL = OPERATORS | COMBINED
NOTHING = both(("In", "A"), ("In", "B")).intersection(required("Exists", least=2))
PAIRS = list(product(ALL.items(), repeat=2))


@pytest.mark.parametrize(("requirement", "model"), ALL.values(), ids=ALL)
def test_a_requirement_has_just_the_values_of_its_model(
    requirement: Requirement, model: Accepted
) -> None:
    assert accepted(requirement) == model


@pytest.mark.parametrize("least", [(None, None), (2, None), (None, 3), (2, 3), (3, 2)], ids=str)
@pytest.mark.parametrize("left", ALL)
def test_an_intersection_is_that_of_the_models_and_has_the_larger_min_values(
    left: str, least: tuple[int | None, int | None]
) -> None:
    mine, my_model = _with_least(ALL[left][0], least[0]), ALL[left][1]
    largest = max((one for one in least if one is not None), default=None)

    for name, (bare, model) in ALL.items():
        other = _with_least(bare, least[1])
        found = mine.intersection(other)

        assert accepted(found) == my_model & model, name
        assert found.min_values == largest, name
        assert found == other.intersection(mine), name
        assert Requirements.of(found.entries()).get("k") == found, name


@pytest.mark.parametrize("left", ALL)
def test_having_an_intersection_and_containing_are_those_of_the_models(left: str) -> None:
    mine, my_model = ALL[left]

    for name, (other, model) in ALL.items():
        assert mine.has_intersection(other) is bool(my_model & model), name
        assert mine.contains(other) is (model <= my_model), name


@pytest.mark.parametrize("left", ALL)
def test_a_third_requirement_may_be_added_first_or_last(left: str) -> None:
    mine = ALL[left][0]

    for (_, (other, _)), (_, (third, _)) in PAIRS:
        assert mine.intersection(other).intersection(third) == mine.intersection(
            other.intersection(third)
        )


@pytest.mark.parametrize(
    ("name", "operator", "text"),
    [
        ("Exists", Operator.EXISTS, "k Exists"),
        ("DoesNotExist", Operator.DOES_NOT_EXIST, "k DoesNotExist"),
        ("In A", Operator.IN, "k In [A]"),
        ("In B", Operator.IN, "k In [B]"),
        ("In A B", Operator.IN, "k In [A B]"),
        ("NotIn A", Operator.NOT_IN, "k NotIn [A]"),
        ("In 1", Operator.IN, "k In [1]"),
        ("In 9", Operator.IN, "k In [9]"),
        ("In 1 9", Operator.IN, "k In [1 9]"),
        ("NotIn 1 2", Operator.NOT_IN, "k NotIn [1 2]"),
        ("Gt 1", Operator.EXISTS, "k >=2"),
        ("Gt 9", Operator.EXISTS, "k >=10"),
        ("Lt 1", Operator.EXISTS, "k <=0"),
        ("Lt 9", Operator.EXISTS, "k <=8"),
        ("Gte 1 Lte 9", Operator.EXISTS, "k >=1 <=9"),
        ("Gt 1 NotIn 5 A", Operator.NOT_IN, "k NotIn [5] >=2"),
        # Nothing is accepted: neither a value nor, unlike with DoesNotExist, absence.
        ("Gt 9 Lt 1", Operator.IN, "k In []"),
        ("Exists DoesNotExist", Operator.IN, "k In []"),
    ],
)
def test_the_operator_and_the_text_follow_from_what_is_accepted(
    name: str, operator: Operator, text: str
) -> None:
    requirement = ALL[name][0]

    assert requirement.operator is operator
    assert str(requirement) == text
    assert str(_with_least(requirement, 2)) == f"{text} minValues 2"


@pytest.mark.parametrize("least", [None, 2], ids=["without minValues", "with minValues"])
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("Exists", [("Exists", ())]),
        ("DoesNotExist", [("DoesNotExist", ())]),
        ("In A", [("In", ("A",))]),
        ("In B", [("In", ("B",))]),
        ("In A B", [("In", ("A", "B"))]),
        ("NotIn A", [("NotIn", ("A",))]),
        ("In 1", [("In", ("1",))]),
        ("In 9", [("In", ("9",))]),
        ("In 1 9", [("In", ("1", "9"))]),
        ("NotIn 1 2", [("NotIn", ("1", "2"))]),
        ("Gt 1", [("Gte", ("2",))]),
        ("Gt 9", [("Gte", ("10",))]),
        ("Lt 1", [("Lte", ("0",))]),
        ("Lt 9", [("Lte", ("8",))]),
        ("Gte 1 Lte 9", [("Gte", ("1",)), ("Lte", ("9",))]),
        ("Gt 1 NotIn 5 A", [("Gte", ("2",)), ("NotIn", ("5",))]),
        ("Exists NotIn A", [("Exists", ()), ("NotIn", ("A",))]),
        # What accepts nothing stays refusable: a lone DoesNotExist would accept absence.
        ("In A In B", [("Exists", ()), ("DoesNotExist", ())]),
    ],
)
def test_a_requirement_is_written_without_strict_bounds_and_with_its_min_values(
    name: str, rows: list[tuple[str, tuple[str, ...]]], least: int | None
) -> None:
    requirement = _with_least(ALL[name][0], least)

    assert requirement.entries() == tuple(
        Entry(key="k", operator=Operator(operator), values=values, min_values=least)
        for operator, values in rows
    )


@pytest.mark.parametrize(
    ("requirement", "same"),
    [
        pytest.param(required("Gte", str(LARGEST)), required("Gt", str(LARGEST - 1)), id="Gte"),
        pytest.param(required("Lte", "0"), required("Lt", "1"), id="Lte of zero"),
        pytest.param(
            required("Gt", str(LARGEST), least=2),
            NOTHING,
            id="greater than the largest is nothing, and minValues stay",
        ),
        pytest.param(required("Lt", "0", least=2), NOTHING, id="less than zero is nothing"),
        pytest.param(
            required("In", "1", "5", "9", "A").intersection(both(("Gte", "2"), ("Lte", "8"))),
            required("In", "5"),
            id="a list within bounds forgets the bounds",
        ),
        pytest.param(
            required("NotIn", "1", "5", "A").intersection(required("Gte", "2")),
            both(("Gte", "2"), ("NotIn", "5")),
            id="exclusions out of bounds are pruned",
        ),
        pytest.param(
            both(("Gte", "1"), ("Gte", "5"), ("Lte", "9"), ("Lte", "8")),
            both(("Gte", "5"), ("Lte", "8")),
            id="the tighter bounds prevail",
        ),
    ],
)
def test_at_the_edges_of_bounds(requirement: Requirement, same: Requirement) -> None:
    assert requirement == same


@pytest.mark.parametrize(
    ("value", "within"),
    [("7", True), ("07", True), ("4", False), ("10", False), ("7.0", False), ("x", False)],
)
def test_a_bound_compares_numbers_not_texts(value: str, within: bool) -> None:
    assert both(("Gte", "5"), ("Lte", "9")).has(value) is within


def _with_least(requirement: Requirement, least: int | None) -> Requirement:
    return replace(requirement, min_values=least)
