"""Server-side apply and managed fields, over HTTP as clients use them."""

import json
from typing import Any

from services.simulator.core.api.messages import Request, Response
from tests.unit.services.simulator.cluster import Cluster

PATH = "/api/v1/namespaces/default/configmaps/a"


def apply(cluster: Cluster, manager: str, data: dict[str, str], *, force: bool = False) -> Response:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}
    query = {"fieldManager": (manager,), **({"force": ("true",)} if force else {})}
    return cluster.server.handle(
        Request(
            method="PATCH",
            path=PATH,
            query=query,
            headers={"content-type": "application/apply-patch+yaml"},
            body=json.dumps(body).encode(),
        )
    )


def owned(answer: Response) -> dict[str, Any]:
    entries = json.loads(answer.body)["metadata"]["managedFields"]
    return {entry["manager"]: entry["fieldsV1"].get("f:data") for entry in entries}


def test_managers_own_what_they_apply() -> None:
    cluster = Cluster()
    apply(cluster, "x", {"k": "1"})
    answer = apply(cluster, "y", {"m": "2"})

    assert json.loads(answer.body)["data"] == {"k": "1", "m": "2"}
    assert owned(answer) == {"x": {"f:k": {}}, "y": {"f:m": {}}}


def test_a_field_that_its_last_owner_gives_up_goes() -> None:
    cluster = Cluster()
    apply(cluster, "x", {"k": "1", "l": "2"})
    answer = apply(cluster, "x", {"k": "1"})

    assert json.loads(answer.body)["data"] == {"k": "1"}


def test_changing_what_another_owns_is_a_conflict_unless_forced() -> None:
    cluster = Cluster()
    apply(cluster, "x", {"k": "1"})
    refused = apply(cluster, "y", {"k": "2"})
    forced = apply(cluster, "y", {"k": "2"}, force=True)

    assert refused.status == 409
    assert json.loads(refused.body)["details"]["causes"][0]["field"] == ".data.k"
    assert owned(forced) == {"y": {"f:k": {}}}


def test_applying_the_same_again_writes_nothing() -> None:
    cluster = Cluster()
    first = apply(cluster, "x", {"k": "1"})
    again = apply(cluster, "x", {"k": "1"})

    assert again.body == first.body


def test_an_update_takes_the_fields_that_it_changes() -> None:
    cluster = Cluster()
    apply(cluster, "x", {"k": "1", "l": "2"})
    answer = cluster.send("PATCH", PATH, {"data": {"k": "3"}}, fieldManager="z")

    assert owned(answer) == {"x": {"f:l": {}}, "z": {"f:k": {}}}


def test_callers_in_the_process_leave_managers_alone() -> None:
    cluster = Cluster()
    apply(cluster, "x", {"k": "1"})
    patched = cluster.server.direct.patch("configmaps", "a", {"data": {"k": "2"}}, "default")

    assert [entry["manager"] for entry in patched["metadata"]["managedFields"]] == ["x"]
