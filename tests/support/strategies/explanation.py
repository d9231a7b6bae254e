"""Explanations and what they are made of."""

from hypothesis import strategies as st

from libs.domain import explanation
from libs.domain.reason import Rule, TargetKind
from tests.support.strategies.cluster import class_refs
from tests.support.strategies.decision import (
    decisions,
    launch_options,
    nominations,
    planned_claims,
    pool_messages,
    rejections,
    unplaceables,
)
from tests.support.strategies.pod import taints
from tests.support.strategies.snapshot import snapshot_ids
from tests.support.strategies.solver import options
from tests.support.strategies.values import (
    amounts,
    counts,
    differences,
    flags,
    names,
    requirements,
    resources,
    some,
    sorted_names,
    texts,
    tuples,
)

changes = st.builds(
    explanation.Change,
    kind=st.sampled_from(explanation.ChangeKind),
    nodepool=texts,
    field=texts,
    old=texts,
    new=texts,
    message=texts,
    landing_kind=st.sampled_from(TargetKind),
    landing=texts,
)
pod_explanations = st.builds(
    explanation.PodExplanation,
    namespace=names,
    name=names,
    uid=texts,
    situation=st.sampled_from(explanation.PodSituation),
    message=texts,
    node=texts,
    planned=some(planned_claims),
    nearest=tuples(rejections),
    changes=tuples(changes),
    trials=counts,
    cut_short=flags,
)
refusals = st.builds(
    explanation.Refusal, rule=st.sampled_from(Rule), message=texts, pod_uids=sorted_names
)
node_explanations = st.builds(
    explanation.NodeExplanation,
    name=texts,
    nodeclaim=texts,
    nodepool=texts,
    instance_type=texts,
    zone=texts,
    capacity_type=texts,
    price_nanos_per_hour=some(amounts),
    states=tuples(texts),
    taints=tuples(taints),
    allocatable=resources,
    used=resources,
    daemons=resources,
    free=differences,
    pods=tuples(
        st.builds(explanation.PodOnNode, uid=names, namespace=names, name=names, requests=resources)
    ),
    could_take=sorted_names,
    refusals=tuples(refusals),
    options_known=flags,
)
nodepool_explanations = st.builds(
    explanation.NodePoolExplanation,
    name=names,
    weight=counts,
    position=st.integers(1, 9),
    pools=st.integers(1, 9),
    usable=flags,
    replicas=some(amounts),
    requirements=requirements,
    taints=tuples(taints),
    funnel=tuples(
        st.builds(explanation.FunnelStep, step=texts, instance_types=counts, offerings=counts)
    ),
    nodes=amounts,
    limits=resources,
    used=resources,
    left=differences,
    least_overhead=resources,
    most_overhead=resources,
    could_take=sorted_names,
    refusals=tuples(refusals),
)
explanations = st.builds(
    explanation.Explanation,
    snapshot=snapshot_ids,
    options=options,
    solver_version=texts,
    unplaceable=some(unplaceables),
    nomination=some(nominations),
    pool_messages=tuples(pool_messages),
    decision=some(decisions),
    options_by_price=tuples(launch_options),
    node_class=some(class_refs),
    pod=some(pod_explanations),
    node=some(node_explanations),
    nodepool=some(nodepool_explanations),
)
