"""Which events decisions become."""

import pytest

from libs.domain.blocking import BlockerKind
from libs.domain.execution import DecisionReport
from libs.domain.plan import Blocker, Decision
from libs.domain.snapshot import Epoch, SnapshotId
from libs.kube import api
from services.lifecycle.adapters.cache import Cache
from services.lifecycle.core.events import Event, Reason
from services.lifecycle.publishing import Publisher
from tests.unit.services.lifecycle.core.objects import a_claim, a_node

SNAPSHOT = SnapshotId(cluster_id="home", epoch=Epoch(boot_id="b"), revision=1)
BUDGET = Blocker(kind=BlockerKind.POD_DISRUPTION_BUDGET, object="default/web", message="held back")
PINNED = Blocker(kind=BlockerKind.DO_NOT_DISRUPT, object="default/p1", message="says no")


def _publisher(told: list[Event]) -> Publisher:
    cache = Cache(lambda _: None)
    cache.upsert(api.NODES, a_node())
    cache.upsert(api.NODE_CLAIMS, a_claim())
    return Publisher(cache, told.append)


def _report(*blockers: Blocker, nodeclaim: str = "c1") -> DecisionReport:
    decision = Decision(node="n1", nodeclaim=nodeclaim, blockers=blockers)
    return DecisionReport(snapshot=SNAPSHOT, decisions=(decision,))


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        pytest.param(BlockerKind.DO_NOT_DISRUPT, Reason.DISRUPTION_BLOCKED, id="blocks all"),
        pytest.param(BlockerKind.NOMINATED, Reason.DISRUPTION_BLOCKED, id="blocks all for a while"),
        pytest.param(
            BlockerKind.CONSOLIDATION_DISABLED, Reason.UNCONSOLIDATABLE, id="blocks consolidation"
        ),
        pytest.param(BlockerKind.NOT_EMPTY, None, id="normal work"),
        pytest.param("FromANewerPeer", None, id="unknown"),
    ],
)
def test_the_kind_of_a_blocker_picks_the_event(kind: str, reason: Reason | None) -> None:
    told: list[Event] = []

    _publisher(told).decisions(_report(Blocker(kind=kind, message="why")))

    assert [one.reason for one in told] == ([reason, reason] if reason else [])


def test_node_and_claim_are_told_once_while_a_blocker_stays() -> None:
    told: list[Event] = []
    publisher = _publisher(told)

    publisher.decisions(_report(BUDGET))
    publisher.decisions(_report(BUDGET, PINNED))
    publisher.decisions(_report(PINNED))

    assert [(one.subject.name, one.message.endswith("(default/web)")) for one in told] == [
        ("c1", True),
        ("n1", True),
        ("c1", False),
        ("n1", False),
    ]


def test_a_blocker_that_comes_back_is_told_again() -> None:
    told: list[Event] = []
    publisher = _publisher(told)

    publisher.decisions(_report(BUDGET))
    publisher.decisions(_report())
    publisher.decisions(_report(BUDGET))

    assert len(told) == 4


def test_nodes_that_nobody_manages_get_no_events() -> None:
    told: list[Event] = []

    _publisher(told).decisions(_report(PINNED, nodeclaim=""))

    assert not told
