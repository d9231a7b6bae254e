"""Nodes, claims, pools, catalogues and workloads."""

from hypothesis import strategies as st

from libs.domain import capacity, node, nodeclaim, nodepool, workload
from libs.domain import labels as keys
from libs.domain.requirements import Requirements
from tests.support.strategies.pod import attach_counts, device_pools, taints
from tests.support.strategies.values import (
    amounts,
    by_key,
    counts,
    flags,
    instants,
    label_pairs,
    label_selectors,
    names,
    requirements,
    resources,
    signed,
    some,
    sorted_names,
    spans,
    texts,
    tuples,
)

class_refs = st.builds(capacity.NodeClassRef, group=names, kind=names, name=names)


@st.composite
def offerings(draw: st.DrawFn) -> capacity.Offering:
    zone, capacity_type = draw(names), draw(st.sampled_from(capacity.CapacityType))
    own = Requirements.from_labels({keys.ZONE: zone, keys.CAPACITY_TYPE: capacity_type})
    return capacity.Offering(
        zone=zone,
        capacity_type=capacity_type.value,
        price_nanos_per_hour=draw(amounts),
        available=draw(flags),
        requirements=own.intersection(draw(requirements)),
        reservation_id=draw(texts),
        reservation_capacity=draw(amounts),
        capacity_override=draw(resources),
        overhead_override=draw(resources),
    )


instance_types = st.builds(
    capacity.InstanceType,
    name=names,
    requirements=requirements,
    capacity=resources,
    overhead=resources,
    offerings=by_key(offerings(), lambda one: (one.zone, one.capacity_type, one.reservation_id)),
    device_pools=tuples(device_pools, 1),
)
catalogues = st.builds(
    capacity.Catalogue,
    node_class=class_refs,
    etag=texts,
    observed_at=instants,
    instance_types=by_key(instance_types, lambda one: one.name),
    well_known_keys=sorted_names,
)
observed = st.builds(
    capacity.ObservedAllocatable,
    node_class=class_refs,
    instance_type=names,
    allocatable=resources,
)

budgets = st.builds(
    nodepool.Budget,
    nodes=counts,
    percent=st.none(),
    reasons=st.frozensets(st.sampled_from(nodepool.DisruptionReason)),
    schedule=texts,
    duration=some(spans),
) | st.builds(nodepool.Budget, percent=st.integers(0, 100))
nodepools = st.builds(
    nodepool.NodePool,
    name=names,
    uid=names,
    generation=amounts,
    hash=texts,
    weight=counts,
    template=st.builds(
        nodepool.NodeTemplate,
        labels=label_pairs,
        annotations=label_pairs,
        requirements=requirements,
        taints=tuples(taints),
        startup_taints=tuples(taints),
        node_class=class_refs,
        expire_after=some(spans),
        termination_grace_period=some(spans),
    ),
    disruption=st.builds(
        nodepool.Disruption,
        consolidate_after=some(spans),
        consolidation_policy=st.sampled_from(nodepool.ConsolidationPolicy),
        budgets=tuples(budgets),
    ),
    limits=resources,
    replicas=some(amounts),
    ready=flags,
    problems=tuples(texts),
)
conditions = st.builds(
    nodeclaim.Condition,
    type=names,
    status=st.sampled_from(nodeclaim.ConditionStatus),
    reason=texts,
    transitioned_at=instants,
)
nodeclaims = st.builds(
    nodeclaim.NodeClaim,
    name=names,
    uid=names,
    nodepool=texts,
    node_class=class_refs,
    labels=label_pairs,
    annotations=label_pairs,
    requirements=requirements,
    requests=resources,
    taints=tuples(taints),
    startup_taints=tuples(taints),
    provider_id=texts,
    node_name=texts,
    capacity=resources,
    allocatable=resources,
    conditions=by_key(conditions, lambda one: one.type),
    created_at=instants,
    deleting_at=some(instants),
    last_pod_event_at=some(instants),
    expire_after=some(spans),
    termination_grace_period=some(spans),
    command=some(st.builds(nodeclaim.ClaimCommand, id=names, replacements=tuples(names))),
    nominated_until=some(instants),
)
nodes = st.builds(
    node.Node,
    name=names,
    uid=names,
    provider_id=texts,
    nodeclaim=texts,
    labels=label_pairs,
    taints=tuples(taints),
    unschedulable=flags,
    capacity=resources,
    allocatable=resources,
    ready=flags,
    registered=flags,
    initialized=flags,
    do_not_disrupt=flags,
    leaving=flags,
    volume_limits=tuples(attach_counts),
    migrated_labels=by_key(names, str),
    declared_features=by_key(names, str),
    created_at=instants,
    nominated_until=some(instants),
)

daemonsets = st.builds(
    workload.DaemonSet, namespace=names, name=names, uid=names, shape=st.integers(0, 3)
)
pod_disruption_budgets = st.builds(
    workload.PodDisruptionBudget,
    namespace=names,
    name=names,
    uid=names,
    selector=some(label_selectors()),
    disruptions_allowed=counts,
    evicts_unhealthy_always=flags,
    never_satisfiable=flags,
)
namespaces = st.builds(workload.Namespace, name=names, labels=label_pairs)
buffers = st.builds(
    workload.CapacityBuffer,
    namespace=names,
    name=names,
    uid=names,
    shape=st.integers(0, 3),
    replicas=counts,
    problem=texts,
)
gangs = st.builds(
    workload.Gang, namespace=names, name=names, min_members=counts, existing_only=flags
)
overlays = st.builds(
    workload.NodeOverlay,
    name=names,
    uid=names,
    weight=counts,
    requirements=requirements,
    price_nanos_per_hour=st.none(),
    price_delta_nanos_per_hour=st.none(),
    price_delta_ppm=some(st.integers(-1_000_000, 9)),
    capacity=resources,
) | st.builds(
    workload.NodeOverlay,
    name=names,
    uid=names,
    requirements=requirements,
    price_nanos_per_hour=st.none(),
    price_delta_nanos_per_hour=signed,
    capacity=resources,
)
set_aside = st.builds(
    workload.SetAside,
    kind=names,
    namespace=texts,
    name=names,
    field=texts,
    message=texts,
    since=instants,
)
