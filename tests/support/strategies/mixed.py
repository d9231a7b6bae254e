"""Whole small clusters with all kinds of constraints mixed."""

from hypothesis import strategies as st

from libs.domain.capacity import InstanceType
from tests.support.mixed import MixedCluster
from tests.support.strategies.choices import chance, pick
from tests.support.strategies.manifest_capacity import (
    claims_in_flight,
    daemon_sets,
    instance_types,
    nodes,
    pools,
)
from tests.support.strategies.manifest_pods import (
    NAMESPACES,
    Document,
    labels,
    pod_specs,
    running_specs,
)
from tests.support.strategies.manifest_volumes import storage


@st.composite
def mixed_clusters(draw: st.DrawFn, *, together: bool = True) -> MixedCluster:
    """Return a cluster, what can be bought for it, and which of its pods belong together.

    Args:
        together: whether there may be gangs and virtual pods, which kube-scheduler knows nothing
            of.
    """
    types = draw(instance_types(reserved=chance(draw, 15)))
    offered = [draw(pools(number)) for number in range(pick(draw, 1, 2, 3))]
    with_volumes = chance(draw, 40)
    # No volume is made for a node that does not say where it is.
    there = [draw(nodes(n, zoned=with_volumes)) for n in range(pick(draw, 0, 0, 1, 2, 4))]
    names = tuple(node["metadata"]["name"] for node in there)
    volumes = draw(storage(names)) if with_volumes else ()
    waiting = _waiting(draw, volumes)
    found = [
        *_namespaces(draw),
        *offered,
        *there,
        *volumes,
        *(draw(daemon_sets(number)) for number in range(pick(draw, 0, 0, 1, 2))),
        *_in_flight(draw, offered, types),
        *_running(draw, names),
        *waiting,
    ]
    return MixedCluster(
        documents=tuple(found),
        types=types,
        gangs=_gangs(draw, waiting) if together else {},
        virtual=_virtual(draw, waiting) if together else (),
    )


def _namespaces(draw: st.DrawFn) -> list[Document]:
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {"team": "y"} if name == "n1" else {}},
        }
        for name in NAMESPACES
        if not chance(draw, 20)
    ]


def _in_flight(
    draw: st.DrawFn, offered: list[Document], types: tuple[InstanceType, ...]
) -> list[Document]:
    if not chance(draw, 20):
        return []
    return [
        draw(claims_in_flight(number, pick(draw, *offered), types))
        for number in range(pick(draw, 1, 2))
    ]


def _running(draw: st.DrawFn, nodes: tuple[str, ...]) -> list[Document]:
    found: list[Document] = []
    for node in nodes:
        for _ in range(pick(draw, 0, 0, 1, 2)):
            name = f"old{len(found)}"
            pod = _pod(name, pick(draw, *NAMESPACES), labels(draw), draw(running_specs()))
            pod["spec"]["nodeName"] = node
            pod["status"]["phase"] = "Running"
            if chance(draw, 10):
                pod["metadata"]["deletionTimestamp"] = "2026-07-01T12:00:30Z"
            found.append(pod)
    return found


def _waiting(draw: st.DrawFn, volumes: tuple[Document, ...]) -> list[Document]:
    """Return pods, several of one kind each time."""
    found: list[Document] = []
    for _ in range(pick(draw, 1, 2, 3, 4)):
        namespace, own, spec = pick(draw, *NAMESPACES), labels(draw), draw(pod_specs())
        mine = [
            one["metadata"]["name"]
            for one in volumes
            if one["kind"] == "PersistentVolumeClaim" and one["metadata"]["namespace"] == namespace
        ]
        for _ in range(pick(draw, 1, 1, 2, 3, 5, 8)):
            pod = _pod(f"new{len(found):02}", namespace, own, spec)
            if mine and chance(draw, 40):
                claim = {"claimName": pick(draw, *mine)}
                pod["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": claim}]
            found.append(pod)
    return found


def _pod(name: str, namespace: str, own: dict[str, str], spec: Document) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": name,
            "labels": own,
            "creationTimestamp": "2026-07-01T11:00:00Z",
        },
        "spec": dict(spec),
        "status": {"phase": "Pending"},
    }


def _gangs(draw: st.DrawFn, waiting: list[Document]) -> dict[str, tuple[int, tuple[str, ...]]]:
    if not chance(draw, 15):
        return {}
    found: dict[str, tuple[int, tuple[str, ...]]] = {}
    uids = [pod["metadata"]["uid"] for pod in waiting]
    for name in ("train", "serve")[: pick(draw, 1, 2)]:
        count = min(pick(draw, 2, 3, 5), len(uids))
        members, uids = tuple(uids[:count]), uids[count:]
        if members:
            found[name] = max(1, count - pick(draw, 0, 0, 1)), members
    return found


def _virtual(draw: st.DrawFn, waiting: list[Document]) -> tuple[str, ...]:
    """Return pods that only keep room: the last ones, as many as there are."""
    if not chance(draw, 10):
        return ()
    return tuple(pod["metadata"]["uid"] for pod in waiting[-pick(draw, 1, 2) :])
