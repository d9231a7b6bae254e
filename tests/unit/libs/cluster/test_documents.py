"""Documents as objects: lists taken apart, kinds, names, namespaces."""

import pytest

from libs.cluster.documents import objects_of
from libs.cluster.files import LoadedCluster, load
from libs.domain.capacity import NodeClassRef
from tests.unit.libs.cluster.clusters import row_of, taken
from tests.unit.libs.kube.manifests import (
    CLASS,
    Document,
    a_container,
    a_node,
    a_nodepool,
    a_pod,
    an_object,
)

KWOK = NodeClassRef(**CLASS)


def _load(*documents: object, source: str = "dump.yaml") -> LoadedCluster:
    return load([(source, one) for one in documents], default_class=KWOK)


def _names(*documents: object) -> list[str]:
    found = objects_of([("f", one) for one in documents])
    return [one.obj.metadata.name for one in found.objects]


def _without_type(document: Document) -> Document:
    return {key: value for key, value in document.items() if key not in ("apiVersion", "kind")}


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(
            {"apiVersion": "v1", "kind": "List", "items": [a_pod("a"), a_node("b")]}, id="List"
        ),
        pytest.param([a_pod("a"), a_node("b")], id="array"),
        pytest.param(
            {
                "apiVersion": "v1",
                "kind": "List",
                "items": [
                    {"apiVersion": "v1", "kind": "PodList", "items": [_without_type(a_pod("a"))]},
                    {"apiVersion": "v1", "kind": "NodeList", "items": [a_node("b")]},
                ],
            },
            id="typed lists in a List",
        ),
    ],
)
def test_lists_are_taken_apart(document: object) -> None:
    assert _names(document) == ["a", "b"]


@pytest.mark.parametrize("document", [None, [], {"kind": "PodList", "items": None}], ids=repr)
def test_an_empty_document_has_no_object(document: object) -> None:
    assert _names(document) == []


def test_a_document_that_contains_itself_is_refused() -> None:
    document: list[object] = []
    document.append(document)
    pod = a_pod("a")
    pod["spec"]["affinity"] = pod["spec"]

    for one in (document, pod):
        [refused] = _load(one, a_pod("b")).refused
        assert "contains itself" in refused.message


def test_kinds_that_planning_does_not_read_are_left_out_with_a_note() -> None:
    secrets = [an_object("v1", "Secret", name, "default") for name in "ab"]

    found = _load(*secrets, a_nodepool())

    assert found.notes == ("2 of v1 Secret left out: planning does not read that kind",)


def test_of_two_objects_with_one_name_the_later_one_counts_with_a_note() -> None:
    found = _load(a_pod("a"), a_pod("a", containers=[a_container("2")]), a_nodepool())

    snapshot = taken(found.state)
    assert [shape.requests.get("cpu") for shape in snapshot.shapes.values()] == [2000]
    assert found.notes == ('dump.yaml: Pod "default/a" is there twice; the later one counts',)


def test_many_objects_that_are_there_twice_are_told_in_one_note() -> None:
    found = _load(*(a_pod(name) for name in "abcdabcd"), a_nodepool())

    assert found.notes == (
        "dump.yaml: 4 objects are there twice; the later ones count: "
        'Pod "default/a", Pod "default/b", Pod "default/c" and 1 more',
    )


def test_an_object_without_a_namespace_is_in_default() -> None:
    pod = a_pod("a")
    del pod["metadata"]["namespace"]

    assert row_of(taken(_load(pod).state), "a").namespace == "default"
