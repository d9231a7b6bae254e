"""A small cluster that has something of every kind that a snapshot can hold.

Apart because who changes a field of a message, anywhere in it, first needs a message that has them
all, and one of which every part takes part in the decision.
"""

from dataclasses import replace
from datetime import timedelta

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue, ObservedAllocatable
from libs.domain.device import (
    CapacityPolicy,
    CounterUse,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClaim,
    DeviceClass,
    DeviceConstraint,
    DeviceHold,
    DevicePool,
    DeviceRequest,
    DeviceSubRequest,
)
from libs.domain.feature_gates import FeatureGate
from libs.domain.nodepool import Budget, Disruption, DisruptionReason, NodePool
from libs.domain.pod import (
    ExclusiveDisk,
    PodPhase,
    PodRow,
    PodShape,
    RequestField,
    SharedVolume,
    StorageRoom,
    Target,
    VolumeAttachCount,
)
from libs.domain.reason import TargetKind
from libs.domain.requirements import ANYTHING
from libs.domain.resources import Resources
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from libs.domain.topology import PreferredNodeTerm, WeightedPodAffinityTerm
from libs.domain.volume import UnboundClaim, VolumeKind, VolumePlace
from libs.domain.workload import (
    CapacityBuffer,
    Gang,
    Namespace,
    NodeOverlay,
    PodDisruptionBudget,
    SetAside,
)
from tests.support.builders import (
    NODE_CLASS,
    NOW,
    a_catalogue,
    a_daemonset,
    a_node,
    a_node_term,
    a_nodeclaim,
    a_pod,
    a_pool,
    a_port,
    a_shape,
    a_snapshot,
    a_spread,
    a_taint,
    a_term,
    a_toleration,
    a_type,
    amounts,
    an_offering,
    an_owner,
    require,
    selecting,
)

GATES = {str(gate): True for gate in FeatureGate}
OPTIONS = SolveOptions(feature_gates=GATES, refine_iterations=0, now=NOW)
"""Every gate is open."""

_ZONE_A = require((label_keys.ZONE, "In", ["zone-a"]))
_DRIVER = "gpu.example.com"


def everything() -> ClusterSnapshot:
    """Return the cluster."""
    return a_snapshot(
        shapes=_shapes(),
        pods=_pods(),
        nodes=[
            a_node(
                nodeclaim="claim-1",
                taints=(a_taint(),),
                volume_limits=(VolumeAttachCount(driver="csi.example.com", count=3),),
                migrated_labels=("migrated.joiner.internal/aws-ebs",),
                declared_features=("RestartAllContainersOnContainerExits",),
                nominated_until=NOW,
            ),
            a_node("node-2", leaving=True),
        ],
        nodeclaims=[
            a_nodeclaim(),
            a_nodeclaim(
                "claim-2",
                labels={label_keys.ZONE: "zone-b"},
                requirements=_ZONE_A,
                allocatable=amounts(cpu=4, memory="16Gi", pods=110),
            ),
        ],
        nodepools=[_pool(), a_pool("fixed", replicas=2)],
        catalogues=[_catalogue()],
        daemonsets=[a_daemonset()],
        pod_disruption_budgets=[
            PodDisruptionBudget(
                namespace="default",
                name="web",
                uid="uid-pdb",
                selector=selecting(app="web"),
                disruptions_allowed=1,
            )
        ],
        namespaces=[Namespace(name="default", labels=(("team", "a"),))],
        buffers=[
            CapacityBuffer(namespace="default", name="room", uid="uid-room", shape=1, replicas=2)
        ],
        gangs=[Gang(namespace="default", name="job", min_members=2)],
        overlays=[
            NodeOverlay(
                name="cheaper",
                uid="uid-cheaper",
                weight=1,
                requirements=_ZONE_A,
                price_delta_ppm=-100_000,
                capacity=Resources({"example.com/disk": 2}),
            )
        ],
        observed_allocatable=[
            ObservedAllocatable(
                node_class=NODE_CLASS, instance_type="m-4", allocatable=amounts(cpu=3)
            )
        ],
        device_pools=[_device_pool(node_name="node-1")],
        device_classes=[
            DeviceClass(
                name="gpu",
                selectors=(f'device.driver == "{_DRIVER}"',),
                extended_resource="example.com/gpu",
            )
        ],
        volume_kinds=[
            VolumeKind(key="disks", places=(VolumePlace(rank=0, count=2, terms=(_ZONE_A,)),))
        ],
        set_aside=[
            SetAside(
                kind="Pod",
                namespace="default",
                name="x",
                message="bad",
                since=NOW,
                gang="default/ring",
            )
        ],
    )


