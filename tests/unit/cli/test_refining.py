"""How refining and its objective are typed."""

from datetime import timedelta

import pytest

from cli.refining import Objectives, Refining
from libs.domain.errors import InvalidRequest
from libs.domain.objective import BlastRadius, Licence, Objective, SpotDiversity
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.solution import SolveOptions


def test_nothing_typed_changes_nothing() -> None:
    assert Refining().applied(SolveOptions()) == SolveOptions()
    assert Objectives().objective() == Objective()


def test_what_is_typed_is_asked() -> None:
    typed = Refining(refine_budget="500ms", refine_iterations=7, seed=3)

    assert typed.applied(SolveOptions()) == SolveOptions(
        refine_budget=timedelta(milliseconds=500), refine_iterations=7, seed=3
    )


def test_what_counts_beyond_the_price_is_asked() -> None:
    typed = Objectives(
        interruption="0.01",
        node="0.002",
        licences=("a=b,c=d:1.5", ":0.5"),
        blast_radius="25%:0.1",
        spot_share="50",
        spot_types=15,
    )

    assert typed.objective() == Objective(
        interruption_nanos_per_hour=10_000_000,
        node_nanos_per_hour=2_000_000,
        licences=(
            Licence(
                nodes=Requirements.from_labels({"a": "b", "c": "d"}),
                nanos_per_hour=1_500_000_000,
            ),
            Licence(nodes=ANYTHING, nanos_per_hour=500_000_000),
        ),
        blast_radius=BlastRadius(share_ppm=250_000, pod_nanos_per_hour=100_000_000),
        spot_diversity=SpotDiversity(share_ppm=500_000, instance_types=15),
    )


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        pytest.param(
            Objectives(node="1000001"),
            "--objective-node: '1000001' is not between 0 and 1,000,000 dollars per hour",
            id="a fortune",
        ),
        pytest.param(
            Objectives(interruption="99999999999999999999"),
            "--objective-interruption: .* dollars per hour",
            id="beyond 64 bits",
        ),
        pytest.param(
            Objectives(licences=("foo",)),
            "--objective-licence: 'foo' is not KEY=VALUE",
            id="no syntax",
        ),
        pytest.param(
            Objectives(licences=("a b=c:1",)), "'a b' is no key of a label", id="no key of a label"
        ),
        pytest.param(
            Objectives(licences=("a=b c:1",)), "'b c' is no value of a label", id="no label's value"
        ),
        pytest.param(
            Objectives(licences=(":-1",)),
            "--objective-licence: .*dollars",
            id="a licence that pays",
        ),
        pytest.param(
            Objectives(blast_radius="0.00001:1"),
            "--objective-blast-radius: .* more than 0 percent",
            id="a share of nothing",
        ),
        pytest.param(
            Objectives(blast_radius="5:9e9"),
            "--objective-blast-radius: .* dollars per hour",
            id="a pod for a fortune",
        ),
        pytest.param(Objectives(interruption="-1"), "--objective-interruption", id="negative"),
        pytest.param(Objectives(node="cheap"), "--objective-node", id="no number"),
        pytest.param(Objectives(node="NaN"), "--objective-node", id="not a number"),
        pytest.param(Objectives(node="1e99999999999"), "--objective-node", id="huge"),
        pytest.param(Objectives(licences=("a:1",)), "--objective-licence", id="no label"),
        pytest.param(Objectives(licences=("a=b",)), "--objective-licence", id="no price"),
        pytest.param(
            Objectives(blast_radius="25"), "--objective-blast-radius", id="no price for it"
        ),
        pytest.param(Objectives(blast_radius="0:1"), "--objective-blast-radius", id="no share"),
        pytest.param(Objectives(spot_share="101"), "--objective-spot-share", id="over the whole"),
    ],
)
def test_an_objective_that_means_nothing_is_refused_by_name(typed: Objectives, named: str) -> None:
    with pytest.raises(InvalidRequest, match=named):
        typed.objective()


@pytest.mark.parametrize(
    ("budget", "named"),
    [
        pytest.param("-1s", "--refine-budget: '-1s' is below 0", id="negative"),
        pytest.param("soon", "--refine-budget", id="no span"),
    ],
)
def test_a_budget_that_is_no_span_is_refused_by_name(budget: str, named: str) -> None:
    with pytest.raises(InvalidRequest, match=named):
        Refining(refine_budget=budget).applied(SolveOptions())
