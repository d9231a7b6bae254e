"""How refining and its objective are typed."""

from datetime import timedelta

import pytest

from cli.refining import Refining
from libs.domain.errors import InvalidRequest
from libs.domain.objective import BlastRadius, Licence, Objective, SpotDiversity
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.solution import SolveOptions


def test_nothing_typed_changes_nothing() -> None:
    assert Refining().applied(SolveOptions()) == SolveOptions()


def test_what_is_typed_is_asked() -> None:
    typed = Refining(
        budget="500ms",
        iterations=7,
        seed=3,
        interruption="0.01",
        node="0.002",
        licences=("a=b,c=d:1.5", ":0.5"),
        blast_radius="25%:0.1",
        spot_share="50",
        spot_types=15,
    )

    assert typed.applied(SolveOptions()) == SolveOptions(
        refine_budget=timedelta(milliseconds=500),
        refine_iterations=7,
        seed=3,
        objective=Objective(
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
        ),
    )


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        pytest.param(Refining(budget="-1s"), "--refine-budget: '-1s' is below 0", id="no budget"),
        pytest.param(
            Refining(node="1000001"),
            "--objective-node: '1000001' is not between 0 and 1,000,000 dollars per hour",
            id="a fortune",
        ),
        pytest.param(
            Refining(interruption="99999999999999999999"),
            "--objective-interruption: .* dollars per hour",
            id="beyond 64 bits",
        ),
        pytest.param(
            Refining(licences=("foo",)),
            "--objective-licence: 'foo' is not KEY=VALUE",
            id="no syntax",
        ),
        pytest.param(
            Refining(licences=("a b=c:1",)), "'a b' is no key of a label", id="no key of a label"
        ),
        pytest.param(
            Refining(licences=("a=b c:1",)), "'b c' is no value of a label", id="no label's value"
        ),
        pytest.param(
            Refining(licences=(":-1",)), "--objective-licence: .*dollars", id="a licence that pays"
        ),
        pytest.param(
            Refining(blast_radius="0.00001:1"),
            "--objective-blast-radius: .* more than 0 percent",
            id="a share of nothing",
        ),
        pytest.param(
            Refining(blast_radius="5:9e9"),
            "--objective-blast-radius: .* dollars per hour",
            id="a pod for a fortune",
        ),
        pytest.param(Refining(budget="soon"), "--refine-budget", id="no span"),
        pytest.param(Refining(interruption="-1"), "--objective-interruption", id="negative"),
        pytest.param(Refining(node="cheap"), "--objective-node", id="no number"),
        pytest.param(Refining(node="NaN"), "--objective-node", id="not a number"),
        pytest.param(Refining(node="1e99999999999"), "--objective-node", id="huge"),
        pytest.param(Refining(licences=("a:1",)), "--objective-licence", id="no label"),
        pytest.param(Refining(licences=("a=b",)), "--objective-licence", id="no price"),
        pytest.param(Refining(blast_radius="25"), "--objective-blast-radius", id="no price for it"),
        pytest.param(Refining(blast_radius="0:1"), "--objective-blast-radius", id="no share"),
        pytest.param(Refining(spot_share="101"), "--objective-spot-share", id="over the whole"),
    ],
)
def test_what_means_nothing_is_refused_by_name(typed: Refining, named: str) -> None:
    with pytest.raises(InvalidRequest, match=named):
        typed.applied(SolveOptions())
