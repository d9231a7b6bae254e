"""Whether a nominated node may still take its pod: as it is, or once those have left who may leave.

Apart from the verdicts because nobody else is asked about what is not there yet. kube-scheduler
tries the nominated node first and then all others; where none takes the pod it is nominated for a
node on which that may preempt somebody, or for none.
"""

from collections.abc import Iterator

from libs.oracle.cluster import Cluster
from libs.oracle.objects import KubeObject, priority_of, status_of
from libs.oracle.pods import Pod, read_pod
from libs.oracle.verdict import Rejection, first_refusal, prepare


def without_hope(cluster: Cluster) -> Iterator[KubeObject]:
    """Yield the pending pods whose nominated node refuses them, whoever leaves it.

    Nodes that are not there say nothing. Other nominated pods are not looked at.

    Source: kube-scheduler's scheduling cycle and its default preemption (1.36).
    """
    for name, there in cluster.nominated.items():
        if name in cluster.nodes:
            yield from (pod for pod in there.values() if not _may_take(cluster, pod, name))


def without_nomination(pod: KubeObject) -> KubeObject:
    """Return the pod with no node nominated for it."""
    status = {key: value for key, value in status_of(pod).items() if key != "nominatedNodeName"}
    return {**pod, "status": status}


def _may_take(cluster: Cluster, pod: KubeObject, name: str) -> bool:
    if _takes(cluster, pod, name):
        return True
    leaving = _leaving(cluster, pod, name)
    seats = [cluster.unseat(one.key) for one in leaving]
    try:
        return bool(seats) and _takes(cluster, pod, name)
    finally:
        for seat in seats:
            cluster.seat(seat)


def _takes(cluster: Cluster, pod: KubeObject, name: str) -> bool:
    tests = prepare(cluster, read_pod(pod))
    return not isinstance(tests, Rejection) and first_refusal(tests, cluster.nodes[name]) is None


def _leaving(cluster: Cluster, pod: KubeObject, name: str) -> list[Pod]:
    """Return whom the pod may preempt on a node, and who is ending there."""
    there = cluster.nodes[name].pods.values()
    own = priority_of(pod)
    return [one for one in there if one.is_terminating or priority_of(one.obj) < own]
