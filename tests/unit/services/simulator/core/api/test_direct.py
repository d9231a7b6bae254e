import pytest

from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.frozen import thaw
from services.simulator.core.api.patching.types import PatchType
from services.simulator.core.api.server import ApiServer
from tests.unit.services.simulator.cluster import START, Cluster, a_config_map, a_pod


def test_what_is_stored_cannot_be_changed_through_what_went_in_or_came_out() -> None:
    api = Cluster().server.direct
    sent = a_config_map("a", k="v")
    stored = api.create("configmaps", sent)
    sent["data"]["k"] = "w"

    with pytest.raises(TypeError):
        stored["data"]["k"] = "x"
    assert api.get("configmaps", "a", "default")["data"] == {"k": "v"}


def test_a_thawed_copy_can_be_changed_and_written_back() -> None:
    api = Cluster().server.direct
    changed = thaw(api.create("configmaps", a_config_map("a", k="v")))
    changed["data"]["k"] = "w"

    assert api.update("configmaps", changed)["data"] == {"k": "w"}


def test_a_stale_update_is_refused() -> None:
    api = Cluster().server.direct
    first = api.create("configmaps", a_config_map("a", k="v"))
    api.patch("configmaps", "a", {"data": {"k": "w"}}, "default")

    with pytest.raises(ApiError) as refused:
        api.update("configmaps", first)
    assert (refused.value.code, refused.value.reason) == (409, "Conflict")


def test_a_status_update_leaves_the_spec_alone() -> None:
    api = Cluster().server.direct
    node = thaw(api.create("nodes", {"metadata": {"name": "n"}}))
    node["spec"]["unschedulable"] = True
    node["status"]["capacity"] = {"cpu": "4"}
    updated = api.update("nodes", node, subresource="status")

    assert updated["spec"] == {}
    assert updated["status"]["allocatable"] == {"cpu": "4"}


def test_a_refused_object_leaves_no_trace() -> None:
    api = Cluster().server.direct
    before = api.revision

    with pytest.raises(ApiError) as refused:
        api.create("pods", a_pod("Bad_Name"))
    assert refused.value.code == 422
    assert api.revision == before


def test_a_bound_pod_gets_its_grace_period_and_goes_when_the_kubelet_is_done() -> None:
    cluster = Cluster()
    api = cluster.server.direct
    api.create("pods", a_pod("p", nodeName="n1"))
    marked = api.delete("pods", "p", "default")

    assert not marked.gone
    assert marked.object["metadata"]["deletionTimestamp"] == "2030-01-01T00:00:30Z"
    assert api.delete("pods", "p", "default", DeleteOptions(grace_seconds=0)).gone
    assert api.find("pods", "p", "default") is None


def test_a_finalizer_holds_an_object_until_it_is_taken_away() -> None:
    api = Cluster().server.direct
    held = {"metadata": {"name": "n", "finalizers": ["x.io/f"]}}
    api.create("nodes", held)

    assert not api.delete("nodes", "n").gone
    api.patch("nodes", "n", {"metadata": {"finalizers": None}})
    assert api.find("nodes", "n") is None


def test_deleting_with_another_uid_is_refused() -> None:
    api = Cluster().server.direct
    api.create("nodes", {"metadata": {"name": "n"}})

    with pytest.raises(ApiError) as refused:
        api.delete("nodes", "n", options=DeleteOptions(uid="other"))
    assert refused.value.code == 409


def test_a_strategic_patch_merges_containers_by_name() -> None:
    api = Cluster().server.direct
    template = {"metadata": {"labels": {"a": "b"}}, "spec": a_pod()["spec"]}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    api.create(
        "deployments.apps", {"metadata": {"name": "d", "namespace": "default"}, "spec": spec}
    )
    change = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "new"}]}}}}
    patched = api.patch("deployments.apps", "d", change, "default", type_=PatchType.STRATEGIC)
    (container,) = patched["spec"]["template"]["spec"]["containers"]

    assert (container["image"], container["name"]) == ("new", "c")
    assert patched["metadata"]["generation"] == 2


def a_budget(**status: int) -> dict[str, object]:
    return {
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "minAvailable": 1},
        "status": {"observedGeneration": 1, "expectedPods": 2, **status},
    }


@pytest.mark.parametrize(
    ("allowed", "code", "left"),
    [pytest.param(1, 0, 0, id="allowed"), pytest.param(0, 429, 0, id="exhausted")],
)
def test_an_eviction_obeys_the_budget(allowed: int, code: int, left: int) -> None:
    api = Cluster().server.direct
    api.create("pods", a_pod("p", nodeName="n1", labels={"app": "a"}))
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    api.patch("pods", "p", {"status": ready}, "default", subresource="status")
    api.create("poddisruptionbudgets.policy", a_budget())
    status = a_budget(disruptionsAllowed=allowed, currentHealthy=2, desiredHealthy=1)["status"]
    api.patch(
        "poddisruptionbudgets.policy", "b", {"status": status}, "default", subresource="status"
    )

    try:
        api.evict("p", "default")
        found = 0
    except ApiError as error:
        found = error.code

    assert found == code
    budget = api.get("poddisruptionbudgets.policy", "b", "default")
    assert budget["status"]["disruptionsAllowed"] == left
    terminating = "deletionTimestamp" in api.get("pods", "p", "default")["metadata"]
    assert terminating is (code == 0)


def test_a_generated_name_that_is_taken_is_tried_again() -> None:
    suffixes = iter(["aaaaa", "aaaaa", "bbbbb"])
    numbers = iter(range(99))
    api = ApiServer(lambda: START, lambda: f"uid-{next(numbers)}", lambda: next(suffixes)).direct
    wanted = {"metadata": {"generateName": "x-", "namespace": "default"}}
    names = [api.create("configmaps", wanted)["metadata"]["name"] for _ in range(2)]

    assert names == ["x-aaaaa", "x-bbbbb"]
