"""Bind a pod in a cluster, with all that kube-scheduler writes when it does.

Apart from `cluster`, which knows no rules, so that everyone who plays the scheduler does the same.
"""

from libs.oracle.claim_binding import bind_claims
from libs.oracle.cluster import Cluster
from libs.oracle.devices.binding import bind_devices
from libs.oracle.objects import KubeObject


def bind_pod(cluster: Cluster, pod: KubeObject, node_name: str) -> None:
    """Put the pod on the node, and let its claims have the volumes and devices promised to it.

    The pod must have passed every filter there.
    """
    changes = [*bind_claims(cluster, pod, node_name), *bind_devices(cluster, pod, node_name)]
    for kind, changed in changes:
        cluster.put(kind, changed)
    cluster.bind(pod, node_name)
