"""Everything that has a shape: pods, DaemonSets, virtual pods of buffers.

Apart because they are completed together: a shape keeps of its pods' labels only those that some
selector reads, whoever's it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from libs.cluster import workloads
from libs.cluster.default_spread import DefaultSpread
from libs.cluster.objects import Key, Objects
from libs.cluster.pods import Placement, Pods, spread_by_default
from libs.cluster.problems import Problems
from libs.cluster.resolving import Resolver
from libs.cluster.shapes import RawShape, Shapes
from libs.domain.node import Node
from libs.domain.pod import PodRow, PodShape
from libs.domain.pod_table import PodTable
from libs.domain.topology import TopologySpread
from libs.domain.workload import CapacityBuffer, DaemonSet, PodDisruptionBudget
from libs.kube.convert.selectors import selected_keys
from libs.kube.objects import policy


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapedInputs:
    """What shapes are completed from."""

    objects: Objects
    pods: Pods
    shapes: Shapes
    nodes: Mapping[str, Node]
    gangs: Mapping[str, object]
    """By key."""
    budgets: tuple[PodDisruptionBudget, ...]
    resolver: Resolver
    default_spread: tuple[TopologySpread, ...]
    """Constraints of pods that have none, without selectors."""
    capacity_buffers: bool
    """Whether buffers get virtual pods."""


@dataclass(slots=True, kw_only=True)
class Shaped:
    """Parts of a snapshot."""

    pods: PodTable
    virtual: list[PodRow]
    """Pods of buffers."""
    shapes: dict[int, PodShape]
    """By number."""
    daemonsets: list[DaemonSet]
    buffers: list[CapacityBuffer]
    namespaces: set[str]
    """Those that pods, DaemonSets and buffers are in."""
    namespace_keys: frozenset[str]
    """Label keys of namespaces that some selector reads."""


def shaped(inputs: ShapedInputs, problems: Problems) -> Shaped:
    """Return the pods, DaemonSets and buffers with the numbers of their shapes."""
    daemons = workloads.daemons(inputs.objects, inputs.pods.daemons(), inputs.shapes, problems)
    buffers = {}
    if inputs.capacity_buffers:
        buffers = workloads.buffers(inputs.objects, inputs.shapes, problems.refused)
    templated = [*daemons.values(), *(b.pods for b in buffers.values() if b.pods is not None)]
    raws = [*inputs.pods.raws(), *(one.raw for one in templated)]
    defaults = DefaultSpread(inputs.default_spread, inputs.objects)
    tracked = _tracked(raws, inputs.pods, defaults, inputs.budgets)
    placement = Placement(
        nodes=inputs.nodes,
        gangs=inputs.gangs,
        pod_groups=inputs.objects.of(policy.PodGroup),
        tracked=tracked,
        resolver=inputs.resolver,
        default_spread=defaults,
    )
    completed = inputs.pods.complete(placement, problems)
    found = Shaped(
        pods=completed.pods,
        virtual=[],
        shapes=completed.shapes,
        daemonsets=[],
        buffers=[],
        namespaces={
            *(shape.namespace for shape in completed.shapes.values()),
            *(namespace for namespace, _ in (*daemons, *buffers)),
        },
        namespace_keys=frozenset().union(*{raw.namespace_keys for raw in raws}),
    )
    _add_daemons(found, daemons, tracked, inputs)
    _add_buffers(found, buffers, tracked, inputs.shapes)
    inputs.shapes.prune(raws, found.shapes)
    return found


def _tracked(
    raws: Iterable[RawShape],
    pods: Pods,
    defaults: DefaultSpread,
    budgets: Iterable[PodDisruptionBudget],
) -> frozenset[str]:
    """Return the label keys of pods that some selector reads."""
    records = pods.records() if defaults.configured else ()
    assumed = {one for record in records for one in spread_by_default(record, defaults)}
    return frozenset().union(
        *{raw.pod_keys for raw in raws},
        selected_keys(one.selector for one in budgets),
        selected_keys(one.selector for one in assumed),
    )


def _add_daemons(
    found: Shaped,
    daemons: Mapping[Key, workloads.Templated],
    tracked: frozenset[str],
    inputs: ShapedInputs,
) -> None:
    for key in sorted(daemons):
        made = daemons[key]
        devices = inputs.resolver.of_template(key[0], made.resource_claims)
        shape = made.finish(inputs.shapes, tracked, devices)
        found.shapes[shape.id] = shape
        found.daemonsets.append(workloads.daemonset(key, inputs.objects, shape.id))


def _add_buffers(
    found: Shaped,
    buffers: Mapping[Key, workloads.Buffer],
    tracked: frozenset[str],
    shapes: Shapes,
) -> None:
    for key in sorted(buffers):
        buffer = buffers[key]
        if buffer.pods is None:
            found.buffers.append(buffer.value)
            continue
        shape = buffer.pods.finish(shapes, tracked)
        found.shapes[shape.id] = shape
        found.buffers.append(replace(buffer.value, shape=shape.id))
        found.virtual.extend(workloads.virtual_rows(buffer, shape.id))
