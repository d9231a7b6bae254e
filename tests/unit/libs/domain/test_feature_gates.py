"""Names, defaults and the written form of feature gates."""

import pytest

from libs.domain import feature_gates
from libs.domain.errors import InvalidRequest
from libs.domain.feature_gates import FeatureGate


@pytest.mark.parametrize(
    ("text", "given"),
    [
        pytest.param("", {}, id="nothing"),
        pytest.param("NodeOverlay=true", {"NodeOverlay": True}, id="one"),
        pytest.param(
            " NodeOverlay = True , ReservedCapacity=FALSE,",
            {"NodeOverlay": True, "ReservedCapacity": False},
            id="two, with spaces and capitals",
        ),
    ],
)
def test_gates_are_read(text: str, given: dict[str, bool]) -> None:
    assert dict(feature_gates.parse(text, "--feature-gates")) == given


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("Nope=true", r"no gate 'Nope'; there are CapacityBuffer, ", id="unknown"),
        pytest.param("nodeOverlay=true", "no gate 'nodeOverlay'", id="other capitals"),
        pytest.param("NodeOverlay=yes", "'NodeOverlay=yes' says neither", id="bad value"),
        pytest.param("NodeOverlay", "'NodeOverlay' says neither", id="no value"),
        pytest.param("NodeOverlay=true,NodeOverlay=false", "given twice", id="twice"),
        pytest.param("=true", "no gate ''", id="no name"),
    ],
)
def test_what_is_no_list_of_gates_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said) as refused:
        feature_gates.parse(text, "--feature-gates")

    assert refused.value.field == "--feature-gates"


def test_reserved_capacity_alone_is_open_without_a_word_said() -> None:
    assert [gate for gate in FeatureGate if feature_gates.is_open(gate, {})] == [
        FeatureGate.RESERVED_CAPACITY
    ]


def test_what_is_given_wins() -> None:
    given = feature_gates.parse("ReservedCapacity=false,NodeOverlay=true", "--feature-gates")

    assert not feature_gates.is_open(FeatureGate.RESERVED_CAPACITY, given)
    assert feature_gates.is_open(FeatureGate.NODE_OVERLAY, given)
