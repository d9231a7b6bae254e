"""What is said of pods of a gang that is short, and the changes that are tried for all of it."""

from typing import Any

from libs.domain.explanation import ChangeKind, Explanation
from libs.domain.question import SubjectKind
from libs.domain.reason import Rule
from libs.domain.solution import SolveOptions
from libs.domain.workload import REQUEST_SUFFIX, Gang
from services.solver.core.explaining.explain import explain
from tests.support.builders import (
    a_catalogue,
    a_node,
    a_pod,
    a_pool,
    a_shape,
    a_snapshot,
    amounts,
    some_types,
)


def _of_gang(count: int, gang: Gang, **snapshot: Any) -> Explanation:
    """Return the explanation of the first of so many pods of a gang."""
    rows = [a_pod(f"m-{one}", gang=gang.key) for one in range(count)]
    cluster = a_snapshot(pods=rows, gangs=[gang], **snapshot)
    return explain(cluster, SolveOptions(), SubjectKind.POD, "uid-m-0")


def _gang(least: int, name: str = "ring") -> Gang:
    return Gang(namespace="default", name=name, min_members=least)


def test_a_gang_is_told_how_many_have_places_and_what_they_could_ask_for() -> None:
    answer = _of_gang(4, _gang(4), nodes=[a_node()], shapes=[a_shape(cpu="2")], nodepools=[])

    assert answer.pod is not None
    by_kind = {one.kind: one for one in answer.pod.changes}
    assert (by_kind[ChangeKind.GANG].old, by_kind[ChangeKind.GANG].new) == ("4", "2")
    assert (by_kind[ChangeKind.REQUEST].old, by_kind[ChangeKind.REQUEST].new) == ("2", "1")
    assert by_kind[ChangeKind.REQUEST].message.endswith(
        "(each of 4 pods of the gang: default/m-0, default/m-1, default/m-2 and 1 more)"
    )


def test_the_pod_of_a_gang_of_unlike_pods_that_would_have_to_ask_for_less_is_named() -> None:
    shapes = [a_shape(1, cpu="1"), a_shape(2, cpu="3")]
    rows = [a_pod("a", 1, gang="default/ring"), a_pod("b", 2, gang="default/ring")]
    cluster = a_snapshot(
        shapes=shapes,
        pods=[*rows, a_pod("c", 1, gang="default/ring")],
        gangs=[_gang(3)],
        nodes=[a_node(allocatable=amounts(cpu=4, memory="16Gi", pods=9))],
        nodepools=[],
    )

    answer = explain(cluster, SolveOptions(), SubjectKind.POD, "uid-a")

    assert answer.pod is not None
    smaller = next(one for one in answer.pod.changes if one.kind is ChangeKind.REQUEST)
    assert (smaller.old, smaller.new) == ("3", "2")
    assert smaller.message.endswith("(pod default/b of the gang)")


def test_a_gang_that_is_short_is_told_which_rule_keeps_the_first_without_a_place_away() -> None:
    answer = _of_gang(
        3,
        _gang(3),
        shapes=[a_shape(cpu="3")],
        nodes=[a_node(allocatable=amounts(cpu=3, memory="8Gi", pods=9))],
        nodepools=[a_pool(limits=amounts(cpu=4))],
        catalogues=[a_catalogue(*some_types(4))],
    )

    assert answer.pod is not None
    assert answer.unplaceable is not None
    assert answer.pod.message.endswith("at most 2 have a place; there is none for default/m-2")
    assert [one.rule for one in answer.unplaceable.rejections] == [Rule.POOL_LIMITS]
    assert answer.unplaceable.existing == ((Rule.RESOURCES, 1),)
    by_kind = {one.kind: one for one in answer.pod.changes}
    assert by_kind[ChangeKind.POOL_LIMIT].new == "8"


def test_of_a_gang_with_too_few_pods_only_its_size_is_in_question() -> None:
    answer = _of_gang(3, _gang(5))

    assert answer.pod is not None
    assert "2 of them do not exist" in answer.pod.message
    assert [(one.kind, one.new) for one in answer.pod.changes] == [(ChangeKind.GANG, "3")]
    assert answer.unplaceable is not None
    assert answer.unplaceable.rejections == ()


def test_the_size_of_a_gang_is_changed_in_the_object_that_has_it() -> None:
    gang = _gang(5, f"room{REQUEST_SUFFIX}")

    answer = _of_gang(3, gang)

    assert answer.pod is not None
    (change,) = answer.pod.changes
    assert change.field == "spec.podSets[*].count"
    assert change.message == 'let provisioningrequest "default/room" ask for 3 pods together'


def test_a_gang_is_told_to_do_with_as_many_as_it_is_said_to_have_places_for() -> None:
    gang = _gang(4)
    small = [a_pod(f"m-{one}", gang=gang.key) for one in range(3)]
    cluster = a_snapshot(
        pods=[*small, a_pod("large", 2, gang=gang.key)],
        gangs=[gang],
        shapes=[a_shape(cpu="1"), a_shape(2, cpu="3")],
        nodes=[a_node(allocatable=amounts(cpu=3, memory="8Gi", pods=9))],
        nodepools=[],
    )

    answer = explain(cluster, SolveOptions(), SubjectKind.POD, "uid-m-0")

    assert answer.pod is not None
    assert "at most 3 have a place; there is none for default/large" in answer.pod.message
    (change,) = (one for one in answer.pod.changes if one.kind is ChangeKind.GANG)
    assert (change.old, change.new) == ("4", "3")
