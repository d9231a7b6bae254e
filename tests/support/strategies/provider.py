"""What providers are asked and answer."""

from hypothesis import strategies as st

from libs.domain import provider
from libs.domain.nodeclaim import ConditionStatus
from tests.support.strategies.cluster import class_refs, instance_types
from tests.support.strategies.pod import taints
from tests.support.strategies.values import (
    amounts,
    by_key,
    flags,
    instants,
    label_pairs,
    names,
    requirements,
    resources,
    some,
    sorted_names,
    spans,
    texts,
    tuples,
)

json = st.recursive(
    st.none() | flags | texts | st.integers(-(2**53), 2**53) | st.just(0.5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2),
    max_leaves=5,
)
objects = st.dictionaries(names, json, max_size=2)
node_classes = st.builds(
    provider.NodeClass,
    ref=class_refs,
    uid=names,
    generation=amounts,
    spec=objects,
    status=objects,
)
instances = st.builds(
    provider.Instance,
    provider_id=names,
    nodeclaim=texts,
    nodeclaim_uid=texts,
    image_id=texts,
    labels=label_pairs,
    annotations=label_pairs,
    capacity=resources,
    allocatable=resources,
    launched_at=instants,
    terminating=flags,
)
failures = st.builds(
    provider.LaunchFailure,
    kind=st.sampled_from(provider.LaunchFailureKind),
    reason=texts,
    message=texts,
)
batches = st.builds(
    provider.LaunchBatch,
    batch_id=names,
    spec=st.builds(
        provider.LaunchSpec,
        node_class=node_classes,
        requirements=requirements,
        requests=resources,
        labels=label_pairs,
        annotations=label_pairs,
        taints=tuples(taints),
        startup_taints=tuples(taints),
        nodepool=texts,
    ),
    claims=by_key(
        st.builds(provider.ClaimLaunch, name=names, uid=names),
        lambda claim: claim.name,
        least=1,
    ),
)
capabilities = st.builds(
    provider.Capabilities,
    name=names,
    group=names,
    kind=names,
    versions=tuples(names),
    well_known_keys=sorted_names,
    restricted_domains=sorted_names,
    unsupported_topology_keys=sorted_names,
    unsupported_provisioners=sorted_names,
    repair_policies=tuples(
        st.builds(
            provider.RepairPolicy,
            condition_type=names,
            condition_status=st.sampled_from(ConditionStatus),
            toleration=spans,
        )
    ),
    registration_hooks=tuples(names),
    reservation_id_key=texts,
)
resolved = st.builds(
    provider.ResolvedNodeClass,
    status=objects,
    conditions=by_key(
        st.builds(
            provider.NodeClassCondition,
            type=names,
            status=st.sampled_from(ConditionStatus),
            reason=texts,
            message=texts,
        ),
        lambda one: one.type,
    ),
    hash=texts,
    hash_version=texts,
)
listings = st.builds(
    provider.InstanceTypeListing,
    etag=names,
    instance_types=by_key(instance_types, lambda one: one.name),
) | st.builds(provider.InstanceTypeListing, etag=names, not_modified=st.just(True))
events = st.builds(
    provider.ProviderEvent,
    id=names,
    provider_id=names,
    kind=st.sampled_from(provider.ProviderEventKind),
    effective_at=some(instants),
    message=texts,
)
