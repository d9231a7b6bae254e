import pytest

from libs.catalogues import kwok
from libs.domain import labels as keys
from libs.domain.capacity import NodeClassRef
from libs.domain.provider import LaunchFailure, LaunchFailureKind, LaunchSpec, NodeClass
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from services.provider_kwok.core.choosing import Choice, choose

TYPES = {kind.name: kind for kind in kwok.instance_types()}
WELL_KNOWN = frozenset({keys.ZONE, keys.CAPACITY_TYPE, *kwok.WELL_KNOWN_KEYS})
CLASS = NodeClass(
    ref=NodeClassRef(group="karpenter.kwok.sh", kind="KWOKNodeClass", name="default"), uid="c"
)


def _spec(**values: tuple[str, ...]) -> LaunchSpec:
    names = {"types": keys.INSTANCE_TYPE, "zones": keys.ZONE, "paid": keys.CAPACITY_TYPE}
    return LaunchSpec(
        node_class=CLASS,
        requirements=Requirements(
            Requirement.of(names[name], Operator.IN, many) for name, many in values.items()
        ),
        requests=Resources(),
    )


def _chosen(spec: LaunchSpec, uid: str = "u") -> tuple[str, str, str]:
    choice = choose(spec, uid, TYPES, WELL_KNOWN)
    assert isinstance(choice, Choice)
    return choice.instance_type.name, choice.offering.capacity_type, choice.offering.zone


def test_the_cheapest_offering_of_all_listed_types_is_chosen() -> None:
    spec = _spec(types=("c-4x-amd64-linux", "c-2x-amd64-linux"), zones=("test-zone-c",))

    assert _chosen(spec) == ("c-2x-amd64-linux", "spot", "test-zone-c")


def test_capacity_type_of_the_claim_is_kept() -> None:
    spec = _spec(types=("c-2x-amd64-linux",), zones=("test-zone-a",), paid=("on-demand",))

    assert _chosen(spec) == ("c-2x-amd64-linux", "on-demand", "test-zone-a")


def test_equal_prices_are_spread_over_zones_and_repeat_for_the_same_claim() -> None:
    spec = _spec(types=("c-2x-amd64-linux",))

    zones = {_chosen(spec, f"uid-{number}")[2] for number in range(40)}

    assert zones == {"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"}
    assert _chosen(spec, "uid-7") == _chosen(spec, "uid-7")


@pytest.mark.parametrize(
    ("spec", "kind", "message"),
    [
        pytest.param(
            _spec(zones=("test-zone-a",)),
            LaunchFailureKind.CREATE_ERROR,
            "must list instance types",
            id="no list",
        ),
        pytest.param(
            _spec(types=("nothing",)),
            LaunchFailureKind.CREATE_ERROR,
            '"nothing" is not in the catalogue',
            id="unknown type",
        ),
        pytest.param(
            _spec(types=("c-2x-amd64-linux",), zones=("elsewhere",)),
            LaunchFailureKind.INSUFFICIENT_CAPACITY,
            "no listed instance type",
            id="no offering",
        ),
    ],
)
def test_a_claim_that_gets_nothing_is_told_why(
    spec: LaunchSpec, kind: LaunchFailureKind, message: str
) -> None:
    result = choose(spec, "u", TYPES, WELL_KNOWN)

    assert isinstance(result, LaunchFailure)
    assert result.kind is kind
    assert message in result.message
