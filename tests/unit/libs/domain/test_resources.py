"""Resource vectors: the algebra, fits, and the way from and to Kubernetes' maps."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.domain.errors import InvalidRequest
from libs.domain.resources import NOTHING, Resources, readable_amount, total

vectors = st.dictionaries(st.sampled_from(("cpu", "memory", "pods")), st.integers(-3, 3)).map(
    Resources
)


def test_equal_content_is_equal_and_hashes_alike_in_any_order() -> None:
    one, other = Resources({"cpu": 1, "memory": 2}), Resources({"memory": 2, "cpu": 1})

    assert one == other
    assert hash(one) == hash(other)
    assert list(other) == ["cpu", "memory"]


def test_requests_round_up_and_drop_zeros() -> None:
    requests = Resources.from_requests(
        {"cpu": "0.0001", "memory": "1.5Ki", "nvidia.com/gpu": 1, "ephemeral-storage": "0"}
    )

    assert dict(requests.items()) == {"cpu": 1, "memory": 1536, "nvidia.com/gpu": 1}


def test_allocatable_rounds_down_and_keeps_zeros() -> None:
    allocatable = Resources.from_allocatable({"cpu": "1.9999", "nvidia.com/gpu": "0"})

    assert dict(allocatable.items()) == {"cpu": 1999, "nvidia.com/gpu": 0}


@pytest.mark.parametrize(
    ("quantities", "path"),
    [
        pytest.param({"cpu": "-1"}, "requests.cpu", id="negative"),
        pytest.param({"memory": "1GB"}, "requests.memory", id="no quantity"),
        pytest.param({"memory": None}, "requests.memory", id="null"),
        pytest.param({"memory": True}, "requests.memory", id="a boolean"),
        pytest.param({"memory": ["1"]}, "requests.memory", id="a list"),
        pytest.param({"bad name": "1"}, "requests", id="a bad name"),
        pytest.param({7: "1"}, "requests", id="a name that is no text"),
    ],
)
def test_bad_input_names_its_field(quantities: dict[str, object], path: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        Resources.from_requests(quantities, field="requests")

    assert caught.value.field == path


def test_quantities_come_out_in_canonical_form() -> None:
    resources = Resources(
        {"cpu": 1500, "memory": 2**30, "hugepages-2Mi": 2**21, "pods": 110, "nvidia.com/gpu": 2}
    )

    assert resources.to_quantities() == {
        "cpu": "1500m",
        "hugepages-2Mi": "2Mi",
        "memory": "1Gi",
        "nvidia.com/gpu": "2",
        "pods": "110",
    }
    assert str(resources) == "1500m cpu, 2Mi hugepages-2Mi, 1Gi memory, 2 nvidia.com/gpu, 110 pods"


@pytest.mark.parametrize(
    ("name", "amount", "up", "shown"),
    [
        pytest.param("cpu", 1500, False, "1500m", id="cpu"),
        pytest.param("memory", 2**30 + 1, True, "1.1Gi", id="what is asked"),
        pytest.param("memory", 2**30 + 1, False, "1Gi", id="what there is"),
        pytest.param("memory", -(2**30) - 1, False, "-1.1Gi", id="less than nothing"),
        pytest.param("pods", 2000, False, "2000", id="a count"),
    ],
)
def test_amounts_are_shown_to_people_in_their_unit(
    name: str, amount: int, up: bool, shown: str
) -> None:
    assert readable_amount(name, amount, up=up) == shown


@pytest.mark.parametrize(
    ("wanted", "available", "fits"),
    [
        pytest.param({"cpu": 2}, {"cpu": 2}, True, id="just enough"),
        pytest.param({"cpu": 3}, {"cpu": 2}, False, id="too much"),
        pytest.param({"gpu": 1}, {"cpu": 2}, False, id="not there at all"),
        pytest.param({"gpu": 0}, {"cpu": 2}, True, id="none of what is not there"),
        pytest.param({"cpu": 1}, {"cpu": 2, "memory": -1}, False, id="over-committed elsewhere"),
        pytest.param({}, {"memory": -1}, False, id="even nothing, if over-committed"),
        pytest.param({}, {}, True, id="nothing in nothing"),
    ],
)
def test_fits(wanted: dict[str, int], available: dict[str, int], fits: bool) -> None:
    assert Resources(wanted).fits(Resources(available)) is fits


def test_subtraction_keeps_its_own_names_and_goes_below_zero() -> None:
    left = Resources({"cpu": 2}).subtract(Resources({"cpu": 2, "gpu": 1}))

    assert left == Resources({"cpu": 0})
    assert left.subtract(Resources({"cpu": 1})) == Resources({"cpu": -1})


def test_maximum_has_all_names_and_minimum_the_shared_ones() -> None:
    one, other = Resources({"cpu": 1, "gpu": 1}), Resources({"cpu": 2, "memory": 5})

    assert one.maximum(other) == Resources({"cpu": 2, "gpu": 1, "memory": 5})
    assert one.minimum(other) == Resources({"cpu": 1})


def test_shortage_holds_what_is_missing() -> None:
    wanted = Resources({"cpu": 3, "gpu": 1, "memory": 1})

    assert wanted.shortage(Resources({"cpu": 1, "memory": 1})) == Resources({"cpu": 2, "gpu": 1})


def test_a_multiple_is_a_repeated_sum() -> None:
    one = Resources({"cpu": 2, "pods": 1})

    assert one.multiply(3) == total([one, one, one])
    assert total([]) == NOTHING


@settings(max_examples=60)
@given(a=vectors, b=vectors, c=vectors)
def test_sums_and_extremes_do_not_depend_on_order(a: Resources, b: Resources, c: Resources) -> None:
    assert a.add(b) == b.add(a)
    assert a.add(b).add(c) == a.add(b.add(c))
    assert a.maximum(b) == b.maximum(a)
    assert a.minimum(b) == b.minimum(a)
    assert a.maximum(b).maximum(c) == a.maximum(b.maximum(c))


@settings(max_examples=60)
@given(a=vectors, b=vectors)
def test_what_was_added_can_be_taken_away(a: Resources, b: Resources) -> None:
    both = a.add(b)

    assert all(both.subtract(b).get(name) == a.get(name) for name in both)


def test_what_is_laid_over_wins_where_both_have_a_name() -> None:
    below, top = Resources({"cpu": 1, "pods": 10}), Resources({"cpu": 0, "memory": 5})

    assert below.overlaid(top) == Resources({"cpu": 0, "memory": 5, "pods": 10})


def test_huge_pages_are_shown_as_bytes() -> None:
    assert readable_amount("hugepages-2Mi", 4 * 2**20) == readable_amount("memory", 4 * 2**20)