def _shapes() -> list[PodShape]:
    return [
        a_shape(1),
        a_shape(
            2,
            selector={label_keys.ARCH: "amd64"},
            required_node_terms=(
                a_node_term((label_keys.ZONE, "In", ["zone-a", "zone-b"]), node_names=("node-1",)),
                a_node_term((label_keys.OS, "NotIn", ["windows"]), excluded_node_names=("node-9",)),
            ),
            preferred_node_terms=(PreferredNodeTerm(weight=10, requirements=_ZONE_A),),
            tolerations=(a_toleration("dedicated", "NoSchedule"),),
            host_ports=(a_port(),),
            topology_spread=(
                a_spread(),
                a_spread(label_keys.HOSTNAME, required=False, min_domains=None),
            ),
            volumes=((_ZONE_A, require((label_keys.ZONE, "In", ["zone-b"]))),),
            volume_attach_counts=(VolumeAttachCount(driver="csi.example.com", count=1),),
            shared_volumes=(
                SharedVolume(
                    claim="default/data", driver="csi.example.com", topology_key=label_keys.ZONE
                ),
            ),
            exclusive_disks=(ExclusiveDisk(disk="gce/disk"),),
            storage_rooms=(
                StorageRoom(
                    storage_class="late", size=1 << 30, published=(_ZONE_A,), starting=(ANYTHING,)
                ),
            ),
            unbound_claims=(
                UnboundClaim(
                    claim="default/data",
                    kinds=("disks",),
                    made=(_ZONE_A,),
                    made_at_start=(ANYTHING,),
                ),
            ),
            required_features=("RestartAllContainersOnContainerExits",),
            request_fields=(
                RequestField(
                    resource="cpu",
                    field="spec.initContainers[0].resources.requests",
                    amount=100,
                    without=50,
                ),
            ),
        ),
        a_shape(
            3,
            labels={"app": "db"},
            affinity=(a_term(label_keys.ZONE, namespace_selector=selecting(team="a")),),
            anti_affinity=(a_term(selector=selecting(app="db")),),
            preferred_affinity=(WeightedPodAffinityTerm(weight=5, term=a_term()),),
            preferred_anti_affinity=(WeightedPodAffinityTerm(weight=50, term=a_term()),),
        ),
        a_shape(4, device_claims=(_device_claim(),)),
        a_shape(5, extra=Resources({"example.com/gpu": 1, "example.com/disk": 1})),
        a_shape(6, cpu="1k"),
        a_shape(100, cpu="100m", memory="10Mi", labels={}, tolerations=(a_toleration(),)),
    ]


def _pods() -> list[PodRow]:
    waiting = [
        a_pod(f"s{shape}-{number}", shape, owner=an_owner(), priority=shape)
        for shape in (1, 2, 3, 4, 5, 6)
        for number in (1, 2)
    ]
    return [
        *waiting,
        a_pod("running", node="node-1", phase=PodPhase.RUNNING, ready=True, started_ms=2),
        a_pod("moving", 2, node="node-2", phase=PodPhase.RUNNING, volume_claims=("data",)),
        a_pod("job-1", gang="default/job"),
        a_pod("job-2", gang="default/job", do_not_disrupt_ms=-1),
        a_pod("aimed", target=Target(TargetKind.NODECLAIM, "claim-2")),
        *(a_pod(f"room-{number}")._replace(uid=f"uid-room-{number}") for number in (1, 2)),
    ]


def _pool() -> NodePool:
    pool = a_pool(
        labels={"team": "a"},
        requirements=require((label_keys.INSTANCE_TYPE, "Exists", [])),
        startup_taints=(a_taint("starting"),),
        weight=10,
        limits=amounts(cpu=100, nodes=50),
        disruption=Disruption(
            budgets=(
                Budget(
                    nodes=1,
                    reasons=frozenset({DisruptionReason.EMPTY}),
                    schedule="0 0 * * *",
                    duration=timedelta(hours=1),
                ),
                Budget(percent=10),
            )
        ),
    )
    template = replace(
        pool.template, expire_after=timedelta(days=30), termination_grace_period=timedelta(hours=1)
    )
    return replace(pool, template=template)


def _catalogue() -> Catalogue:
    return a_catalogue(
        a_type(),
        a_type("m-8", capacity=amounts(cpu=8, memory="32Gi", pods=110), price=2 * 10**9),
        a_type(
            "g-8",
            capacity=amounts(cpu=8, memory="32Gi", pods=110),
            price=9 * 10**9,
            overhead=amounts(cpu="100m"),
            offerings=(
                an_offering(),
                an_offering(
                    "zone-b",
                    "reserved",
                    reservation_id="r-1",
                    reservation_capacity=1,
                    capacity_override=amounts(cpu=6),
                    overhead_override=amounts(cpu="200m"),
                ),
            ),
            device_pools=(_device_pool(),),
        ),
        well_known_keys=("example.com/reservation-id",),
    )


def _device_claim() -> DeviceClaim:
    one = DeviceSubRequest(
        device_class="gpu",
        name="one",
        selectors=('device.attributes["model"] != "x"',),
        capacity=(DeviceCapacity(name="memory", amount=1000),),
        tolerations=(a_toleration("slow"),),
    )
    return DeviceClaim(
        requests=(
            DeviceRequest(name="r", alternatives=(one, replace(one, name="two", count=2))),
            DeviceRequest(name="s", alternatives=(DeviceSubRequest(device_class="gpu"),)),
        ),
        constraints=(DeviceConstraint(match_attribute=f"{_DRIVER}/model", requests=("r", "s")),),
    )


def _device_pool(node_name: str = "") -> DevicePool:
    policy = CapacityPolicy(default=1000, least=1000, most=4000, step=1000)
    devices = tuple(
        Device(
            name=f"gpu-{number}",
            attributes=(DeviceAttribute(name="model", value="a"),),
            capacity=(DeviceCapacity(name="memory", amount=8000, policy=policy),),
            shared=number == 1,
            counters=(CounterUse(counter_set="slices", amounts=Resources({"slice": 1000})),),
            taints=(a_taint("slow"),) if number == 2 else (),
        )
        for number in (1, 2, 3)
    )
    held = DeviceHold(
        device="gpu-1",
        claim="default/held",
        shared=True,
        consumed=(DeviceCapacity(name="memory", amount=1000),),
        reserved_for=("uid-running",),
    )
    pool = DevicePool(
        driver=_DRIVER,
        pool="pool-1",
        devices=devices,
        counters=(CounterUse(counter_set="slices", amounts=Resources({"slice": 3000})),),
    )
    return replace(pool, holds=(held,), node_name=node_name) if node_name else pool
