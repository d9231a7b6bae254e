"""Pods with fewest volumes to choose from come first."""

from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.volume import UnboundClaim, VolumeKind, VolumePlace
from services.solver.core.pods.choice import choice_of_volumes
from tests.support.builders import a_node_term, a_shape, require

IN_A = Requirements(require((label_keys.ZONE, "In", ["zone-a"])))
IN_B = Requirements(require((label_keys.ZONE, "In", ["zone-b"])))
KINDS = {
    "small": VolumeKind(
        key="small",
        places=(
            VolumePlace(rank=0, count=3, terms=(IN_A,)),
            VolumePlace(rank=1, count=4, terms=(IN_A, IN_B)),
        ),
    ),
    "large": VolumeKind(key="large", places=(VolumePlace(rank=2, count=2, terms=(ANYTHING,)),)),
}
ANY, LARGE, NONE = (
    UnboundClaim(kinds=("large", "small")),
    UnboundClaim(kinds=("large",)),
    UnboundClaim(kinds=("gone",)),
)
MADE = UnboundClaim(kinds=("large",), made=(ANYTHING,))
MOST = 2**31


@pytest.mark.parametrize(
    ("claims", "override", "expected"),
    [
        pytest.param([], {}, MOST, id="no claim"),
        pytest.param([ANY], {}, 9, id="volumes of all kinds that would do"),
        pytest.param([ANY, LARGE], {}, 2, id="of several claims the one with fewest"),
        pytest.param([NONE], {}, 0, id="no volume of the kind is left"),
        pytest.param([MADE], {}, MOST, id="a volume can be made"),
        pytest.param(
            [ANY], {"selector": {label_keys.ZONE: "zone-b"}}, 6, id="only those in reach of the pod"
        ),
        pytest.param(
            [ANY],
            {
                "required_node_terms": (
                    a_node_term((label_keys.ZONE, "In", ["zone-b"])),
                    a_node_term((label_keys.ZONE, "In", ["zone-c"])),
                )
            },
            6,
            id="in reach of one of its alternatives",
        ),
    ],
)
def test_volumes_that_would_do_are_counted(
    claims: list[UnboundClaim], override: dict[str, Any], expected: int
) -> None:
    assert (
        choice_of_volumes(KINDS)(a_shape(1, unbound_claims=tuple(claims), **override)) == expected
    )
