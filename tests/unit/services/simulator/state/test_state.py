"""State is loaded as it was, saved whole, and lives on."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from libs.domain.errors import InvalidRequest
from libs.kube import document_files
from libs.kube.dump.capturing import Wish, capture
from libs.runtime.virtual import run_virtual
from services.simulator.app import assemble, load_state, new_server, read_state
from services.simulator.config import Settings
from services.simulator.core.api.server import ApiServer
from services.simulator.core.controllers.revisions import hash_of
from services.simulator.memory_api import MemoryKubeApi
from services.simulator.script.hands import Hands
from services.simulator.state.loading import Loaded, captured_at, load
from services.simulator.state.saving import save
from tests.support.world import a_runtime
from tests.unit.services.simulator.cluster import START, Cluster
from tests.unit.services.simulator.living import a_node, a_pod, a_template, a_workload

Document = dict[str, Any]


def meta(name: str, revision: int = 1, **more: Any) -> Document:
    return {
        "name": name,
        "uid": f"uid-{name}",
        "creationTimestamp": OLD,
        "resourceVersion": str(revision),
        **more,
    }


def a_live(kind: str, metadata: Document, **members: Any) -> Document:
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **members}


def a_running_pod(name: str, revision: int = 1, **metadata: Any) -> Document:
    spec = {**a_pod(name)["spec"], "nodeName": "n1"}
    status = {"phase": "Running", "podIP": "10.1.1.1"}
    metadata = meta(name, revision, namespace="default", **metadata)
    return a_live("Pod", metadata, spec=spec, status=status)


def loaded(*documents: object, **options: Any) -> tuple[ApiServer, Loaded]:
    server = Cluster().server
    named = [("dump", one) for one in documents]
    return server, load(server.store, Hands(server.store, server.direct), named, **options)


def test_an_object_that_was_in_a_cluster_is_as_it_was() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "uid-web"}
    managed = [
        {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    ]
    given = a_running_pod("a", ownerReferences=[owner], generation=7, managedFields=managed)

    server, _ = loaded(given)

    found = server.direct.get("pods", "a", "default")
    kept = {key: value for key, value in found["metadata"].items() if key != "resourceVersion"}
    assert kept == {key: v for key, v in given["metadata"].items() if key != "resourceVersion"}
    assert found["status"] == given["status"]
    assert found["spec"]["nodeName"] == "n1"


def test_managed_fields_are_dropped_where_they_are_not_wanted() -> None:
    given = a_running_pod("a", managedFields=[{"manager": "m"}])

    server, _ = loaded(given, managed_fields=False)

    assert "managedFields" not in server.direct.get("pods", "a", "default")["metadata"]


def test_resource_versions_are_counted_anew_in_their_old_order() -> None:
    server, _ = loaded(
        a_running_pod("late", 900_000), a_running_pod("early", 17), a_live("Node", meta("n1", 500))
    )

    api = server.direct
    found = [api.get("pods", "early", "default"), api.get("nodes", "n1")]
    found.append(api.get("pods", "late", "default"))
    revisions = [int(one["metadata"]["resourceVersion"]) for one in found]
    assert revisions == sorted(revisions)
    assert revisions[-1] == api.revision < 100


def test_what_was_in_no_cluster_is_created() -> None:
    server, found = loaded({"apiVersion": "v1", "kind": "Pod", **a_pod("new")})

    pod = server.direct.get("pods", "new", "default")
    assert pod["metadata"]["uid"]
    assert pod["status"]["phase"] == "Pending"
    assert found.objects == 1


def test_what_the_simulator_has_of_itself_gives_way() -> None:
    server, _ = loaded(a_live("Namespace", meta("default"), status={"phase": "Active"}))

    assert server.direct.get("namespaces", "default")["metadata"]["uid"] == "uid-default"


def test_definitions_come_first_whatever_the_order() -> None:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Order", "plural": "orders", "singular": "order", "listKind": "OrderList"}
    spec = {"group": "shop.io", "scope": "Namespaced", "names": names, "versions": [version]}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": meta("orders.shop.io", 999),
        "spec": spec,
    }
    order = {"apiVersion": "shop.io/v1", "kind": "Order", "metadata": meta("o", namespace="shop")}

    server, found = loaded({**order, "size": 3}, crd)

    assert server.direct.get("orders.shop.io", "o", "shop")["size"] == 3
    assert found.notes == ('Namespace "shop" is not in the input: it was created',)


def test_lists_are_taken_apart_and_of_two_the_later_counts() -> None:
    first, last = a_running_pod("a"), a_running_pod("a", labels={"last": "yes"})
    typed = {key: value for key, value in last.items() if key not in ("apiVersion", "kind")}

    server, found = loaded(
        {"apiVersion": "v1", "kind": "List", "items": [first]},
        {"apiVersion": "v1", "kind": "PodList", "items": [typed]},
    )

    assert found.objects == 1
    assert server.direct.get("pods", "a", "default")["metadata"]["labels"] == {"last": "yes"}


def test_what_cannot_be_loaded_is_named_and_stops_nothing_else() -> None:
    broken = a_running_pod("broken")
    broken["spec"]["containers"] = "none"
    unknown = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": meta("t")}

    server, found = loaded(broken, unknown, a_running_pod("fine"))

    assert [one["metadata"]["name"] for one in server.direct.list("pods")] == ["fine"]
    assert found.notes[0].startswith('Pod "default/broken" left out: Pod in version "v1" cannot')
    assert found.notes[1:] == (
        "1 objects of example.com/v1 Thing left out: the simulator does not serve that kind",
    )


@pytest.mark.parametrize(
    ("document", "words"),
    [
        pytest.param("pods", "dump: 'pods' is no Kubernetes object", id="text"),
        pytest.param({"kind": "Pod"}, "dump: apiVersion: is missing", id="no version"),
        pytest.param(
            {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod"}]},
            "dump: items[0]: Pod: metadata.name: is missing",
            id="no name",
        ),
    ],
)
def test_what_is_no_object_is_refused_with_its_place(document: object, words: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        loaded(document)

    assert str(caught.value) == words


def test_dependents_of_owners_that_were_left_out_are_not_collected() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "elsewhere"}

    async def scenario() -> list[str]:
        runtime, settings = a_runtime("simulator"), Settings()
        server = new_server(settings, runtime)
        hands = Hands(server.store, server.direct)
        pods = [a_running_pod("a", ownerReferences=[owner])]
        node = a_live("Node", meta("n1"), **{k: a_node("n1")[k] for k in ("spec", "status")})
        found = load(server.store, hands, [("dump", one) for one in (*pods, node)])
        assert "owners that are not in the input count as living: ReplicaSet web" in found.notes
        await lived(server, settings, 120)
        return [one["metadata"]["name"] for one in server.direct.list("pods")]

    assert run_virtual(scenario()) == ["a"]


async def lived(server: ApiServer, settings: Settings, seconds: float) -> None:
    """Let a cluster live for a while."""
    runtime = a_runtime("simulator")
    tasks = [asyncio.create_task(t()) for t in assemble(settings, runtime, server).tasks.values()]
    await runtime.clock.sleep(timedelta(seconds=seconds))
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def a_lived_cluster() -> ApiServer:
    """Return a cluster with a little of everything, after a minute."""
    settings = Settings()
    server = new_server(settings, a_runtime("simulator"))
    api = server.direct
    for number in (1, 2):
        api.create("nodes", a_node(f"n{number}"))
    template = a_template("web", container={"env": [{"name": "A", "value": "b"}]})
    api.create("deployments.apps", a_workload("web", template, replicas=3), "default")
    api.create("daemonsets.apps", a_workload("agent"), "default")
    sets = a_workload("db", replicas=2, serviceName="db", podManagementPolicy="Parallel")
    api.create("statefulsets.apps", sets, "default")
    api.create("secrets", {"metadata": {"name": "s"}, "stringData": {"a": "b"}}, "default")
    pool = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
    spec = {"template": {"spec": {"nodeClassRef": pool, "requirements": []}}}
    api.create("nodepools.karpenter.sh", {**KIND, "metadata": {"name": "p"}, "spec": spec})
    await lived(server, settings, 60)
    return server


KIND = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool"}


def objects_in(path: Path) -> list[Document]:
    """Return the objects of a dump but for its header and their resourceVersions."""
    found = [document for _, document in document_files.read([str(path)])]
    objects = [one for one in found[1:] if isinstance(one, dict)]
    for one in objects:
        del one["metadata"]["resourceVersion"]
    return objects


def test_saving_what_was_loaded_gives_the_same(tmp_path: Path) -> None:
    first, second = tmp_path / "first.gz", tmp_path / "second.gz"

    async def scenario() -> None:
        server = await a_lived_cluster()
        assert save(server.store, first, START) == len(objects_in(first))
        again = new_server(Settings(), a_runtime("simulator"))
        begin_with(again, first)
        save(again.store, second, START)

    run_virtual(scenario())

    assert objects_in(first) == objects_in(second)
    secrets = [one for one in objects_in(first) if one["kind"] == "Secret"]
    assert [one.get("data") for one in secrets] == [None] * len(secrets)


def test_capturing_what_was_captured_gives_the_same(tmp_path: Path) -> None:
    async def scenario() -> None:
        server = await a_lived_cluster()
        first = await capture(MemoryKubeApi(server), Wish())
        again = new_server(Settings(), a_runtime("simulator"))
        documents = [("dump", one) for one in first.objects]
        load(again.store, Hands(again.store, again.direct), documents)
        second = await capture(MemoryKubeApi(again), Wish())

        assert first.counts == second.counts
        for one in (*first.objects, *second.objects):
            del one["metadata"]["resourceVersion"]
        assert first.objects == second.objects
        assert "env" not in repr(first.objects[-1])

    run_virtual(scenario())


def test_pods_of_sets_whose_templates_were_redacted_are_no_old_ones() -> None:
    async def scenario() -> None:
        server = await a_lived_cluster()
        found = await capture(MemoryKubeApi(server), Wish())
        text = json.dumps(found.objects)
        for one in server.direct.list("controllerrevisions.apps"):
            text = text.replace(hash_of(one), f"x{hash_of(one)[1:]}")  # another hash function's
        settings = Settings(state=Path("given"))
        again = new_server(settings, a_runtime("simulator"))
        hands = Hands(again.store, again.direct)
        load(again.store, hands, [("dump", one) for one in json.loads(text)])
        before = names(again)
        await lived(again, settings, 60)
        assert names(again) == before
        assert all(one["status"]["startTime"] < "2026-01-01T00:00:30" for one in pods_of(again))

    run_virtual(scenario())


def test_pods_of_sets_without_revisions_in_the_input_are_no_old_ones() -> None:
    async def scenario() -> None:
        server = await a_lived_cluster()
        found = await capture(MemoryKubeApi(server), Wish())
        text = json.dumps(found.objects)
        for one in server.direct.list("controllerrevisions.apps"):
            text = text.replace(hash_of(one), f"x{hash_of(one)[1:]}")
        given = [one for one in json.loads(text) if one["kind"] != "ControllerRevision"]
        settings = Settings(state=Path("given"))
        again = new_server(settings, a_runtime("simulator"))
        load(again.store, Hands(again.store, again.direct), [("pods", one) for one in given])
        before = names(again)
        await lived(again, settings, 60)
        assert names(again) == before

    run_virtual(scenario())


def test_pods_that_ran_run_on_and_are_replaced_when_they_go(tmp_path: Path) -> None:
    path = tmp_path / "state.gz"

    async def scenario() -> tuple[set[str], set[str], list[str]]:
        server = await a_lived_cluster()
        save(server.store, path, datetime(2026, 1, 1, tzinfo=UTC))
        before = names(server)
        settings = Settings(state=path)
        again = new_server(settings, a_runtime("simulator"))
        begin_with(again, path)
        await lived(again, settings, 60)
        after = names(again)
        again.direct.delete("pods", min(after).partition(" ")[0], "default")
        await lived(again, settings, 60)
        addresses = [one["status"]["podIP"] for one in again.direct.list("pods")]
        assert len(set(addresses)) == len(addresses)
        return before, after, [one["status"]["phase"] for one in again.direct.list("pods")]

    before, after, phases = run_virtual(scenario())

    assert before == after
    assert phases == ["Running"] * 7


def pods_of(server: ApiServer) -> tuple[Document, ...]:
    return server.direct.list("pods")


def names(server: ApiServer) -> set[str]:
    """Return name and uid of all pods."""
    return {f"{one['metadata']['name']} {one['metadata']['uid']}" for one in pods_of(server)}


def test_nodes_of_any_cloud_live_on_and_silent_ones_stay_silent(tmp_path: Path) -> None:
    def a_machine(name: str, ready: str) -> Document:
        conditions = [{"type": "Ready", "status": ready, "lastTransitionTime": OLD}]
        given = a_node(name, providerID=f"aws:///a/{name}")
        status = {**given["status"], "conditions": conditions}
        metadata = {**meta(name), "labels": given["metadata"]["labels"]}
        return a_live("Node", metadata, spec=given["spec"], status=status)

    path = tmp_path / "nodes.jsonl"
    lines = [a_machine("alive", "True"), a_machine("silent", "Unknown")]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines))

    async def scenario() -> dict[str, str]:
        settings = Settings(state=path)
        server = new_server(settings, a_runtime("simulator"))
        begin_with(server, path)
        await lived(server, settings, 120)
        return {one["metadata"]["name"]: readiness(one) for one in server.direct.list("nodes")}

    assert run_virtual(scenario()) == {"alive": "True", "silent": "Unknown"}


OLD = "2025-01-01T00:00:00Z"
LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)


def begin_with(server: ApiServer, path: Path) -> None:
    """Load a file as the simulator does when it starts."""
    settings = Settings(state=path)
    load_state(settings, server, read_state(settings))


def readiness(node: Document) -> str:
    return next(
        str(one["status"]) for one in node["status"]["conditions"] if one["type"] == "Ready"
    )


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"state: .*nowhere cannot be read: No such file"):
        read_state(Settings(state=tmp_path / "nowhere"))


def test_a_dump_says_when_it_was_captured() -> None:
    header = {"apiVersion": "joiner.io/v1", "kind": "ClusterDump"}

    assert captured_at([("a", "text"), ("b", {**header, "capturedAt": OLD})]) == LONG_AGO
    assert captured_at([("a", {"kind": "Pod"})]) is None
    with pytest.raises(InvalidRequest, match=r"b: ClusterDump\.capturedAt: is no instant"):
        captured_at([("b", header)])
