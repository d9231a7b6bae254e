"""What people are told of many pods without a place."""

from pathlib import Path
from typing import Any

import pytest

from cli.unplaced import unplaced
from libs.domain.plan import UnplacedPods
from libs.domain.reason import Rejection, Rule, TargetKind, Unplaceable
from libs.domain.resources import NOTHING
from tests.unit.cli.command import POD, POOL, joiner, with_members, written


def _pod(number: int, **members: Any) -> dict[str, Any]:
    name = f"web-{number}"
    return with_members(POD, metadata__name=name, metadata__uid=name, **members)


def _group(number: int, rule: Rule, message: str, pods: int = 1) -> UnplacedPods:
    rejection = Rejection(
        target_kind=TargetKind.NODEPOOL,
        target="pool",
        rule=rule,
        message=message,
        asked=NOTHING,
        offered=NOTHING,
    )
    uids = tuple(f"u{number:05}-{index:05}" for index in range(pods))
    reason = Unplaceable(message=f'nodepool "pool": {message}', rejections=(rejection,))
    return UnplacedPods(pod_uids=uids, reason=reason)


def test_equal_reasons_of_unlike_pods_are_told_once(tmp_path: Path) -> None:
    pods = [_pod(number, spec__nodeSelector={"team": "x"}) for number in range(4)]
    unlike = [with_members(pod, metadata__namespace=f"ns{i}") for i, pod in enumerate(pods)]

    done = joiner("plan", "-f", written(tmp_path, POOL, *unlike))

    assert done.code == 3
    assert done.out.count("without a place: ") == 1
    assert "4 pods without a place: ns0/web-0, ns1/web-1, ns2/web-2 and 1 more\n" in done.out


def test_reasons_that_differ_in_a_name_are_told_as_of_the_first(tmp_path: Path) -> None:
    def volume(number: int) -> list[dict[str, Any]]:
        claim = {"claimName": f"data-{number}"}
        return [{"name": "data", "persistentVolumeClaim": claim}]

    pods = [_pod(number, spec__volumes=volume(number)) for number in range(1500)]

    done = joiner("plan", "-f", written(tmp_path, POOL, *pods))

    assert done.code == 3
    first = 'persistentvolumeclaim "shop/data-0" does not exist'
    lines = done.out.splitlines()
    assert (
        lines[2] == "1500 pods without a place: shop/web-0, shop/web-1, shop/web-10 and 1497 more"
    )
    assert lines[3] == "    shop/web-0, and the others likewise:"
    assert lines[4].endswith(first)
    assert len(lines) < 8
    (note,) = [line for line in done.err.splitlines() if "set aside" in line]
    assert f"{first}; and 1499 more like it: shop/web-1" in note


def test_pods_of_a_workload_are_named_by_it() -> None:
    group = _group(0, Rule.TAINTS, "taint a is not tolerated", pods=1002)
    workloads = dict.fromkeys(group.pod_uids[:1000], "ReplicaSet shop/web")
    names = {uid: f"shop/{uid}" for uid in group.pod_uids}

    lines = list(unplaced([group], names, workloads))

    assert lines[0] == (
        "1002 pods without a place: 1000 pods of ReplicaSet shop/web, "
        f"shop/{group.pod_uids[1000]}, shop/{group.pod_uids[1001]}"
    )


def test_of_ten_thousand_unlike_pods_a_summary_comes_first_and_a_page_at_most() -> None:
    rules = (Rule.RESOURCES, Rule.TAINTS)
    groups = [_group(one, rules[one % 5 == 0], f"{one} cpu asked") for one in range(10_000)]

    lines = list(unplaced(groups, {}, {}))

    assert lines[0] == (
        "10000 pods without a place, for 10000 reasons: 8000 by resources, 2000 by taints"
    )
    assert len(lines) < 60
    assert lines[-1] == "and 9980 more reasons; --format json has all"


def test_the_reason_of_most_pods_comes_first() -> None:
    groups = [_group(0, Rule.TAINTS, "few"), _group(1, Rule.TAINTS, "many", pods=3)]

    lines = list(unplaced(groups, {}, {}))

    assert [line.split(":")[0] for line in lines[::2]] == [
        "3 pods without a place",
        "1 pod without a place",
    ]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ('nodepool "pool": full', []),
        ('nearest is node "n": 2 asked, 1 free; nodepool "pool": full', ["    nearest is node"]),
    ],
    ids=["the pool alone", "a node that is nearer"],
)
def test_what_came_nearest_is_told_unless_it_is_the_pool_that_follows(
    message: str, told: list[str]
) -> None:
    group = _group(0, Rule.POOL_LIMITS, "full")
    reason = Unplaceable(message=message, rejections=group.reason.rejections)

    lines = list(unplaced([UnplacedPods(pod_uids=("u",), reason=reason)], {}, {}))

    assert [line[: len("    nearest is node")] for line in lines[1:-1]] == told
    assert lines[-1] == "    nodepool pool: full"
