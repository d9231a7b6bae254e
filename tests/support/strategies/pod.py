"""Pod shapes, rows and what they are made of."""

from hypothesis import strategies as st

from libs.domain import device, pod, taint, topology, volume
from libs.domain.pod_table import PodTable
from libs.domain.reason import TargetKind
from tests.support.strategies.values import (
    amounts,
    by_key,
    counts,
    flags,
    label_pairs,
    label_selectors,
    names,
    requests,
    requirements,
    resources,
    signed,
    some,
    sorted_names,
    texts,
    tuples,
)

taints = st.builds(taint.Taint, key=names, value=texts, effect=st.sampled_from(taint.Effect))
tolerations = st.builds(
    taint.Toleration,
    key=names,
    operator=st.sampled_from(taint.TolerationOperator),
    value=texts,
    effect=some(st.sampled_from(taint.Effect)),
    seconds=st.none(),
)

spreads = st.builds(
    topology.TopologySpread,
    topology_key=names,
    max_skew=st.integers(1, 2**31 - 1),
    required=flags,
    selector=some(label_selectors()),
    min_domains=some(st.integers(1, 9)),
    node_affinity_policy=st.sampled_from(topology.NodeInclusionPolicy),
    node_taints_policy=st.sampled_from(topology.NodeInclusionPolicy),
)
affinity_terms = st.builds(
    topology.PodAffinityTerm,
    topology_key=names,
    selector=some(label_selectors()),
    namespaces=sorted_names,
    namespace_selector=some(label_selectors()),
)
weights = st.integers(1, 100)
weighted_terms = st.builds(topology.WeightedPodAffinityTerm, weight=weights, term=affinity_terms)

dimensions = st.builds(device.DeviceCapacity, name=names, amount=amounts)
device_claims = st.builds(
    device.DeviceClaim,
    claim=texts,
    requests=tuples(
        st.builds(
            device.DeviceRequest,
            name=names,
            alternatives=tuples(
                st.builds(
                    device.DeviceSubRequest,
                    device_class=names,
                    name=texts,
                    selectors=tuples(texts),
                    count=amounts,
                    all=flags,
                    capacity=tuples(dimensions),
                    tolerations=tuples(
                        st.builds(
                            taint.Toleration,
                            key=texts,
                            operator=st.sampled_from(
                                [taint.TolerationOperator.EQUAL, taint.TolerationOperator.EXISTS]
                            ),
                            value=texts,
                            effect=some(st.sampled_from(taint.Effect)),
                        )
                    ),
                    admin_access=flags,
                ),
                least=1,
            ),
        )
    ),
    constraints=tuples(
        st.builds(device.DeviceConstraint, match_attribute=names, requests=tuples(names))
        | st.builds(device.DeviceConstraint, distinct_attribute=names, requests=tuples(names))
    ),
    allocated_terms=tuples(requirements),
    reserved_for=sorted_names,
)
counter_uses = st.builds(device.CounterUse, counter_set=names, amounts=resources)
attributes = st.builds(
    device.DeviceAttribute,
    name=names,
    value=texts
    | signed
    | flags
    | st.builds(device.DeviceVersion, text=texts)
    | st.builds(device.CommonValue, group=texts),
)
devices = st.builds(
    device.Device,
    name=names,
    attributes=by_key(attributes, lambda one: one.name),
    capacity=by_key(
        st.builds(
            device.DeviceCapacity,
            name=names,
            amount=amounts,
            policy=some(
                st.builds(
                    device.CapacityPolicy,
                    default=some(amounts),
                    valid_values=tuples(amounts),
                    least=some(amounts),
                    most=some(amounts),
                    step=some(st.integers(1, 2**63 - 1)),
                )
            ),
        ),
        lambda one: one.name,
    ),
    shared=flags,
    counters=tuples(counter_uses),
    taints=tuples(taints),
    node_terms=tuples(requirements),
    binds_to_node=flags,
    has_binding_conditions=flags,
)
device_pools = st.builds(
    device.DevicePool,
    driver=names,
    pool=names,
    devices=by_key(devices, lambda one: one.name),
    counters=tuples(counter_uses),
    node_name=texts,
    node_terms=tuples(requirements),
    allocated=tuples(names),
    complete=flags,
    holds=tuples(
        st.builds(
            device.DeviceHold,
            device=names,
            claim=names,
            shared=flags,
            consumed=tuples(dimensions),
            reserved_for=sorted_names,
        )
    ),
    problem=texts,
)
device_classes = st.builds(
    device.DeviceClass, name=names, selectors=tuples(texts), extended_resource=texts
)

