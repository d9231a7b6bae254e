"""kube-scheduler's filter plugins, a module each, and their order.

Each filter looks at the pod and the whole cluster first and may refuse the pod at once; what it
returns is then asked about every node. A node counts for the first plugin that refuses it. The
order is that of kube-scheduler's default profile, and decides which reasons are seen.

Source: kube-scheduler's default plugins (1.36).
"""

from libs.oracle.filters import (
    dynamic_resources,
    inter_pod_affinity,
    node_affinity,
    node_declared_features,
    node_name,
    node_ports,
    node_resources_fit,
    node_unschedulable,
    node_volume_limits,
    pod_topology_spread,
    scheduling_gates,
    taint_toleration,
    volume_binding,
    volume_restrictions,
    volume_zone,
)
from libs.oracle.filters.plugin import Prepare

FILTERS: tuple[tuple[str, Prepare], ...] = (
    ("SchedulingGates", scheduling_gates.prepare),
    ("NodeAffinity", node_affinity.narrow),
    ("NodeUnschedulable", node_unschedulable.prepare),
    ("NodeName", node_name.prepare),
    ("TaintToleration", taint_toleration.prepare),
    ("NodeAffinity", node_affinity.prepare),
    ("NodePorts", node_ports.prepare),
    ("NodeResourcesFit", node_resources_fit.prepare),
    ("VolumeRestrictions", volume_restrictions.prepare),
    ("NodeVolumeLimits", node_volume_limits.prepare),
    ("VolumeBinding", volume_binding.prepare),
    ("VolumeZone", volume_zone.prepare),
    ("PodTopologySpread", pod_topology_spread.prepare),
    ("InterPodAffinity", inter_pod_affinity.prepare),
    ("NodeDeclaredFeatures", node_declared_features.prepare),
    ("DynamicResources", dynamic_resources.prepare),
)
"""(plugin, filter) in the order in which kube-scheduler runs them."""
