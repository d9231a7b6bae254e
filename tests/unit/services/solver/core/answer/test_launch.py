"""Launch lists that have to be cut, and the labels that a claim is given."""

import pytest

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue, InstanceType
from libs.domain.nodepool import NodePool
from libs.domain.reason import Rule
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.solution import MinValuesPolicy, SolveOptions
from tests.support.builders import (
    NODE_CLASS,
    a_catalogue,
    a_pool,
    a_shape,
    a_term,
    a_type,
    an_offering,
    pods,
    require,
)
from tests.unit.services.solver.core.asking import plan_of, the_claim, the_rejection

FAMILY = "example.com/family"
MOST = 600


def _many(count: int, first_price: int, family: str = "m") -> list[InstanceType]:
    """Return types in one zone that cost a nano-dollar more each, the first by name the dearest."""
    found = []
    for number in range(count):
        price = first_price + count - number
        offering = an_offering(price_nanos_per_hour=price)
        name = f"{family}-{number:04}"
        found.append(a_type(name, offerings=(offering,), labels={FAMILY: family}))
    return found


def test_a_launch_list_holds_the_cheapest_six_hundred() -> None:
    claim = the_claim(plan_of(pods=pods(1), catalogues=[a_catalogue(*_many(620, 1000))]))

    assert list(claim.instance_types) == [f"m-{number:04}" for number in range(619, 19, -1)]
    listed = claim.requirements.get(label_keys.INSTANCE_TYPE)
    assert listed is not None
    assert listed.values == frozenset(claim.instance_types)


def test_claims_that_are_alike_but_for_their_pods_share_what_is_said_of_them() -> None:
    alone = a_shape(anti_affinity=(a_term(),))

    claims = plan_of(shapes=[alone], pods=pods(20)).nodeclaims

    assert len(claims) == 20
    for name in ("requirements", "requests", "instance_types", "cheapest", "labels", "annotations"):
        assert len({id(getattr(claim, name)) for claim in claims}) == 1


@pytest.mark.parametrize(
    ("policy", "cheap", "stated"),
    [
        pytest.param(MinValuesPolicy.STRICT, MOST - 1, 2, id="just enough in the list"),
        pytest.param(MinValuesPolicy.BEST_EFFORT, MOST, 1, id="best effort lowers what is cut"),
    ],
)
def test_min_values_are_those_of_the_list_that_was_cut(
    policy: MinValuesPolicy, cheap: int, stated: int
) -> None:
    claim = the_claim(
        plan_of(
            SolveOptions(min_values_policy=policy),
            pods=pods(1),
            nodepools=[_pool_of_two_families()],
            catalogues=[_two_families(cheap)],
        )
    )

    wanted = claim.requirements.get(FAMILY)
    assert wanted is not None
    assert wanted.min_values == stated
    assert len(claim.instance_types) == MOST


def test_pods_wait_where_the_cut_would_break_strict_min_values() -> None:
    plan = plan_of(
        pods=pods(2), nodepools=[_pool_of_two_families()], catalogues=[_two_families(MOST)]
    )

    assert plan.nodeclaims == ()
    assert the_rejection(plan).rule is Rule.MIN_VALUES


def _pool_of_two_families() -> NodePool:
    wanted = Requirement.of(FAMILY, Operator.EXISTS, min_values=2)
    return a_pool(requirements=Requirements((wanted,)))


def _two_families(cheap: int) -> Catalogue:
    types = _many(cheap, 1000) + _many(10, 5000, family="c")
    return a_catalogue(*types, well_known_keys=(FAMILY,))


def test_a_claim_is_given_labels_of_keys_that_only_its_pool_knows() -> None:
    pool = a_pool(
        requirements=require(
            ("team", "In", ["red", "blue"]),
            ("old", "DoesNotExist"),
            # Nobody asks for a rack: not to be on this one is to be on none.
            ("rack", "NotIn", ["3"]),
            (label_keys.ZONE, "In", ["zone-a"]),
            (label_keys.ARCH, "In", ["amd64"]),
        )
    )
    claim = the_claim(plan_of(pods=pods(1), nodepools=[pool]))

    # Well-known ones, be they ever so certain, come from the instance.
    assert dict(claim.labels) == {
        label_keys.NODEPOOL: pool.name,
        "karpenter.kwok.sh/kwoknodeclass": NODE_CLASS.name,
        "team": "blue",
    }
