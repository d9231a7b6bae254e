"""decode(encode(x)) == x for the nouns: everything of `model/v1` and `snapshot/v1`."""

import pytest

from libs.wire import (
    capacity,
    command,
    device,
    node,
    nodeclaim,
    nodepool,
    plan,
    pod,
    pod_table,
    reason,
    requirement,
    snapshot,
    taint,
    topology,
    workload,
)
from libs.wire import resources as wire_resources
from tests.support.messages import encode_plan, encode_pod_table
from tests.support.strategies.cluster import (
    buffers,
    catalogues,
    daemonsets,
    gangs,
    instance_types,
    namespaces,
    nodeclaims,
    nodepools,
    nodes,
    observed,
    overlays,
    pod_disruption_budgets,
    set_aside,
)
from tests.support.strategies.decision import commands, decisions, plans, unplaceables
from tests.support.strategies.pod import (
    device_claims,
    device_classes,
    device_pools,
    pod_tables,
    shapes,
    spreads,
    taints,
    tolerations,
    weighted_terms,
)
from tests.support.strategies.snapshot import snapshot_ids, updates
from tests.support.strategies.values import (
    differences,
    intersected,
    label_selectors,
    requirements,
    resources,
)
from tests.unit.libs.wire.round_trip import Case, check_round_trip

CASES: dict[str, Case] = {
    "resources": (resources, wire_resources.encode_resources, wire_resources.decode_resources),
    "difference": (differences, wire_resources.encode_resources, wire_resources.decode_difference),
    "requirement": (
        intersected(),
        requirement.encode_requirement,
        requirement.decode_requirement,
    ),
    "requirements": (
        requirements,
        requirement.encode_requirements,
        requirement.decode_requirements,
    ),
    "label selector": (
        label_selectors(),
        requirement.encode_label_selector,
        requirement.decode_label_selector,
    ),
    "taint": (taints, taint.encode_taint, taint.decode_taint),
    "toleration": (tolerations, taint.encode_toleration, taint.decode_toleration),
    "spread": (spreads, topology.encode_topology_spread, topology.decode_topology_spread),
    "affinity term": (
        weighted_terms,
        topology.encode_weighted_pod_affinity_term,
        topology.decode_weighted_pod_affinity_term,
    ),
    "device claim": (device_claims, device.encode_device_claim, device.decode_device_claim),
    "device pool": (device_pools, device.encode_device_pool, device.decode_device_pool),
    "device class": (
        device_classes,
        device.encode_device_class,
        device.decode_device_class,
    ),
    "pod shape": (shapes, pod.encode_pod_shape, pod.decode_pod_shape),
    "pod table": (pod_tables, encode_pod_table, pod_table.decode_pod_table),
    "instance type": (
        instance_types,
        capacity.encode_instance_type,
        capacity.decode_instance_type,
    ),
    "catalogue": (catalogues, capacity.encode_catalogue, capacity.decode_catalogue),
    "observed allocatable": (
        observed,
        capacity.encode_observed_allocatable,
        capacity.decode_observed_allocatable,
    ),
    "nodepool": (nodepools, nodepool.encode_nodepool, nodepool.decode_nodepool),
    "nodeclaim": (nodeclaims, nodeclaim.encode_nodeclaim, nodeclaim.decode_nodeclaim),
    "node": (nodes, node.encode_node, node.decode_node),
    "daemonset": (daemonsets, workload.encode_daemonset, workload.decode_daemonset),
    "pod disruption budget": (
        pod_disruption_budgets,
        workload.encode_pod_disruption_budget,
        workload.decode_pod_disruption_budget,
    ),
    "namespace": (namespaces, workload.encode_namespace, workload.decode_namespace),
    "buffer": (buffers, workload.encode_capacity_buffer, workload.decode_capacity_buffer),
    "gang": (gangs, workload.encode_gang, workload.decode_gang),
    "overlay": (overlays, workload.encode_node_overlay, workload.decode_node_overlay),
    "set aside": (set_aside, workload.encode_set_aside, workload.decode_set_aside),
    "unplaceable": (unplaceables, reason.encode_unplaceable, reason.decode_unplaceable),
    "plan": (plans, encode_plan, plan.decode_plan),
    "command": (commands, command.encode_command, command.decode_command),
    "decision": (decisions, command.encode_decision, command.decode_decision),
    "snapshot update": (
        updates,
        snapshot.encode_snapshot_update,
        snapshot.decode_snapshot_update,
    ),
    "push request": (
        updates | snapshot_ids,
        snapshot.encode_push_request,
        snapshot.decode_push_request,
    ),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_what_was_encoded_and_sent_is_decoded_to_an_equal_value(case: str) -> None:
    check_round_trip(CASES[case])
