"""Virtual pods of capacity buffers as Pod objects, for the oracle.

Apart because no API server has them: they are made from their shape. Where they come on new nodes
they must be able to: room, ports, labels and taints are judged, and whether other pods want them
away. What they may want of other pods is not, as a plan does not say which of them it takes to fit
on the nodes that exist.
"""

from collections.abc import Iterator
from typing import Any

from libs.domain.plan import Plan
from libs.domain.pod import HostPort, NodeTerm, PodRow, PodShape
from libs.domain.requirement import Operator
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.selector import NODE_NAME_FIELD
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.taint import Toleration

_BOUNDS = {Operator.GTE: ("Gt", -1), Operator.LTE: ("Lt", 1)}
"""The bounds that node selectors have, and how far they are from ours."""


def virtual_pods(snapshot: ClusterSnapshot, plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield the virtual pods for which the plan buys nodes, as pods that wait."""
    placed = {uid for claim in plan.nodeclaims for uid in claim.pod_uids}
    virtual = {uid for one in snapshot.buffers.values() for uid in one.pod_uids}
    for row in snapshot.pods.rows():
        shape = snapshot.shapes.get(row.shape)
        if row.uid in virtual & placed and shape is not None:
            yield _pod(row, shape)


def _pod(row: PodRow, shape: PodShape) -> dict[str, Any]:
    requests = {
        name: text for name, text in shape.requests.to_quantities().items() if name != "pods"
    }
    ports = [_port(one) for one in shape.host_ports]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": row.name,
            "namespace": row.namespace,
            "uid": row.uid,
            "labels": dict(shape.labels),
        },
        "spec": {
            "containers": [{"name": "main", "resources": {"requests": requests}, "ports": ports}],
            "tolerations": [_toleration(one) for one in shape.tolerations],
            "affinity": {"nodeAffinity": _node_affinity(shape)},
        },
    }


def _port(port: HostPort) -> dict[str, Any]:
    return {"hostIP": port.ip, "protocol": port.protocol, "hostPort": port.port}


def _toleration(toleration: Toleration) -> dict[str, Any]:
    return {
        "key": toleration.key,
        "operator": str(toleration.operator),
        "value": toleration.value,
        "effect": str(toleration.effect) if toleration.effect is not None else None,
    }


def _node_affinity(shape: PodShape) -> dict[str, Any]:
    if not shape.required_node_terms and not len(shape.node_selector):
        return {}
    terms = [
        {
            "matchExpressions": _expressions(shape.node_selector.intersection(one.requirements)),
            "matchFields": [
                {"key": NODE_NAME_FIELD, "operator": operator, "values": list(names)}
                for operator, names in (("In", one.node_names), ("NotIn", one.excluded_node_names))
                if names
            ],
        }
        for one in shape.required_node_terms or (NodeTerm(requirements=ANYTHING),)
    ]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def _expressions(requirements: Requirements) -> list[dict[str, Any]]:
    found = []
    for entry in requirements.entries():
        operator, values = str(entry.operator), list(entry.values)
        if entry.operator in _BOUNDS:
            operator, distance = _BOUNDS[entry.operator]
            values = [str(int(values[0]) + distance)]
        found.append({"key": entry.key, "operator": operator, "values": values})
    return found
