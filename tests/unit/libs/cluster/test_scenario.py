"""One dump of a small cluster, as `kubectl get … -o yaml` prints it, and the snapshot of it."""

from datetime import UTC, datetime, timedelta

import yaml

from libs.cluster.files import load
from libs.domain.capacity import NodeClassRef
from libs.domain.nodepool import Budget, DisruptionReason
from libs.domain.pod import PodPhase, VolumeAttachCount
from libs.domain.requirement import Entry, Operator
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.domain.snapshot import ClusterSnapshot
from tests.unit.libs.cluster.clusters import row_of, shape_of, taken
from tests.unit.libs.kube.manifests import CLASS

ZONE = "topology.kubernetes.io/zone"
DUMP = """
apiVersion: v1
kind: List
metadata: {resourceVersion: ""}
items:
- apiVersion: karpenter.sh/v1
  kind: NodePool
  metadata: {name: general, uid: pool, generation: 2}
  spec:
    weight: 10
    limits: {cpu: "100", nodes: 20}
    disruption:
      consolidateAfter: 5m
      budgets: [{nodes: "1", reasons: [Empty]}]
    template:
      metadata: {labels: {team: a}, creationTimestamp: null}
      spec:
        nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
        requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
        expireAfter: Never
- apiVersion: karpenter.sh/v1
  kind: NodeClaim
  metadata:
    name: general-1
    uid: claim
    creationTimestamp: "2026-07-01T00:00:00Z"
    labels: {karpenter.sh/nodepool: general}
  spec:
    nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
    requirements: []
  status: {providerID: "kwok://n1", nodeName: n1}
- apiVersion: v1
  kind: Node
  metadata:
    name: n1
    uid: node
    creationTimestamp: "2026-07-01T00:01:00Z"
    labels:
      karpenter.sh/nodepool: general
      karpenter.sh/registered: "true"
      karpenter.sh/initialized: "true"
      kubernetes.io/hostname: n1
      topology.kubernetes.io/zone: zone-a
  spec: {providerID: "kwok://n1"}
  status:
    capacity: {cpu: "4", memory: 8Gi, pods: "110"}
    allocatable: {cpu: 3900m, memory: 7Gi, pods: "110"}
    conditions: [{type: Ready, status: "True", lastHeartbeatTime: null}]
- apiVersion: storage.k8s.io/v1
  kind: CSINode
  metadata: {name: n1}
  spec: {drivers: [{name: ebs.csi.aws.com, nodeID: n1, allocatable: {count: 25}}]}
- apiVersion: v1
  kind: Pod
  metadata:
    name: db-0
    namespace: shop
    uid: bound
    creationTimestamp: "2026-07-01T00:02:00Z"
    labels: {app: db, noise: "1"}
    ownerReferences:
    - {apiVersion: apps/v1, kind: StatefulSet, name: db, uid: sts, controller: true}
  spec:
    nodeName: n1
    containers: [{name: c, resources: {requests: {cpu: "1", memory: 1Gi}}}]
    volumes: [{name: data, persistentVolumeClaim: {claimName: data-db-0}}]
  status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata:
    name: data-db-0
    namespace: shop
    annotations: {pv.kubernetes.io/bind-completed: "yes"}
  spec: {volumeName: pv-1, storageClassName: gp3, resources: {requests: {storage: 1Gi}}}
  status: {phase: Bound}
- apiVersion: v1
  kind: PersistentVolume
  metadata: {name: pv-1}
  spec:
    csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1}
    nodeAffinity:
      required:
        nodeSelectorTerms:
        - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [zone-a]}]
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: shop, creationTimestamp: "2026-07-01T00:03:00Z"}
  spec:
    replicas: 2
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}, creationTimestamp: null}
      spec:
        containers: [{name: c, resources: {requests: {cpu: 250m}}}]
        affinity:
          podAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: topology.kubernetes.io/zone
              labelSelector: {matchLabels: {app: db}}
- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata: {name: db, namespace: shop, uid: pdb, generation: 1}
  spec: {minAvailable: 1, selector: {matchLabels: {app: db}}}
  status: {disruptionsAllowed: 0, observedGeneration: 1}
- {apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}}
"""


def _snapshot() -> tuple[ClusterSnapshot, tuple[str, ...]]:
    found = load([("dump", yaml.safe_load(DUMP))], default_class=NodeClassRef(**CLASS))
    return taken(found.state), found.notes


def test_pods_and_their_shapes() -> None:
    snapshot, _ = _snapshot()

    assert sorted(snapshot.pods.names) == ["db-0", "web-0", "web-1"]
    bound = row_of(snapshot, "db-0")
    assert (bound.node, bound.phase, bound.ready) == ("n1", PodPhase.RUNNING, True)
    assert bound.volume_claims == ("data-db-0",)
    assert bound.owner is not None
    assert bound.owner.is_statefulset
    stateful = shape_of(snapshot, "db-0")
    assert stateful.labels == (("app", "db"),)
    assert stateful.requests == Resources({"cpu": 1000, "memory": 2**30, "pods": 1})
    zone_a = Requirements.of([Entry(key=ZONE, operator=Operator.IN, values=("zone-a",))])
    assert stateful.volumes == ((zone_a,),)
    assert stateful.volume_attach_counts == (VolumeAttachCount(driver="ebs.csi.aws.com", count=1),)
    waiting = row_of(snapshot, "web-1")
    assert (waiting.provisionable, waiting.shape) == (True, row_of(snapshot, "web-0").shape)
    (term,) = shape_of(snapshot, "web-1").affinity
    assert (term.topology_key, term.namespaces) == (ZONE, ("shop",))


def test_the_node_its_claim_and_its_pool() -> None:
    snapshot, _ = _snapshot()

    (node,) = snapshot.nodes.values()
    assert (node.nodeclaim, node.ready, node.initialized, node.leaving) == (
        "general-1",
        True,
        True,
        False,
    )
    assert node.allocatable == Resources({"cpu": 3900, "memory": 7 * 2**30, "pods": 110})
    assert node.volume_limits == (VolumeAttachCount(driver="ebs.csi.aws.com", count=25),)
    (claim,) = snapshot.nodeclaims.values()
    assert (claim.nodepool, claim.created_at) == ("general", datetime(2026, 7, 1, tzinfo=UTC))
    (pool,) = snapshot.nodepools.values()
    assert (pool.name, pool.weight, pool.generation) == ("general", 10, 2)
    assert pool.limits == Resources({"cpu": 100_000, "nodes": 20})
    assert pool.disruption.consolidate_after == timedelta(minutes=5)
    assert pool.disruption.budgets == (
        Budget(nodes=1, reasons=frozenset({DisruptionReason.EMPTY})),
    )
    assert pool.template.labels == (("team", "a"),)
    assert pool.template.expire_after is None


def test_the_rest_and_what_was_said() -> None:
    snapshot, notes = _snapshot()

    (budget,) = snapshot.pod_disruption_budgets.values()
    assert (budget.key, budget.disruptions_allowed) == ("shop/db", 0)
    assert list(snapshot.namespaces) == ["shop"]
    assert dict(snapshot.set_aside) == {}
    assert notes == ('Deployment "shop/web" has no pods in the input: 2 pending assumed',)
