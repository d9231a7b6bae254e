"""Reasons, plans and commands."""

from hypothesis import strategies as st

from libs.domain import nodepool, plan, reason
from tests.support.strategies.values import (
    amounts,
    by_key,
    counts,
    differences,
    flags,
    label_pairs,
    names,
    requirements,
    resources,
    signed,
    sorted_names,
    texts,
    tuples,
)

rules = st.sampled_from(reason.Rule)
rejections = st.builds(
    reason.Rejection,
    target_kind=st.sampled_from(reason.TargetKind),
    target=names,
    rule=rules,
    message=texts,
    nearest_instance_type=texts,
    asked=differences,
    offered=differences,
    key=texts,
    suggestion=texts,
    overhead=resources,
)
unplaceables = st.builds(
    reason.Unplaceable,
    message=texts,
    rejections=tuples(rejections),
    existing=by_key(st.tuples(rules, counts), lambda pair: pair[0]),
    deferred=flags,
    untold_pools=counts,
)
launch_options = st.builds(
    plan.LaunchOption,
    instance_type=names,
    zone=names,
    capacity_type=names,
    price_nanos_per_hour=amounts,
)
planned_claims = st.builds(
    plan.PlannedNodeClaim,
    index=st.integers(0, 9),
    nodepool=names,
    nodepool_uid=texts,
    nodepool_hash=texts,
    requirements=requirements,
    requests=resources,
    instance_types=tuples(names),
    cheapest=launch_options,
    pod_uids=sorted_names,
    labels=label_pairs,
    annotations=label_pairs,
)
nominations = st.builds(
    plan.Nomination,
    target_kind=st.sampled_from([reason.TargetKind.NODE, reason.TargetKind.NODECLAIM]),
    target=names,
    pod_uids=sorted_names,
)
pool_messages = st.builds(plan.PoolMessage, nodepool=names, rule=rules, message=texts)
plans = st.builds(
    plan.Plan,
    nodeclaims=by_key(planned_claims, lambda one: one.index),
    nominations=by_key(nominations, lambda one: (one.target_kind, one.target)),
    unplaced=by_key(
        st.builds(
            plan.UnplacedPods,
            pod_uids=by_key(names, lambda name: name, least=1),
            reason=unplaceables,
        ),
        lambda one: one.pod_uids[0],
    ),
    pool_messages=tuples(pool_messages, 1),
    buffers=by_key(
        st.builds(
            plan.BufferVerdict,
            namespace=names,
            name=names,
            fit_existing=counts,
            need_new=counts,
            unplaced=counts,
            problem=texts,
        ),
        lambda one: (one.namespace, one.name),
    ),
    overlays=by_key(
        st.builds(plan.OverlayVerdict, name=names, applied=flags, problem=texts),
        lambda one: one.name,
    ),
)
candidates = st.builds(
    plan.Candidate,
    nodeclaim=names,
    nodeclaim_uid=names,
    node=names,
    nodepool=names,
    pod_uids=sorted_names,
)
commands = st.builds(
    plan.Command,
    id=names,
    reason=st.sampled_from(nodepool.DisruptionReason),
    candidates=by_key(candidates, lambda one: one.nodeclaim, least=1),
    replacements=tuples(planned_claims, 1),
    saving_nanos_per_hour=signed,
    nominations=by_key(nominations, lambda one: (one.target_kind, one.target)),
)
decisions = st.builds(
    plan.Decision,
    node=names,
    nodeclaim=texts,
    candidate=flags,
    blockers=tuples(st.builds(plan.Blocker, kind=names, object=texts, message=texts)),
    command_id=texts,
)
