"""Nodes and claims as a snapshot has them.

Apart from the state because there are thousands of them while pods come and go: as long as nothing
changes of what they are made from, a snapshot has the very mappings of the one before, and whoever
compares two snapshots need not look into them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from libs.cluster.attachments import LeftAttached
from libs.cluster.claims import Claims
from libs.cluster.memo import Memo
from libs.cluster.nodes import NodeInputs, nodes, observed_allocatable
from libs.cluster.objects import Objects
from libs.cluster.problems import Problems
from libs.domain.capacity import NodeClassRef, ObservedAllocatable
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.reason import TargetKind
from libs.domain.snapshot import keyed
from libs.kube.convert.nodeclaim import UNKNOWN, node_class_ref
from libs.kube.convert.nodepool import nodepool_class
from libs.kube.objects import karpenter, node, storage

_CLAIM = karpenter.NodeClaim.__name__
_READ = (node.Node.__name__, "CSINode", _CLAIM)
_POOL = karpenter.NodePool.__name__


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Built:
    """Nodes and claims of a snapshot, in the order of their names."""

    claims: Mapping[str, NodeClaim]
    nodes: Mapping[str, Node]
    problems: Problems
    """What is wrong with them."""


class Capacity:
    """Makes nodes and claims, anew only if something has changed of what they are made from."""

    def __init__(self, objects: Objects) -> None:
        self.claims = Claims()
        self._objects = objects
        self._nominations: Mapping[tuple[TargetKind, str], datetime] = {}
        self._nodes: Memo[Node] = Memo()
        self._built: Memo[Built] = Memo()
        self._classes: Memo[tuple[NodeClassRef, ...]] = Memo()
        self._observed: Memo[Mapping[str, ObservedAllocatable]] = Memo()
        self._ever_observed: dict[str, ObservedAllocatable] = {}

    def nominate(self, kind: TargetKind, name: str, until: datetime) -> None:
        """Expect pods on a node or a claim until then; a later end wins."""
        known = self._nominations.get((kind, name))
        end = until if known is None else max(known, until)
        self._nominations = {**self._nominations, (kind, name): end}

    def build(self, now: datetime, left: LeftAttached) -> Built:
        """Return the nodes and claims as they are known now."""
        if any(end <= now for end in self._nominations.values()):
            self._nominations = {k: end for k, end in self._nominations.items() if end > now}
        versions = tuple(map(self._objects.version, _READ))
        inputs = (*versions, self.claims.version, self._nominations, left)
        return self._built.get("", inputs, lambda: self._build(left))

    def classes(self) -> tuple[NodeClassRef, ...]:
        """Return the classes that pools and claims refer to, sorted."""
        versions = tuple(map(self._objects.version, (_POOL, _CLAIM)))
        return self._classes.get("", versions, self._find_classes)

    def observed(self, built: Built) -> Mapping[str, ObservedAllocatable]:
        """Return what nodes of each class and type have; what the last one had is remembered.

        Else a node that turned out too small for its pod would be forgotten as soon as it is gone,
        and bought again.
        """
        inputs = built, self.classes()
        return self._observed.get("", inputs, lambda: self._observe(built))

    def _build(self, left: LeftAttached) -> Built:
        problems = Problems()
        claims = self.claims.build(
            self._objects.of(karpenter.NodeClaim), self._nominations, problems
        )
        inputs = NodeInputs(
            nodes=self._objects.of(node.Node),
            csi_nodes=self._objects.of(storage.CsiNode, "CSINode"),
            claims=claims,
            nominations=self._nominations,
            left_attached=left,
        )
        found = nodes(inputs, self._nodes, problems)
        return Built(
            claims=keyed("nodeclaims", claims.values()),
            nodes=keyed("nodes", found.values()),
            problems=problems,
        )

    def _find_classes(self) -> tuple[NodeClassRef, ...]:
        pools = self._objects.of(karpenter.NodePool).values()
        found = {node_class_ref(nodepool_class(pool)) for pool in pools}
        for claim in self._objects.of(karpenter.NodeClaim).values():
            found.add(node_class_ref(claim.spec.node_class_ref))
        return tuple(sorted(one for one in found if one.name != UNKNOWN))

    def _observe(self, built: Built) -> Mapping[str, ObservedAllocatable]:
        self._ever_observed |= observed_allocatable(built.nodes.values(), built.claims)
        classes = {one.key for one in self.classes()}
        self._ever_observed = {
            key: one for key, one in self._ever_observed.items() if one.node_class.key in classes
        }
        return MappingProxyType(dict(sorted(self._ever_observed.items())))
