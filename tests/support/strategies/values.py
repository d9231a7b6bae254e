"""Names, amounts, instants, requirements: what everything else is made of."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from hypothesis import strategies as st

from libs.domain.quantity import MOST
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.selector import LabelSelector

T = TypeVar("T")

names = st.text(alphabet="abcé/-", min_size=1, max_size=4)
texts = st.text(alphabet="xyz. ", max_size=5)
counts = st.integers(min_value=0, max_value=2**31 - 1)
amounts = st.integers(min_value=0, max_value=2**63 - 1)
signed = st.integers(min_value=-(2**63), max_value=2**63 - 1)
instants = st.integers(-62_000_000_000, 253_000_000_000).map(
    lambda seconds: datetime(1970, 1, 1, microsecond=7, tzinfo=UTC) + timedelta(seconds=seconds)
)
spans = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=100_000))
flags = st.booleans()


def tuples(items: st.SearchStrategy[T], most: int = 2, least: int = 0) -> Any:
    return st.lists(items, min_size=least, max_size=most).map(tuple)


def by_key(items: st.SearchStrategy[T], key: Callable[[T], Any], least: int = 0) -> Any:
    """Sorted by `key`, which is unique."""
    many = st.lists(items, min_size=least, max_size=2, unique_by=key)
    return many.map(lambda found: tuple(sorted(found, key=key)))


def some(items: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    return st.none() | items


sorted_names = by_key(names, lambda name: name)
label_pairs = by_key(st.tuples(names, texts), lambda pair: pair[0])
resources = st.dictionaries(names, amounts, max_size=2).map(Resources)
requests = st.dictionaries(names, st.integers(min_value=0, max_value=MOST), max_size=2).map(
    Resources
)
differences = st.dictionaries(names, signed, max_size=2).map(Resources)


@st.composite
def requirement_of(
    draw: st.DrawFn, operators: tuple[Operator, ...] = tuple(Operator)
) -> Requirement:
    operator = draw(st.sampled_from(operators))
    values: Any = ()
    if operator in (Operator.IN, Operator.NOT_IN):
        values = draw(st.sets(names | st.sampled_from(["1", "7"]), min_size=1, max_size=3))
    elif operator not in (Operator.EXISTS, Operator.DOES_NOT_EXIST):
        values = (str(draw(st.integers(min_value=-3, max_value=2**63 - 1))),)
    min_values = draw(some(st.integers(min_value=1, max_value=50)))
    return Requirement.of(draw(names), operator, values, min_values)


@st.composite
def intersected(draw: st.DrawFn) -> Requirement:
    first, second = draw(requirement_of()), draw(requirement_of())
    return first.intersection(second) if draw(flags) else first


requirements = st.lists(intersected(), max_size=2).map(Requirements)
selectable = (Operator.IN, Operator.NOT_IN, Operator.EXISTS, Operator.DOES_NOT_EXIST)


@st.composite
def label_selectors(draw: st.DrawFn) -> LabelSelector:
    found = [
        Requirement(key=one.key, complement=one.complement, values=one.values, absent=one.absent)
        for one in draw(st.lists(requirement_of(selectable), max_size=3))
    ]
    return LabelSelector(requirements=Requirements(found))
