"""Templates have names, whoever gave them."""

from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from services.simulator.core.controllers.revisions import REVISIONS, hash_of
from services.simulator.core.objects import labels_of
from tests.unit.services.simulator.living import Living, a_node, a_template, a_workload, living

Obj = dict[str, Any]
KINDS = ["statefulsets.apps", "daemonsets.apps"]


def a_set(resource: str, **spec: Any) -> Obj:
    own: Obj = {}
    if resource == "statefulsets.apps":
        own = {"serviceName": "web", "podManagementPolicy": "Parallel"}
    return a_workload("web", **own, **spec)


def revisions(life: Living) -> list[tuple[int, str]]:
    """Return number and image of each revision, oldest first."""
    found = []
    for one in life.api.list(REVISIONS, "default"):
        (container,) = one["data"]["spec"]["template"]["spec"]["containers"]
        found.append((one["revision"], container["image"]))
    return sorted(found)


async def renew(life: Living, resource: str, image: str) -> None:
    template = a_template("web", container={"image": image})
    life.api.patch(resource, "web", {"spec": {"template": template}}, "default")
    await life.after(30)


@pytest.mark.parametrize("resource", KINDS)
def test_each_template_has_a_revision_and_an_old_one_comes_back_as_the_newest(
    resource: str,
) -> None:
    async def scenario() -> None:
        async with living() as life:
            life.api.create("nodes", a_node())
            life.api.create(resource, a_set(resource), "default")
            await life.after(10)
            assert revisions(life) == [(1, "app:1")]
            await renew(life, resource, "app:2")
            assert revisions(life) == [(1, "app:1"), (2, "app:2")]
            await renew(life, resource, "app:1")
            assert revisions(life) == [(2, "app:2"), (3, "app:1")]
            (pod,) = life.running("web")
            named = {one["metadata"]["name"]: one for one in life.api.list(REVISIONS, "default")}
            newest = max(named.values(), key=lambda one: one["revision"])
            expected = newest["metadata"]["name"] if "stateful" in resource else hash_of(newest)
            assert labels_of(pod)["controller-revision-hash"] == expected

    run_virtual(scenario())


@pytest.mark.parametrize("resource", KINDS)
def test_only_so_many_old_revisions_are_kept(resource: str) -> None:
    async def scenario() -> None:
        async with living() as life:
            life.api.create("nodes", a_node())
            life.api.create(resource, a_set(resource, revisionHistoryLimit=1), "default")
            await life.after(10)
            for number in (2, 3, 4):
                await renew(life, resource, f"app:{number}")
            assert revisions(life) == [(3, "app:3"), (4, "app:4")]

    run_virtual(scenario())


def test_revisions_go_with_their_owner() -> None:
    async def scenario() -> None:
        async with living() as life:
            life.api.create("statefulsets.apps", a_set("statefulsets.apps"), "default")
            await life.after(10)
            life.api.delete("statefulsets.apps", "web", "default")
            await life.after(10)
            assert revisions(life) == []

    run_virtual(scenario())
