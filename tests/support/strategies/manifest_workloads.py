"""What is no constraint of one pod, as Kubernetes documents: gangs, buffers, overlays."""

from typing import Any

from hypothesis import strategies as st

from tests.support.strategies.choices import chance, pick, some_of
from tests.support.strategies.manifest_pods import (
    CAPACITY_TYPE,
    NAMESPACES,
    TYPES,
    ZONE,
    ZONES,
    Document,
    labels,
    pod_specs,
)

_GROUP_LABEL = "scheduling.x-k8s.io/pod-group"


def gangs(draw: st.DrawFn, pods: list[Document]) -> list[Document]:
    """Return groups, of which some of the pods become members; those may run already."""
    found = []
    for name in ("train", "serve")[: pick(draw, 1, 2)]:
        namespace = pick(draw, *NAMESPACES)
        free = [
            pod["metadata"]
            for pod in pods
            if pod["metadata"]["namespace"] == namespace
            and _GROUP_LABEL not in pod["metadata"]["labels"]
        ]
        members = free[: pick(draw, 2, 3, 5)]
        for metadata in members:
            metadata["labels"] = {**metadata["labels"], _GROUP_LABEL: name}
        least = max(1, len(members) - pick(draw, 0, 0, 1))
        group = _object("scheduling.x-k8s.io/v1alpha1", "PodGroup", name, {"minMember": least})
        group["metadata"]["namespace"] = namespace
        found.append(group)
    return found


@st.composite
def buffers(draw: st.DrawFn) -> tuple[Document, ...]:
    """Return a buffer and the template of its virtual pods."""
    namespace = pick(draw, *NAMESPACES)
    template = {"metadata": {"labels": labels(draw)}, "spec": draw(pod_specs())}
    spec = {"podTemplateRef": {"name": "room"}, "replicas": pick(draw, 1, 2, 3)}
    found = (
        {**_object("v1", "PodTemplate", "room", {}), "template": template},
        _object("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "room", spec),
    )
    for one in found:
        one["metadata"]["namespace"] = namespace
    return found


@st.composite
def overlays(draw: st.DrawFn, number: int) -> Document:
    """Return an overlay of prices or capacities."""
    key, values = pick(
        draw,
        ("node.kubernetes.io/instance-type", TYPES),
        (ZONE, ZONES),
        (CAPACITY_TYPE, ("spot", "on-demand", "reserved")),
        ("karpenter.sh/nodepool", ("p0", "p1")),
    )
    wanted = {"key": key, "operator": pick(draw, "In", "NotIn"), "values": some_of(draw, values, 2)}
    spec: Any = {"requirements": [wanted], "weight": pick(draw, 1, 1, 10)}
    spec |= pick(
        draw,
        {"priceAdjustment": "-50%"},
        {"price": "0.001"},
        {"priceAdjustment": "+0.5"},
        {"capacity": {"example.com/slots": "2"}},
    )
    return _object("karpenter.sh/v1alpha1", "NodeOverlay", f"overlay{number}", spec)


def uses_slots(draw: st.DrawFn, pod: Document) -> None:
    """Let the pod sometimes ask for what only an overlay promises."""
    if chance(draw, 15):
        first = pod["spec"]["containers"][0]
        limits = {**first["resources"].get("limits", {}), "example.com/slots": "1"}
        resources = {**first["resources"], "limits": limits}
        rest = pod["spec"]["containers"][1:]
        pod["spec"]["containers"] = [{**first, "resources": resources}, *rest]


def _object(api_version: str, kind: str, name: str, spec: Document) -> Document:
    metadata = {"name": name, "uid": f"{kind}-{name}"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
