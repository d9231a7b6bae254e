"""Whatever the API accepts: the simulated cluster goes on."""

from collections.abc import Iterator
from typing import Any

import pytest

from libs.runtime.randomness import Random
from libs.runtime.virtual import run_virtual
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.frozen import thaw
from tests.unit.services.simulator.living import (
    Living,
    Obj,
    a_node,
    a_pod,
    a_template,
    a_workload,
    living,
)

Path = tuple[Any, ...]

RESOURCES = (
    "nodes",
    "pods",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "jobs.batch",
    "poddisruptionbudgets.policy",
    "persistentvolumeclaims",
    "persistentvolumes",
    "storageclasses.storage.k8s.io",
    "csinodes.storage.k8s.io",
)
JUNK: tuple[Any, ...] = (
    *(None, "", 0, -1, "abc", "1%", "x%", [], {}, [{}], [""], True, {"a": "b"}, "zz-1"),
    *(10**12, "9" * 30, "2020-01-01T00:00:00Z", [{"type": "Ready", "status": "True"}]),
)
_IDENTITY = ("name", "namespace", "uid", "resourceVersion")


def paths(value: Any, above: Path = ()) -> Iterator[Path]:
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    for step, member in steps:
        path = (*above, step)
        if path[0] not in ("kind", "apiVersion") and not (
            path[0] == "metadata" and len(path) > 1 and path[1] in _IDENTITY
        ):
            yield path
        if isinstance(member, (dict, list)):
            yield from paths(member, path)


def spoiled(random: Random, obj: Obj) -> Obj:
    changed: Obj = thaw(obj)
    for _ in range(random.randint(1, 3)):
        path = random.choice(list(paths(changed)))
        target: Any = changed
        for step in path[:-1]:
            target = target[step]
        if random.random() < 0.4:
            target.pop(path[-1])
        else:
            target[path[-1]] = thaw(random.choice(JUNK))
    return changed


def meddle(random: Random, cluster: Living, number: int) -> None:
    resource = random.choice(RESOURCES)
    present = cluster.api.list(resource)
    if not present:
        return
    obj = random.choice(present)
    meta, deed = obj["metadata"], random.random()
    try:
        if deed < 0.1:
            cluster.api.delete(resource, meta["name"], meta.get("namespace", ""))
        elif deed < 0.3:
            new = spoiled(random, obj)
            kept = new.get("metadata")
            kept = kept if isinstance(kept, dict) else {}
            members = ("labels", "annotations", "ownerReferences", "finalizers")
            new["metadata"] = {key: kept[key] for key in members if key in kept}
            new["metadata"]["name"] = f"z{number}"
            cluster.api.create(resource, new, meta.get("namespace", ""))
        else:
            side = random.choice(("", "status"))
            cluster.api.update(resource, spoiled(random, obj), subresource=side)
    except ApiError:
        pass


def furnish(cluster: Living) -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    brief = {"simulator.joiner.io/run-seconds": "1"}
    work = a_template("work", restartPolicy="Never", annotations=brief)
    budget = {"maxUnavailable": "30%", "selector": {"matchLabels": {"app": "web"}}}
    indexed = {"completionMode": "Indexed", "completions": 3, "template": work}
    database = a_workload("db", replicas=2, serviceName="db", volumeClaimTemplates=[claim])
    storage_class = {
        "metadata": {"name": "fast"},
        "provisioner": "ebs.csi.aws.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    cluster.api.create("storageclasses.storage.k8s.io", storage_class)
    for number in range(3):
        cluster.api.create("nodes", a_node(f"n{number}", zone=f"zone-{number}"))
    for resource, obj in (
        ("deployments.apps", a_workload("web", replicas=2)),
        ("statefulsets.apps", database),
        ("daemonsets.apps", a_workload("agent")),
        ("jobs.batch", {"metadata": {"name": "work"}, "spec": indexed}),
        ("poddisruptionbudgets.policy", {"metadata": {"name": "web"}, "spec": budget}),
        ("pods", a_pod("alone")),
    ):
        cluster.api.create(resource, obj, "default")


@pytest.mark.parametrize("seed", range(12))
def test_no_accepted_object_ends_the_cluster(seed: int) -> None:
    async def scenario() -> None:
        random = Random(seed)
        async with living() as cluster:
            furnish(cluster)
            for number in range(60):
                await cluster.after(random.choice((0.05, 0.3, 1, 20)))
                meddle(random, cluster, number)

            cluster.api.create("nodes", a_node("fresh", labels={"fresh": "yes"}))
            pod = a_pod("witness", nodeSelector={"fresh": "yes"})
            cluster.api.create("pods", pod, "default")
            await cluster.until(lambda: cluster.status("pods", "witness")["phase"] == "Running")

    run_virtual(scenario())
