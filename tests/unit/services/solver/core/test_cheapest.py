"""One pod, one pool: what is bought is the cheapest that both allow, as a plain search says."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from libs.domain import labels as label_keys
from libs.domain.capacity import InstanceType
from tests.support.builders import (
    a_catalogue,
    a_node_term,
    a_pool,
    a_shape,
    a_type,
    amounts,
    an_offering,
    pods,
    require,
)
from tests.unit.services.solver.core.asking import plan_of

VALUES = {
    label_keys.ZONE: ("zone-a", "zone-b", "zone-c"),
    label_keys.CAPACITY_TYPE: ("spot", "on-demand"),
    label_keys.ARCH: ("amd64", "arm64"),
    label_keys.INSTANCE_TYPE: ("t-0", "t-1", "t-2", "t-3"),
}
PRECEDENCE = ("spot", "on-demand")

Ask = tuple[tuple[str, str, list[str]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sold:
    """One offering of one type, as the search reads it."""

    labels: dict[str, str]
    price: int
    cpu: int

    @property
    def order(self) -> tuple[int, int, str, str]:
        """Return what decides between equals: price, capacity type, type, zone."""
        one = self.labels
        kind = PRECEDENCE.index(one[label_keys.CAPACITY_TYPE])
        return self.price, kind, one[label_keys.INSTANCE_TYPE], one[label_keys.ZONE]


@st.composite
def asks(draw: st.DrawFn) -> Ask:
    """Return up to three requirements, each of a key of its own."""
    keys = draw(st.lists(st.sampled_from(sorted(VALUES)), unique=True, max_size=3))
    found = []
    for key in keys:
        operator = draw(st.sampled_from(("In", "NotIn")))
        most = len(VALUES[key]) - (operator == "NotIn")
        listed = draw(
            st.lists(st.sampled_from(VALUES[key]), unique=True, min_size=1, max_size=most)
        )
        found.append((key, operator, listed))
    return tuple(found)


@st.composite
def markets(draw: st.DrawFn) -> tuple[Sold, ...]:
    """Return what is available of four types, each in some zones as some capacity types."""
    found = []
    for name in VALUES[label_keys.INSTANCE_TYPE]:
        arch = draw(st.sampled_from(VALUES[label_keys.ARCH]))
        cpu = draw(st.sampled_from((1, 2, 4)))
        places = st.tuples(
            st.sampled_from(VALUES[label_keys.ZONE]),
            st.sampled_from(VALUES[label_keys.CAPACITY_TYPE]),
        )
        for zone, kind in draw(st.lists(places, unique=True, min_size=1, max_size=6)):
            labels = {
                label_keys.ZONE: zone,
                label_keys.CAPACITY_TYPE: kind,
                label_keys.ARCH: arch,
                label_keys.INSTANCE_TYPE: name,
            }
            found.append(Sold(labels=labels, price=draw(st.integers(1, 4)), cpu=cpu))
    return tuple(found)


def allows(ask: Ask, labels: dict[str, str]) -> bool:
    return all((labels[key] in listed) == (operator == "In") for key, operator, listed in ask)


def types_of(market: tuple[Sold, ...]) -> list[InstanceType]:
    by_name: dict[str, list[Sold]] = {}
    for one in market:
        by_name.setdefault(one.labels[label_keys.INSTANCE_TYPE], []).append(one)
    return [
        a_type(
            name,
            capacity=amounts(cpu=many[0].cpu, memory="16Gi", pods=10),
            arch=many[0].labels[label_keys.ARCH],
            offerings=tuple(
                an_offering(
                    one.labels[label_keys.ZONE],
                    one.labels[label_keys.CAPACITY_TYPE],
                    price_nanos_per_hour=one.price,
                )
                for one in many
            ),
        )
        for name, many in by_name.items()
    ]


@settings(max_examples=150)
@given(
    market=markets(),
    of_pool=asks(),
    of_pod=asks(),
    by_selector=st.booleans(),
    cpu=st.sampled_from(("500m", "2", "3")),
)
def test_the_cheapest_that_pod_and_pool_allow_is_bought(
    market: tuple[Sold, ...], of_pool: Ask, of_pod: Ask, by_selector: bool, cpu: str
) -> None:
    need = {"500m": 1, "2": 2, "3": 4}[cpu]
    fitting = [
        one
        for one in market
        if one.cpu >= need and allows(of_pool, one.labels) and allows(of_pod, one.labels)
    ]
    asked = require(*of_pod)
    shape = (
        a_shape(cpu=cpu, node_selector=asked)
        if by_selector
        else a_shape(cpu=cpu, required_node_terms=(a_node_term(*of_pod),) if of_pod else ())
    )

    plan = plan_of(
        shapes=[shape],
        pods=pods(1),
        nodepools=[a_pool(requirements=require(*of_pool))],
        catalogues=[a_catalogue(*types_of(market))],
    )

    assert bool(plan.nodeclaims) is bool(fitting)
    for claim in plan.nodeclaims:
        best = min(fitting, key=lambda one: one.order)
        assert claim.cheapest.price_nanos_per_hour == best.price
        assert claim.cheapest.instance_type == best.labels[label_keys.INSTANCE_TYPE]
        assert claim.cheapest.zone == best.labels[label_keys.ZONE]
        assert claim.cheapest.capacity_type == best.labels[label_keys.CAPACITY_TYPE]
        ranked = sorted(fitting, key=lambda one: one.order)
        in_order = [one.labels[label_keys.INSTANCE_TYPE] for one in ranked]
        assert list(claim.instance_types) == list(dict.fromkeys(in_order))
