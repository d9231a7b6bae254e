"""Law 10 by force: one field of one object is replaced by nonsense, everything else goes on.

Whatever decodes, the snapshot is taken, consistent, and the same after a trip over the wire.
"""

import copy
from collections.abc import Iterator
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.cluster.files import load
from libs.cluster.state import ClusterState, StateOptions
from libs.domain.capacity import NodeClassRef
from libs.domain.errors import InvalidRequest
from libs.domain.snapshot import full
from libs.wire.snapshot import decode_full_snapshot, encode_snapshot_update
from tests.unit.libs.cluster.clusters import an_object_of, taken
from tests.unit.libs.cluster.test_scenario import DUMP
from tests.unit.libs.kube.manifests import (
    CLASS,
    Document,
    a_container,
    a_nodeclaim,
    a_nodepool,
    a_pod,
    an_object,
)

Path = tuple[str | int, ...]

OPTIONS = StateOptions(offline=True, capacity_buffers=True)
TERM = {
    "topologyKey": "zone",
    "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
    "namespaceSelector": {"matchLabels": {"a": "b"}},
    "matchLabelKeys": ["app"],
}
SPREAD = {
    "topologyKey": "zone",
    "maxSkew": 1,
    "whenUnsatisfiable": "DoNotSchedule",
    "minDomains": 2,
    "labelSelector": {"matchLabels": {"a": "b"}},
}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
DOCUMENTS: list[Document] = [
    *(one for one in yaml.safe_load(DUMP)["items"] if one["kind"] != "Service"),
    a_pod(
        "constrained",
        labels={"app": "x", "scheduling.x-k8s.io/pod-group": "gang"},
        tolerations=[{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
        topologySpreadConstraints=[SPREAD],
        affinity={"podAntiAffinity": {REQUIRED: [TERM]}},
        resourceClaims=[{"name": "gpu", "resourceClaimName": "claim"}],
        containers=[a_container("1", ports=[{"containerPort": 1, "hostPort": 80}])],
        overhead={"cpu": "1"},
        priority=3,
    ),
    a_nodepool(
        "taints",
        template={
            "taints": [{"key": "a", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}],
            "requirements": [{"key": "a", "operator": "In", "values": ["b"], "minValues": 1}],
            "terminationGracePeriod": "5m",
        },
        disruption={"budgets": [{"nodes": "1", "schedule": "0 0 * * *", "duration": "1h"}]},
    ),
    a_nodeclaim(
        "commanded",
        meta={"annotations": {"joiner.io/command": "id=c;replacements=general-1"}},
        startupTaints=[{"key": "a", "effect": "NoSchedule"}],
        resources={"requests": {"cpu": "1"}},
        status={
            "capacity": {"cpu": "1"},
            "conditions": [{"type": "Launched", "status": "True"}],
        },
    ),
    an_object(
        "karpenter.sh/v1alpha1",
        "NodeOverlay",
        "overlay",
        spec={"priceAdjustment": "-10%", "capacity": {"x.io/y": "1"}, "weight": 2},
    ),
    an_object(
        "autoscaling.x-k8s.io/v1beta1",
        "CapacityBuffer",
        "buffer",
        "default",
        spec={"podTemplateRef": {"name": "template"}, "replicas": 2, "limits": {"cpu": "3"}},
    ),
    an_object(
        "v1",
        "PodTemplate",
        "template",
        "default",
        template={"spec": {"containers": [a_container("1")]}},
    ),
    an_object(
        "resource.k8s.io/v1",
        "ResourceSlice",
        "slice",
        spec={
            "driver": "d",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [
                {
                    "name": "x",
                    "attributes": {"a": {"string": "b"}},
                    "capacity": {"m": {"value": "1Gi"}},
                    "consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1"}}}],
                }
            ],
        },
    ),
    an_object(
        "resource.k8s.io/v1",
        "ResourceClaim",
        "claim",
        "default",
        spec={"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}},
    ),
    an_object("scheduling.k8s.io/v1alpha2", "PodGroup", "gang", "default", spec={"minMember": 2}),
]
NONSENSE: list[Any] = [
    None,
    -1,
    0,
    2**31,
    2**63,
    2**64,
    1e400,
    -0.5,
    True,
    "",
    "x",
    "-1",
    "1e999",
    "a b",
    "é" * 300,
    [],
    {},
    [{}],
    [None],
    {"": ""},
    "99999999999999999999",
    "Exists",
    "kubernetes.io/hostname",
]


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _paths(one, (*path, name))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _paths(one, (*path, index))


PLACES = [
    (index, path)
    for index, document in enumerate(DOCUMENTS)
    for path in _paths(document)
    if path[0] not in ("apiVersion", "kind")
]


def _mutated(place: tuple[int, Path], nonsense: Any) -> list[Document]:
    documents = copy.deepcopy(DOCUMENTS)
    index, path = place
    parent: Any = documents[index]
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = nonsense
    return documents


@given(place=st.sampled_from(PLACES), nonsense=st.sampled_from(NONSENSE))
@settings(max_examples=200, derandomize=True)
def test_one_field_of_nonsense_costs_its_object_at_most(
    place: tuple[int, Path], nonsense: Any
) -> None:
    state = ClusterState(OPTIONS)
    for document in _mutated(place, nonsense):
        try:
            state.upsert(an_object_of(document))
        except InvalidRequest:
            continue

    snapshot = taken(state)

    assert decode_full_snapshot(encode_snapshot_update(full(snapshot))) == snapshot


@given(place=st.sampled_from(PLACES), nonsense=st.sampled_from(NONSENSE))
@settings(max_examples=200, derandomize=True)
def test_a_file_with_nonsense_is_an_error_or_is_read(
    place: tuple[int, Path], nonsense: Any
) -> None:
    documents = [("file", one) for one in _mutated(place, nonsense)]
    try:
        loaded = load(documents, default_class=NodeClassRef(**CLASS), options=OPTIONS)
    except InvalidRequest:
        return
    taken(loaded.state)
