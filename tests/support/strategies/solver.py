"""What the solver is asked and answers."""

from hypothesis import strategies as st

from libs.domain import feature_gates, objective, question, scenario, solution
from libs.domain.pod import Target
from libs.domain.price_change import LEAST_DELTA_PPM, MOST_DELTA_PPM
from libs.domain.reason import TargetKind
from tests.support.strategies.cluster import nodepools, overlays
from tests.support.strategies.decision import plans
from tests.support.strategies.pod import shapes
from tests.support.strategies.snapshot import snapshot_ids
from tests.support.strategies.values import (
    amounts,
    counts,
    flags,
    instants,
    names,
    requirements,
    signed,
    some,
    sorted_names,
    spans,
    texts,
    tuples,
)

small = st.integers(0, 10**12)
objectives = st.builds(
    objective.Objective,
    interruption_nanos_per_hour=small,
    node_nanos_per_hour=small,
    licences=tuples(st.builds(objective.Licence, nodes=requirements, nanos_per_hour=small)),
    blast_radius=some(
        st.builds(
            objective.BlastRadius, share_ppm=st.integers(1, 1_000_000), pod_nanos_per_hour=small
        )
    ),
    spot_diversity=some(
        st.builds(
            objective.SpotDiversity,
            share_ppm=st.integers(0, 1_000_000),
            instance_types=st.integers(0, 600),
        )
    ),
)
options = st.builds(
    solution.SolveOptions,
    preference_policy=st.sampled_from(solution.PreferencePolicy),
    min_values_policy=st.sampled_from(solution.MinValuesPolicy),
    refine_budget=spans,
    refine_iterations=some(amounts),
    feature_gates=st.dictionaries(
        st.sampled_from(sorted(feature_gates.DEFAULTS)), flags, max_size=2
    ),
    seed=signed,
    now=some(instants),
    objective=objectives,
)
solutions = st.builds(
    solution.Solution,
    snapshot=snapshot_ids,
    options=options,
    iterations=amounts,
    solver_version=texts,
    plan=plans,
    cost=st.builds(
        solution.Cost,
        new_nanos_per_hour=amounts,
        existing_nanos_per_hour=amounts,
        lower_bound_nanos_per_hour=some(amounts),
        objective_nanos_per_hour=amounts,
    ),
    plan_id=texts,
    pods=st.builds(
        solution.PodCounts,
        waiting=amounts,
        on_existing=amounts,
        on_new=amounts,
        unplaced=amounts,
    ),
)
edits = st.one_of(
    st.builds(scenario.RemoveNodes, names=tuples(names)),
    st.builds(scenario.CordonNodes, names=tuples(names)),
    st.builds(
        scenario.AddNodes,
        nodepool=names,
        instance_type=names,
        zone=names,
        capacity_type=names,
        count=st.integers(1, 9),
    ),
    st.builds(scenario.AddPods, shape=shapes, count=st.integers(1, 9)),
    st.builds(
        scenario.ScaleOwner,
        namespace=names,
        kind=names,
        name=names,
        replicas=counts,
    ),
    st.builds(scenario.PutNodePool, nodepool=nodepools),
    st.builds(scenario.RemoveNodePool, name=names),
    st.builds(scenario.PutOverlay, overlay=overlays),
    st.builds(scenario.RemoveOverlay, name=names),
    st.builds(
        scenario.EditOfferings,
        zone=texts,
        capacity_type=texts,
        instance_type=texts,
        available=flags,
        price_delta_ppm=st.none(),
    ),
    st.builds(
        scenario.EditOfferings,
        available=st.none(),
        price_delta_ppm=st.integers(LEAST_DELTA_PPM, MOST_DELTA_PPM),
    ),
)
diffs = st.builds(
    scenario.ScenarioDiff,
    removed_nodes=sorted_names,
    added_nodes=sorted_names,
    added_pods=tuples(st.builds(scenario.AddedPod, uid=names, namespace=names, name=names)),
    removed_pods=sorted_names,
    moves=tuples(
        st.builds(
            scenario.PodMove,
            pod_uids=sorted_names,
            from_node=names,
            to=st.one_of(
                counts,
                st.builds(
                    Target,
                    kind=st.sampled_from((TargetKind.NODE, TargetKind.NODECLAIM)),
                    name=names,
                ),
            ),
        )
    ),
    stranded_pods=sorted_names,
    cost_before_nanos_per_hour=amounts,
    cost_after_nanos_per_hour=amounts,
)
sources = st.builds(question.SnapshotReference, cluster_id=names, id=some(snapshot_ids))
