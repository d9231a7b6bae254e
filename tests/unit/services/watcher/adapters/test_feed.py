"""Which objects make a decision due, and what else they set off."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from libs.cluster.state import ClusterState
from libs.collections.batcher import Batcher, Window
from libs.domain.pod import Target
from libs.domain.reason import TargetKind
from libs.kube.api import CAPACITY_BUFFERS, NODE_CLAIMS, NODE_POOLS, NODES, PODS, Resource
from libs.kube.informer import ObjectKey
from libs.kube.objects.decoding import from_document
from libs.kube.objects.kinds import struct_of
from libs.runtime.latest import LatestValue
from services.watcher.adapters.feed import Effects, Feed


class Triggers(Batcher[str]):
    """A batcher whose triggers a test can read."""

    def __init__(self) -> None:
        window = Window(idle=timedelta(1), longest=timedelta(1), most=10)
        super().__init__(window, _NoTimer())
        self.seen: list[str] = []

    def trigger(self, name: str) -> None:
        self.seen.append(name)


class _NoTimer:
    async def sleep(self, span: timedelta) -> None:
        raise AssertionError("nobody waits here")


class World:
    def __init__(self, *, buffers: bool = False) -> None:
        self.triggers = Triggers()
        self.changes: LatestValue[None] = LatestValue()
        self.pools_changed = 0
        self.failed: list[str] = []
        effects = Effects(
            batcher=self.triggers,
            changes=self.changes,
            pools_changed=self._note_pools,
            launch_failed=self.failed.append,
            buffers=buffers,
        )
        self.state = ClusterState()
        self.feed = Feed(self.state, effects)

    def upsert(self, resource: Resource, document: dict[str, Any]) -> None:
        struct = struct_of(resource.api_version, resource.kind)
        assert struct is not None
        metadata = {"name": "x", "uid": "uid-x", **document.get("metadata", {})}
        self.feed.upsert(resource, from_document({**document, "metadata": metadata}, struct))

    def remove(self, resource: Resource) -> None:
        self.feed.remove(resource, ObjectKey("", "x", "uid-x"))

    def _note_pools(self) -> None:
        self.pools_changed += 1


UNSCHEDULABLE = {"conditions": [{"type": "PodScheduled", "reason": "Unschedulable"}]}
DISRUPTED = {"taints": [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]}
REFERENCE = {"nodeClassRef": {"group": "g", "kind": "K", "name": "n"}}
LAUNCHED = {"conditions": [{"type": "Launched", "status": "True"}]}


@pytest.mark.parametrize(
    ("resource", "document", "due"),
    [
        pytest.param(PODS, {"status": UNSCHEDULABLE}, True, id="unschedulable pod"),
        pytest.param(PODS, {}, False, id="pod that no scheduler saw"),
        pytest.param(
            PODS, {"spec": {"nodeName": "n"}, "status": UNSCHEDULABLE}, False, id="bound pod"
        ),
        pytest.param(NODES, {"spec": DISRUPTED}, True, id="disrupted node"),
        pytest.param(NODES, {}, False, id="node"),
        pytest.param(
            NODE_CLAIMS,
            {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "spec": REFERENCE},
            True,
            id="claim on its way out",
        ),
        pytest.param(NODE_CLAIMS, {"spec": REFERENCE}, False, id="claim"),
        pytest.param(CAPACITY_BUFFERS, {}, False, id="buffer without the gate"),
    ],
)
def test_what_needs_a_place_makes_a_decision_due(
    resource: Resource, document: dict[str, Any], due: bool
) -> None:
    world = World()
    world.upsert(resource, document)
    assert world.triggers.seen == (["uid-x"] if due else [])
    assert world.changes.version == 1


def waiting(
    message: str = "", reason: str = "Unschedulable", since: str = "2026-01-01T00:00:00Z"
) -> dict[str, Any]:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
    }
    return {"metadata": {"namespace": "n"}, "status": {"conditions": [condition]}}


@pytest.mark.parametrize(
    ("later", "news"),
    [
        pytest.param(waiting("0/2 nodes are available"), False, id="another text"),
        pytest.param(waiting(since="2026-01-01T00:00:09Z"), True, id="waits anew"),
        pytest.param(
            waiting() | {"metadata": {"namespace": "n", "generation": 2}}, True, id="asks anew"
        ),
        pytest.param(
            waiting() | {"metadata": {"namespace": "n", "uid": "uid-y"}}, True, id="another pod"
        ),
    ],
)
def test_only_news_of_a_waiting_pod_make_a_decision_due(later: dict[str, Any], news: bool) -> None:
    world = World()
    world.upsert(PODS, waiting("0/1 nodes are available"))
    world.upsert(PODS, later)
    assert len(world.triggers.seen) == 1 + news
    assert world.changes.version == 2


@pytest.mark.parametrize(
    "between",
    [
        pytest.param(waiting(reason="SchedulerError"), id="the scheduler failed"),
        pytest.param(waiting() | {"spec": {"nodeName": "node"}}, id="bound"),
    ],
)
def test_a_pod_that_did_not_wait_in_between_is_news(between: dict[str, Any]) -> None:
    world = World()
    for document in (waiting(), between, waiting()):
        world.upsert(PODS, document)
    assert world.triggers.seen == ["uid-x", "uid-x"]


def test_a_pod_of_the_same_name_after_a_removal_is_news() -> None:
    world = World()
    world.upsert(PODS, waiting())
    world.feed.remove(PODS, ObjectKey("n", "x", "uid-x"))
    world.upsert(PODS, waiting())
    assert world.triggers.seen == ["uid-x", "uid-x"]


@pytest.mark.parametrize(
    ("status", "due"),
    [
        pytest.param({}, False, id="boots"),
        pytest.param(
            {"conditions": [{"type": "Initialized", "status": "True"}]}, True, id="is ready"
        ),
    ],
)
def test_a_pod_whose_claim_boots_makes_no_decision_due(status: dict[str, Any], due: bool) -> None:
    world = World()
    world.upsert(NODE_CLAIMS, {"spec": REFERENCE, "status": status})
    target = Target(TargetKind.NODECLAIM, "x")
    world.state.expect({"uid-x": target}, datetime(2026, 1, 1, tzinfo=UTC), timedelta(minutes=1))
    world.upsert(PODS, waiting())
    assert world.triggers.seen == (["uid-x"] if due else [])


def test_a_buffer_counts_where_its_gate_is_open() -> None:
    world = World(buffers=True)
    world.upsert(CAPACITY_BUFFERS, {})
    assert world.triggers.seen == ["uid-x"]


@pytest.mark.parametrize(
    ("status", "failed"),
    [
        pytest.param({}, ["g/K/n"], id="not launched"),
        pytest.param(LAUNCHED, [], id="launched"),
        pytest.param({"providerID": "kwok://x"}, [], id="has an instance"),
    ],
)
def test_a_claim_that_goes_before_it_was_launched_makes_its_catalogue_due(
    status: dict[str, Any], failed: list[str]
) -> None:
    world = World()
    world.upsert(NODE_CLAIMS, {"spec": REFERENCE})
    world.upsert(NODE_CLAIMS, {"spec": REFERENCE, "status": status})
    world.remove(NODE_CLAIMS)
    assert world.failed == failed


def test_pools_that_come_and_go_change_the_classes_referred_to() -> None:
    world = World()
    world.upsert(NODE_POOLS, {})
    world.remove(NODE_POOLS)
    assert world.pools_changed == 2


INITIALIZED = {"conditions": [{"type": "Initialized", "status": "True"}]}


def test_a_node_that_is_there_makes_a_decision_due_once() -> None:
    world = World()
    world.upsert(NODE_CLAIMS, {"spec": REFERENCE, "status": LAUNCHED})
    assert world.triggers.seen == []

    world.upsert(NODE_CLAIMS, {"spec": REFERENCE, "status": INITIALIZED})
    world.upsert(NODE_CLAIMS, {"spec": REFERENCE, "status": INITIALIZED})

    assert world.triggers.seen == ["uid-x"]


def test_a_node_that_was_there_from_the_start_makes_no_decision_due() -> None:
    world = World()
    world.upsert(NODE_CLAIMS, {"spec": REFERENCE, "status": INITIALIZED})
    assert world.triggers.seen == []
