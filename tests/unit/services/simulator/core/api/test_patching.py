from typing import Any

import pytest

from services.simulator.core.api.patching import merge, operations, strategic

POD = "core/v1.PodSpec"


def containers(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "image": "i"} for name in names]


def names(spec: dict[str, Any]) -> list[str]:
    return [entry["name"] for entry in spec["containers"]]


def test_a_merge_patch_removes_by_null_and_replaces_lists() -> None:
    target = {"a": {"b": 1, "c": [1, 2]}, "d": 1}

    assert merge.apply(target, {"a": {"b": None, "c": [3]}, "e": 2}) == {
        "a": {"c": [3]},
        "d": 1,
        "e": 2,
    }
    assert target == {"a": {"b": 1, "c": [1, 2]}, "d": 1}


@pytest.mark.parametrize(
    ("operation", "result"),
    [
        ({"op": "add", "path": "/l/1", "value": 9}, {"l": [1, 9, 2], "m": {}}),
        ({"op": "add", "path": "/l/-", "value": 9}, {"l": [1, 2, 9], "m": {}}),
        ({"op": "replace", "path": "/m", "value": 1}, {"l": [1, 2], "m": 1}),
        ({"op": "replace", "path": "/n", "value": 1}, {"l": [1, 2], "m": {}, "n": 1}),
        ({"op": "remove", "path": "/l/0"}, {"l": [2], "m": {}}),
        ({"op": "copy", "from": "/l/0", "path": "/m/x~1y"}, {"l": [1, 2], "m": {"x/y": 1}}),
        ({"op": "move", "from": "/l", "path": "/m/l"}, {"m": {"l": [1, 2]}}),
        ({"op": "test", "path": "/l/0", "value": 1}, {"l": [1, 2], "m": {}}),
        ({"op": "add", "path": "/l/-1", "value": 3}, {"l": [1, 2, 3], "m": {}}),
        ({"op": "remove", "path": "/l/-1"}, {"l": [1], "m": {}}),
        ({"op": "add", "path": "/x"}, {"l": [1, 2], "m": {}, "x": None}),
        ({"op": "copy", "from": "/y", "path": "/x"}, {"l": [1, 2], "m": {}, "x": None}),
    ],
)
def test_json_patch_operations(operation: dict[str, Any], result: dict[str, Any]) -> None:
    assert operations.apply({"l": [1, 2], "m": {}}, [operation]) == result


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/l/0", "value": True},
        {"op": "remove", "path": "/l/2"},
        {"op": "remove", "path": "/x"},
        {"op": "add", "path": "/l/-9", "value": 1},
        {"op": "add", "path": "/x/y", "value": 1},
        {"op": "add", "path": "", "value": {}},
        {"op": "replace", "path": "", "value": None},
        {"op": "move", "from": "/x", "path": "/y"},
        {"op": "odd", "path": "/l"},
        {"op": "add", "path": 1, "value": 1},
        "no object",
    ],
)
def test_an_operation_that_cannot_be_done_fails(operation: Any) -> None:
    with pytest.raises(operations.Failed):
        operations.apply({"l": [1, 2]}, [operation])


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        pytest.param(
            {"containers": [{"name": "b", "image": "j"}]}, ["a", "b"], id="merged in place"
        ),
        pytest.param({"containers": containers("c")}, ["c", "a", "b"], id="new ones go first"),
        pytest.param({"containers": [{"name": "a", "$patch": "delete"}]}, ["b"], id="deleted"),
        pytest.param(
            {"containers": [{"$patch": "replace"}, *containers("z")]}, ["z"], id="list replaced"
        ),
        pytest.param(
            {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]},
            ["b", "a"],
            id="ordered",
        ),
        pytest.param(
            {"$setElementOrder/containers": [{"name": "a"}], "containers": containers("y")},
            ["a", "b", "y"],
            id="an order that forgets a new item",
        ),
    ],
)
def test_lists_with_a_merge_key_are_merged(patch: dict[str, Any], expected: list[str]) -> None:
    merged = strategic.apply({"containers": containers("a", "b")}, patch, POD)

    assert names(merged) == expected


def test_tolerations_are_replaced() -> None:
    merged = strategic.apply({"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "b"}]}, POD)

    assert merged == {"tolerations": [{"key": "b"}]}


def test_an_item_without_its_merge_key_is_refused() -> None:
    with pytest.raises(strategic.Failed, match="does not contain declared merge key: name"):
        strategic.apply({"containers": containers("a")}, {"containers": [{"image": "x"}]}, POD)
