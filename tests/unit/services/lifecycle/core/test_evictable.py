from datetime import timedelta
from typing import Any

import pytest

from libs.kube.objects.pod import Pod
from services.lifecycle.core import evictable
from services.lifecycle.core.evictable import plan_drain
from tests.unit.services.lifecycle.core.objects import NOW, a_pod, at

PROTECTED: dict[str, Any] = {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}
BEARS_IT = {"tolerations": [{"key": "karpenter.sh/disrupted", "operator": "Exists"}]}
BEARS_ALL = {"tolerations": [{"operator": "Exists"}]}
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("pod", "waited_for", "evicted"),
    [
        pytest.param(a_pod(), True, True, id="plain"),
        pytest.param(a_pod(owner="DaemonSet"), True, True, id="daemon"),
        pytest.param(a_pod(**PROTECTED), True, False, id="protected"),
        pytest.param(
            a_pod(annotations={"karpenter.sh/do-not-disrupt": "5m"}), True, True, id="no longer"
        ),
        pytest.param(
            a_pod(annotations={"karpenter.sh/do-not-disrupt": "15m"}), True, False, id="still"
        ),
        pytest.param(a_pod(deletionTimestamp=at()), True, False, id="leaving"),
        pytest.param(a_pod(deletionTimestamp=at(-61 * SECOND)), False, False, id="stuck"),
        pytest.param(a_pod(spec=BEARS_IT), False, False, id="tolerates the taint"),
        pytest.param(a_pod(spec=BEARS_ALL), False, False, id="tolerates everything"),
        pytest.param(a_pod(owner="Node"), False, False, id="mirror"),
        pytest.param(a_pod(phase="Succeeded"), False, False, id="ended"),
    ],
)
def test_which_pods_a_drain_waits_for_and_evicts(pod: Pod, waited_for: bool, evicted: bool) -> None:
    assert evictable.is_waited_for(pod, NOW) is waited_for
    assert evictable.is_evictable(pod, NOW) is evicted


def test_only_the_first_tier_that_has_pods_is_evicted() -> None:
    critical = {"priorityClassName": "system-node-critical"}
    tiers = [
        a_pod("app"),
        a_pod("daemon", owner="DaemonSet"),
        a_pod("critical", spec=critical),
        a_pod("critical-daemon", owner="DaemonSet", spec=critical),
    ]

    order = []
    while tiers:
        drain = plan_drain(tiers, None, NOW)
        order.append([pod.metadata.name for pod in drain.evict])
        tiers = [pod for pod in tiers if pod not in drain.evict]

    assert order == [["app"], ["daemon"], ["critical"], ["critical-daemon"]]


def test_a_protected_pod_holds_back_the_tiers_after_its_own() -> None:
    pods = [a_pod("precious", **PROTECTED), a_pod("daemon", owner="DaemonSet")]

    drain = plan_drain(pods, None, NOW)

    assert drain.evict == ()
    assert len(drain.waiting) == 2


@pytest.mark.parametrize(
    ("pod", "left", "due"),
    [
        pytest.param(a_pod(), 30, False, id="no grace of its own: never by force"),
        pytest.param(
            a_pod(spec={"terminationGracePeriodSeconds": 30}), 31, False, id="time enough"
        ),
        pytest.param(a_pod(spec={"terminationGracePeriodSeconds": 30}), 29, True, id="now"),
        pytest.param(a_pod(spec={"terminationGracePeriodSeconds": 600}), 60, True, id="too long"),
        pytest.param(a_pod(deletionTimestamp=at(50 * SECOND)), 60, False, id="leaves in time"),
        pytest.param(a_pod(deletionTimestamp=at(70 * SECOND)), 60, True, id="leaves too late"),
    ],
)
def test_force_is_due_when_the_deadline_would_be_missed(pod: Pod, left: int, due: bool) -> None:
    deadline = NOW + left * SECOND

    assert evictable.is_force_due(pod, deadline, NOW) is due
    assert not evictable.is_force_due(pod, None, NOW)


@pytest.mark.parametrize(
    ("left", "grace"), [pytest.param(90, 90, id="rest"), pytest.param(-5, 1, id="at least one")]
)
def test_a_forced_pod_gets_what_is_left(left: int, grace: int) -> None:
    assert evictable.grace_left(NOW + left * SECOND, NOW) == grace


@pytest.mark.parametrize(
    ("pod", "needs_a_place"),
    [
        pytest.param(a_pod(), True, id="plain"),
        pytest.param(a_pod(owner="DaemonSet"), False, id="daemon"),
        pytest.param(a_pod(owner="Node"), False, id="mirror"),
        pytest.param(a_pod(deletionTimestamp=at()), False, id="leaving"),
        pytest.param(a_pod(owner="StatefulSet", deletionTimestamp=at()), True, id="comes back"),
        pytest.param(a_pod(phase="Failed"), False, id="ended"),
    ],
)
def test_which_pods_need_another_place(pod: Pod, needs_a_place: bool) -> None:
    assert evictable.is_reschedulable(pod) is needs_a_place
