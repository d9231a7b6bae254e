"""Sets of requirements: compatibility with and without undefined keys, containment, labels."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.domain.errors import InvalidRequest
from libs.domain.labels import WELL_KNOWN
from libs.domain.requirement import Entry, Operator, Requirement
from libs.domain.requirements import ANYTHING, Requirements

ZONE = "topology.kubernetes.io/zone"


def required(*rows: tuple[str, str, *tuple[str, ...]]) -> Requirements:
    return Requirements(Requirement.of(key, operator, listed) for key, operator, *listed in rows)


entries = st.builds(
    Requirement.of,
    st.sampled_from(("x", "y")),
    st.sampled_from(("In", "NotIn")),
    st.lists(st.sampled_from("abc"), min_size=1),
) | st.builds(
    Requirement.of, st.sampled_from(("x", "y")), st.sampled_from(("Exists", "DoesNotExist"))
)
sets = st.lists(entries, max_size=4).map(Requirements)
label_sets = st.dictionaries(st.sampled_from(("x", "y", "z")), st.sampled_from("abcd"))


def test_equal_sets_hash_alike_in_any_order_and_with_repeats() -> None:
    one = required(("a", "In", "1"), ("b", "Exists"))
    other = required(("b", "Exists"), ("a", "In", "1", "2"), ("a", "In", "1", "3"))

    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize(
    ("existing", "incoming", "strict", "loose"),
    [
        pytest.param((), (ZONE, "In", "a"), False, True, id="undefined well-known key"),
        pytest.param((), ("team", "In", "a"), False, False, id="undefined custom key"),
        pytest.param((), ("team", "Exists"), False, False, id="undefined key that must exist"),
        pytest.param((), ("team", "Gt", "1"), False, False, id="undefined key with a bound"),
        pytest.param((), ("team", "NotIn", "a"), True, True, id="undefined key, exclusion"),
        pytest.param((), ("team", "DoesNotExist"), True, True, id="undefined key, absence"),
        pytest.param((ZONE, "In", "a"), (ZONE, "In", "b"), False, False, id="other values"),
        pytest.param((ZONE, "In", "a", "b"), (ZONE, "In", "b"), True, True, id="shared value"),
        pytest.param((ZONE, "Exists"), (ZONE, "DoesNotExist"), False, False, id="there, not there"),
        pytest.param((ZONE, "NotIn", "a"), (ZONE, "DoesNotExist"), True, True, id="both forgo it"),
        pytest.param((ZONE, "DoesNotExist"), (ZONE, "NotIn", "a"), True, True, id="both forgo"),
        pytest.param((ZONE, "DoesNotExist"), (ZONE, "In", "a"), False, False, id="absent key"),
    ],
)
def test_compatibility(
    existing: tuple[str, str, str] | tuple[()],
    incoming: tuple[str, str, str],
    strict: bool,
    loose: bool,
) -> None:
    there, asked = required(*([existing] if existing else [])), required(incoming)

    assert there.is_compatible(asked) is strict
    assert there.is_compatible(asked, allow_undefined=WELL_KNOWN) is loose
    assert (there.conflicts(asked) == ()) is strict
    assert (there.conflicts(asked, allow_undefined=WELL_KNOWN) == ()) is loose


def test_a_key_that_must_exist_and_is_not_one_value_does_not_settle_for_absence() -> None:
    asked = required(("team", "Exists"), ("team", "NotIn", "a"))

    assert not ANYTHING.is_compatible(asked)
    assert not asked.allows({})


def test_contradicting_requirements_accept_nothing_rather_than_absence() -> None:
    asked = required(("team", "In", "a"), ("team", "In", "b"))

    assert not asked.satisfiable
    assert not asked.allows({})
    assert not required(("team", "DoesNotExist")).is_compatible(asked)


def test_conflicts_say_what_was_asked_and_what_is_there() -> None:
    there = required((ZONE, "In", "a"), ("example.com/team", "In", "red"))
    asked = required((ZONE, "In", "b"), ("zonne", "Exists"), ("team", "In", "red"))

    messages = [str(one) for one in there.conflicts(asked)]

    assert messages == [
        'label "team" does not have known values (typo of "example.com/team"?)',
        f"{ZONE} In [b] is asked for, In [a] is there",
        'label "zonne" does not have known values',
    ]


def test_sets_meet_unless_a_shared_key_has_nothing_in_common() -> None:
    one = required(("a", "In", "1"), ("b", "In", "1"))

    assert one.has_intersection(required(("c", "In", "1")))
    assert one.has_intersection(required(("a", "NotIn", "2")))
    assert not one.has_intersection(required(("b", "In", "2"), ("c", "Exists")))


def test_an_illegal_entry_is_named_by_its_index() -> None:
    legal = Entry(key="a", operator=Operator.EXISTS)

    with pytest.raises(InvalidRequest) as caught:
        Requirements.of([legal, Entry(key="a", operator=Operator.IN)])

    assert caught.value.field == "[1].values"


def test_labels_become_requirements_under_their_current_keys() -> None:
    assert Requirements.from_labels({"beta.kubernetes.io/os": "linux"}) == required(
        ("kubernetes.io/os", "In", "linux")
    )


def test_labels_that_leave_no_choice_are_single_values() -> None:
    some = Requirements.of(
        (
            Entry(key="one", operator=Operator.IN, values=("a",)),
            Entry(key="two", operator=Operator.IN, values=("a", "b")),
            Entry(key="not", operator=Operator.NOT_IN, values=("a",)),
            Entry(key="any", operator=Operator.EXISTS),
        )
    )

    assert some.single_values() == {"one": "a"}


def test_the_text_hides_the_hostname_and_is_sorted() -> None:
    shown = str(required(("kubernetes.io/hostname", "In", "n"), ("b", "Exists"), ("a", "Gt", "1")))

    assert shown == "a >=2, b Exists"


def test_without_drops_keys_and_min_values_are_seen() -> None:
    one = Requirements([Requirement.of("a", "Exists", (), 2), Requirement.of("b", "Exists")])

    assert [each.min_values for each in one] == [2, None]
    assert all(each.min_values is None for each in one.without(["a"]))
    assert list(one.without(["a"]).keys()) == ["b"]


@settings(max_examples=100)
@given(a=sets, b=sets, labels=label_sets)
def test_an_intersection_allows_labels_exactly_if_both_do(
    a: Requirements, b: Requirements, labels: dict[str, str]
) -> None:
    both = a.intersection(b)

    assert both.allows(labels) is (a.allows(labels) and b.allows(labels))
    assert both == b.intersection(a)
    assert Requirements.of(both.entries()) == both


@settings(max_examples=100)
@given(a=sets, b=sets, labels=label_sets)
def test_what_a_contained_set_allows_is_allowed(
    a: Requirements, b: Requirements, labels: dict[str, str]
) -> None:
    assert a.contains(a.intersection(b))
    if a.contains(b) and b.allows(labels):
        assert a.allows(labels)


@settings(max_examples=100)
@given(a=sets, labels=label_sets)
def test_a_node_is_compatible_exactly_if_its_labels_are_allowed(
    a: Requirements, labels: dict[str, str]
) -> None:
    assert Requirements.from_labels(labels).is_compatible(a) is a.allows(labels)
