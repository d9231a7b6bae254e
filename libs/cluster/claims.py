"""NodeClaims: those that the watch has shown, and those that were created a moment ago.

Apart because a claim counts from the answer of `ApplyPlan` on; until the watch shows it, this holds
it, made from what was planned.

Source: `docs/architecture.md`, law 3.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from libs.cluster.memo import Memo
from libs.cluster.nodes import Nominations
from libs.cluster.problems import Problems
from libs.domain.errors import InvalidRequest
from libs.domain.labels import NODEPOOL
from libs.domain.nodeclaim import NodeClaim
from libs.domain.nodepool import NodePool
from libs.domain.plan import PlannedNodeClaim
from libs.domain.reason import TargetKind
from libs.domain.resources import NOTHING
from libs.kube.convert.nodeclaim import nodeclaim
from libs.kube.objects import karpenter as objects

_Converted = tuple[NodeClaim, tuple[InvalidRequest, ...]]


def planned_claim(
    planned: PlannedNodeClaim, pool: NodePool, *, name: str, uid: str, now: datetime
) -> NodeClaim:
    """Return the claim that lifecycle created for a plan, before the watch has shown it.

    Args:
        planned: as in the plan.
        pool: the pool that it was planned from.
        name: as lifecycle answered.
        uid: as lifecycle answered.
        now: taken for its creation.
    """
    template = pool.template
    labels = {**dict(template.labels), **dict(planned.labels), NODEPOOL: pool.name}
    return NodeClaim(
        name=name,
        uid=uid,
        nodepool=pool.name,
        node_class=template.node_class,
        labels=tuple(sorted(labels.items())),
        annotations=planned.annotations,
        requirements=planned.requirements,
        requests=planned.requests,
        taints=template.taints,
        startup_taints=template.startup_taints,
        capacity=NOTHING,
        allocatable=NOTHING,
        created_at=now,
        expire_after=template.expire_after,
        termination_grace_period=template.termination_grace_period,
    )


class Claims:
    """The claims that count, by name."""

    def __init__(self) -> None:
        self._in_flight: dict[str, NodeClaim] = {}
        self._memo: Memo[_Converted] = Memo()
        self.version = 0
        """Grows with each change of those that the watch has not shown yet."""

    def expect(self, claim: NodeClaim) -> None:
        """Count a claim that was created, until it is seen or forgotten."""
        self._in_flight[claim.name] = claim
        self.version += 1

    def forget(self, name: str) -> None:
        """No longer count a claim that the watch has shown, or that is gone."""
        if self._in_flight.pop(name, None) is not None:
            self.version += 1

    def expected(self) -> tuple[str, ...]:
        """Return the names of the claims that the watch has not shown yet, sorted."""
        return tuple(sorted(self._in_flight))

    def build(
        self,
        seen: Mapping[tuple[str, str], objects.NodeClaim],
        nominations: Nominations,
        problems: Problems,
    ) -> dict[str, NodeClaim]:
        """Return all claims; one that is not wholly legible is reported, but counts."""
        found = dict(self._in_flight)
        for (_, name), claim in seen.items():
            found[name], errors = self._memo.get(name, (claim,), partial(nodeclaim, claim))
            for error in errors:
                problems.add("NodeClaim", "", name, error)
        self._memo.retain({name for _, name in seen})
        return {name: _nominated(claim, nominations) for name, claim in found.items()}


def _nominated(claim: NodeClaim, nominations: Nominations) -> NodeClaim:
    until = nominations.get((TargetKind.NODECLAIM, claim.name))
    return claim if until is None else replace(claim, nominated_until=until)
