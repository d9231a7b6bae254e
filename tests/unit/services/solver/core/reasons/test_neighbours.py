"""What a pod without a place is told of the pods that it, or that they, look at."""

from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.reason import Rule
from libs.domain.selector import LabelSelector
from libs.domain.workload import Namespace
from tests.support.builders import a_node, a_pod, a_pool, a_shape, a_term, pods, require, selecting
from tests.unit.services.solver.core.asking import plan_of, the_rejection

ZONE = label_keys.ZONE
OF_TEAM = a_term(ZONE, namespaces=(), namespace_selector=selecting(team="x"))
ANYWHERE = a_term(ZONE, selector=LabelSelector(), namespaces=(), namespace_selector=LabelSelector())


@pytest.mark.parametrize(
    ("waiting", "running", "words"),
    [
        pytest.param(
            {},
            {"labels": {"app": "db"}, "namespace": "data", "anti_affinity": (a_term(ZONE),)},
            "pods with app=db in data have an anti-affinity to it, as to all pods with app=web in "
            "default; pods per domain: zone-a 1",
            id="another's",
        ),
        pytest.param(
            {},
            {"labels": {"app": "db", "pod-template-hash": "5d4"}, "anti_affinity": (OF_TEAM,)},
            "pods with app=db in default have an anti-affinity to it, as to all pods with app=web "
            "in namespaces with team=x; pods per domain: zone-a 1",
            id="another's by the labels of namespaces",
        ),
        pytest.param(
            {},
            {"labels": {}, "anti_affinity": (ANYWHERE,)},
            "pods without labels in default have an anti-affinity to it, as to all pods in any "
            "namespace; pods per domain: zone-a 1",
            id="another's to all",
        ),
        pytest.param(
            {"anti_affinity": (a_term(ZONE, selector=selecting(app="db")),)},
            {"labels": {"app": "db"}},
            "it has an anti-affinity to pods with app=db in default; pods per domain: zone-a 1",
            id="its own",
        ),
        pytest.param(
            {"anti_affinity": (a_term(ZONE),)},
            {"anti_affinity": (a_term(ZONE),)},
            "it has an anti-affinity to pods with app=web in default; pods per domain: zone-a 1",
            id="its own, and that of its like",
        ),
        pytest.param(
            {"affinity": (a_term(ZONE, selector=selecting(app="nobody")),)},
            {},
            "it has to be near pods with app=nobody in default, and there are none",
            id="near nobody",
        ),
        pytest.param(
            {"affinity": (a_term(ZONE, selector=selecting(app="db")),)},
            {"labels": {"app": "db"}},
            "it has to be near pods with app=db in default; pods per domain: zone-x 1",
            id="near somebody where nothing is sold",
        ),
    ],
)
def test_a_refusal_says_whose_term_it_is_and_about_whom(
    waiting: dict[str, Any], running: dict[str, Any], words: str
) -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="8", **waiting), a_shape(2, **running)],
        pods=[*pods(1), a_pod("runs", 2, node="n")],
        nodes=[a_node("n", labels={ZONE: "zone-x" if "affinity" in waiting else "zone-a"})],
        nodepools=[a_pool(requirements=require((ZONE, "In", ["zone-a"])))],
        namespaces=[Namespace(name="default", labels=(("team", "x"),))],
    )

    found = the_rejection(plan)
    assert found.rule in (Rule.POD_AFFINITY, Rule.POD_ANTI_AFFINITY)
    assert found.message == f"{found.rule} over {ZONE} allows no new node here; {words}"


def test_who_follows_pods_without_a_place_is_told_so() -> None:
    plan = plan_of(
        shapes=[
            a_shape(affinity=(a_term(ZONE, selector=selecting(app="db")),)),
            a_shape(2, cpu="99", labels={"app": "db"}),
        ],
        pods=[*pods(1), a_pod("db", 2)],
    )

    (words,) = {
        rejection.message
        for one in plan.unplaced
        for rejection in one.reason.rejections
        if rejection.rule is Rule.POD_AFFINITY
    }
    assert words.endswith(
        "it has to be near pods with app=db in default, none of which has a place"
    )


def test_rules_that_each_would_allow_a_node_and_together_do_not_are_told_so() -> None:
    plan = plan_of(
        shapes=[
            a_shape(
                cpu="8",
                affinity=(a_term(ZONE, selector=selecting(app="db")),),
                anti_affinity=(a_term(ZONE, selector=selecting(app="noise")),),
            ),
            a_shape(2, labels={"app": "db"}),
            a_shape(3, labels={"app": "noise"}),
        ],
        pods=[*pods(1), a_pod("db", 2, node="n"), a_pod("noise", 3, node="n")],
        nodes=[a_node("n")],
    )

    assert the_rejection(plan).message == (
        f"pod affinity over {ZONE} allows no new node here; each of its rules about other pods "
        "would allow it, not all of them together"
    )


def test_numbers_of_shapes_do_not_order_what_is_told() -> None:
    web, wider = a_term(ZONE), a_term(ZONE, namespaces=("default", "other"))

    def told(*numbers: int) -> str:
        terms = dict(zip(numbers, (web, wider), strict=True))
        plan = plan_of(
            shapes=[
                a_shape(9, labels={"app": "web"}),
                *(
                    a_shape(number, labels={"by": str(len(term.namespaces))}, anti_affinity=(term,))
                    for number, term in terms.items()
                ),
            ],
            pods=[*pods(1, 9), *(a_pod(f"p{one}", one, node="node-1") for one in numbers)],
            nodes=[a_node()],
            nodepools=[a_pool(requirements=require((ZONE, "In", ["zone-a"])))],
        )
        return the_rejection(plan).message

    assert told(1, 2) == told(2, 1)