volume_kinds = st.builds(
    volume.VolumeKind,
    key=names,
    places=tuples(
        st.builds(
            volume.VolumePlace,
            rank=counts,
            count=st.integers(1, 2**31),
            terms=tuples(requirements, least=1),
        )
    ),
)
attach_counts = st.builds(pod.VolumeAttachCount, driver=names, count=counts)
shapes = st.builds(
    pod.PodShape,
    id=st.integers(0, 3),
    namespace=names,
    labels=label_pairs,
    requests=requests,
    node_selector=requirements,
    required_node_terms=tuples(
        st.builds(
            pod.NodeTerm,
            requirements=requirements,
            node_names=sorted_names,
            excluded_node_names=sorted_names,
        )
    ),
    preferred_node_terms=tuples(
        st.builds(topology.PreferredNodeTerm, weight=weights, requirements=requirements)
    ),
    tolerations=tuples(tolerations),
    host_ports=tuples(
        st.builds(
            pod.HostPort,
            ip=names,
            protocol=st.sampled_from(["TCP", "UDP", "SCTP"]),
            port=st.integers(1, 65_535),
        )
    ),
    topology_spread=tuples(spreads),
    affinity=tuples(affinity_terms, 1),
    anti_affinity=tuples(affinity_terms, 1),
    preferred_affinity=tuples(weighted_terms, 1),
    preferred_anti_affinity=tuples(weighted_terms, 1),
    volumes=tuples(tuples(requirements, least=1)),
    volume_attach_counts=tuples(attach_counts),
    device_claims=tuples(device_claims, 1),
    shared_volumes=tuples(
        st.builds(pod.SharedVolume, claim=names, driver=texts, exclusive=flags, topology_key=texts)
    ),
    exclusive_disks=tuples(st.builds(pod.ExclusiveDisk, disk=names, read_only=flags)),
    storage_rooms=tuples(
        st.builds(
            pod.StorageRoom,
            storage_class=names,
            size=st.integers(0, 2**63 - 1),
            published=tuples(requirements),
            starting=tuples(requirements),
        )
    ),
    unbound_claims=tuples(
        st.builds(
            volume.UnboundClaim,
            claim=texts,
            kinds=tuples(names),
            made=tuples(requirements, 1),
            made_at_start=tuples(requirements, 1),
        ),
        1,
    ),
    required_features=by_key(names, str),
    request_fields=tuples(
        st.builds(
            pod.RequestField,
            resource=names,
            field=names,
            amount=st.integers(0, 2**63 - 1),
            without=st.integers(0, 2**63 - 1),
        )
    ),
)
owners = st.builds(pod.Owner, api_version=names, kind=names, name=names, uid=names)
milliseconds = st.integers(0, 253_402_300_799_999)
int32s = st.integers(-(2**31), 2**31 - 1)
targets = st.builds(
    pod.Target,
    kind=st.sampled_from([TargetKind.NODE, TargetKind.NODECLAIM]),
    name=names,
)
rows = st.builds(
    pod.PodRow,
    uid=names,
    namespace=names,
    name=names,
    shape=st.integers(0, 3),
    node=st.sampled_from(["", "a", "b"]),
    phase=st.sampled_from(pod.PodPhase),
    ready=flags,
    provisionable=flags,
    created_ms=milliseconds,
    started_ms=milliseconds,
    deleting_ms=milliseconds,
    priority=int32s,
    deletion_cost=int32s,
    do_not_disrupt_ms=milliseconds | st.just(-1),
    owner=some(owners),
    volume_claims=sorted_names,
    gang=texts,
    target=some(targets),
    nominated=st.sampled_from(["", "a", "b"]),
)
pod_tables = st.lists(rows, max_size=6).map(PodTable.from_rows)
