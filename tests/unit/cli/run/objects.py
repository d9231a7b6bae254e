"""Pods, nodes and claims as the run sees them: valid by default, overridden by keyword."""

from cli.run.progress import World
from cli.run.workload import NAME
from libs.kube.objects.karpenter import (
    ClaimResources,
    NodeClaim,
    NodeClaimSpec,
    NodeClaimStatus,
)
from libs.kube.objects.metadata import Condition, Instant, ObjectMeta, OwnerReference
from libs.kube.objects.node import Node, NodeStatus
from libs.kube.objects.pod import Container, Pod, PodSpec, PodStatus, ResourceRequirements
from tests.support.builders import NOW

PRICES = {("m5.large", "a", "spot"): 50_000_000, ("m5.xlarge", "a", "spot"): 100_000_000}


def a_pod(
    name: str = "web-1",
    *,
    workload: str = "web",
    node: str = "",
    ready: bool = False,
    unschedulable: bool = False,
    leaving: bool = False,
    owner: str = "ReplicaSet",
    phase: str = "",
) -> Pod:
    conditions = [Condition(type="Ready", status="True" if ready else "False")]
    if unschedulable:
        conditions.append(Condition(type="PodScheduled", status="False", reason="Unschedulable"))
    requests = ResourceRequirements(requests={"cpu": "500m"})
    return Pod(
        metadata=ObjectMeta(
            name=name,
            namespace="shop",
            uid=f"uid-{name}",
            labels={NAME: workload},
            owner_references=(OwnerReference(kind=owner, name=workload, controller=True),),
            deletion_timestamp=_when(leaving),
        ),
        spec=PodSpec(node_name=node, containers=(Container(resources=requests),)),
        status=PodStatus(phase=phase, conditions=tuple(conditions)),
    )


def running(name: str, workload: str = "web", node: str = "n1", owner: str = "ReplicaSet") -> Pod:
    return a_pod(name, workload=workload, node=node, ready=True, owner=owner, phase="Running")


def a_node(name: str = "n1", *, pool: str = "general") -> Node:
    labels = {"karpenter.sh/nodepool": pool} if pool else {}
    return Node(
        metadata=ObjectMeta(name=name, labels=labels),
        status=NodeStatus(allocatable={"cpu": "2"}),
    )


def a_claim(
    name: str = "general-1",
    *,
    node: str = "n1",
    instance_type: str = "m5.large",
    initialized: bool = True,
    leaving: str = "",
    plan: str = "p1/0",
) -> NodeClaim:
    labels = {"karpenter.sh/nodepool": "general"}
    if instance_type:
        labels |= {
            "node.kubernetes.io/instance-type": instance_type,
            "topology.kubernetes.io/zone": "a",
            "karpenter.sh/capacity-type": "spot",
        }
    conditions = [Condition(type="Initialized", status="True" if initialized else "Unknown")]
    if leaving:
        conditions.append(Condition(type="DisruptionReason", status="True", reason=leaving))
    return NodeClaim(
        metadata=ObjectMeta(
            name=name,
            uid=f"uid-{name}",
            labels=labels,
            annotations={"joiner.io/plan": plan},
            deletion_timestamp=_when(bool(leaving)),
        ),
        spec=NodeClaimSpec(
            resources=ClaimResources(requests={"cpu": "1500m", "memory": "2Gi", "pods": "7"})
        ),
        status=NodeClaimStatus(node_name=node, conditions=tuple(conditions)),
    )


def a_world(*objects: Pod | Node | NodeClaim) -> World:
    return World(
        pods=tuple(one for one in objects if isinstance(one, Pod)),
        nodes=tuple(one for one in objects if isinstance(one, Node)),
        claims=tuple(one for one in objects if isinstance(one, NodeClaim)),
    )


def _when(leaving: bool) -> Instant | None:
    return NOW if leaving else None
