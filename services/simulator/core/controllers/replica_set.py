"""ReplicaSets: as many pods as asked for, made from the template, owned by reference.

Source: Kubernetes documentation, "ReplicaSet".
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.client import Client, Index, controller_uid
from services.simulator.core.controllers import adoption, pods
from services.simulator.core.controllers.controller import Controller, its_controller, itself
from services.simulator.core.objects import Object, is_deleting, split_key
from services.simulator.core.part import earliest

REPLICA_SETS = "replicasets.apps"


def replica_set_controller(client: Client) -> Controller:
    """Return the controller of ReplicaSets."""
    api = client.api
    owned, free = client.index("pods", controller_uid), adoption.orphans(client)
    of_owner, who_selects = its_controller("ReplicaSet"), adoption.who_selects(api, REPLICA_SETS)

    def reconcile(key: str, now: datetime) -> datetime | None:
        namespace, name = split_key(key)
        replica_set = api.find(REPLICA_SETS, name, namespace)
        if replica_set is None:
            return None
        if not is_deleting(replica_set):
            adoption.release(api, replica_set, owned.of(replica_set["metadata"]["uid"]))
            adoption.adopt(api, replica_set, free)
            _scale(client, replica_set, owned, now)
        return _report(api, replica_set, owned, now)

    def concerned(pod: Object) -> Iterable[str]:
        return (*of_owner(pod), *who_selects(pod))

    sources = {REPLICA_SETS: itself, "pods": concerned}
    return Controller("replicaset", client, sources, reconcile)


def _scale(client: Client, replica_set: Object, owned: Index, now: datetime) -> None:
    present = pods.active(owned.of(replica_set["metadata"]["uid"]))
    missing = replica_set["spec"]["replicas"] - len(present)
    for _ in range(missing):
        pod = pods.pod_from(replica_set, replica_set["spec"]["template"])
        pods.create(client, replica_set, pod, now)
    if missing < 0:
        on_node = Counter(pod["spec"].get("nodeName") for pod in present)
        present.sort(key=lambda pod: pods.deletion_order(pod, on_node[pod["spec"].get("nodeName")]))
        for pod in present[:-missing]:
            pods.remove(client, replica_set, pod, now)


def _report(api: DirectApi, replica_set: Object, owned: Index, now: datetime) -> datetime | None:
    spec = replica_set["spec"]
    everyone = owned.of(replica_set["metadata"]["uid"])
    present = pods.active(everyone)
    wanted = (spec["template"]["metadata"].get("labels") or {}).items()
    instants = [
        instant
        for pod in present
        if (instant := pods.available_at(pod, spec.get("minReadySeconds", 0))) is not None
    ]
    status = {
        "replicas": len(present),
        "fullyLabeledReplicas": sum(
            wanted <= (pod["metadata"].get("labels") or {}).items() for pod in present
        )
        or None,
        "readyReplicas": sum(map(pods.is_ready, present)) or None,
        "availableReplicas": sum(instant <= now for instant in instants) or None,
        "terminatingReplicas": sum(map(is_deleting, everyone)),
        "observedGeneration": replica_set["metadata"]["generation"],
        "conditions": replica_set["status"].get("conditions"),
    }
    pods.write_status(api, REPLICA_SETS, replica_set, status)
    return earliest(*(instant for instant in instants if instant > now))
