"""What a node is said to refuse a pod for, in words."""

from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.pod import VolumeAttachCount
from libs.domain.question import SubjectKind
from libs.domain.reason import Rule
from libs.domain.solution import SolveOptions
from libs.domain.volume import UnboundClaim
from services.solver.core.explaining.explain import explain
from tests.support.builders import a_node, a_pod, a_shape, a_snapshot, a_term, pods, require

DISKS = VolumeAttachCount(driver="disk", count=2)


@pytest.mark.parametrize(
    ("waiting", "running", "rule", "words"),
    [
        pytest.param(
            {"volume_attach_counts": (DISKS,)},
            {"volume_attach_counts": (DISKS,)},
            Rule.VOLUME_LIMITS,
            "max volume count of disk exceeded: 2 to attach, 1 more can be",
            id="volumes",
        ),
        pytest.param(
            {"volumes": ((require((label_keys.ZONE, "In", ["zone-z"])),),)},
            {},
            Rule.VOLUME_TOPOLOGY,
            f"by node affinity of persistent volumes {label_keys.ZONE} In [zone-z] is asked for, "
            "it has zone-a",
            id="a volume elsewhere",
        ),
        pytest.param(
            {"unbound_claims": (UnboundClaim(kinds=("disks",)),)},
            {},
            Rule.VOLUME_BINDING,
            "no available persistent volumes to bind: 0 would do, 0 of them in reach",
            id="no volume that is free",
        ),
        pytest.param(
            {},
            {"labels": {"app": "db"}, "anti_affinity": (a_term(),)},
            Rule.POD_ANTI_AFFINITY,
            f"pod anti-affinity over {label_keys.HOSTNAME} does not allow it; pods with app=db in "
            "default have an anti-affinity to it, as to all pods with app=web in default",
            id="who is there keeps it away",
        ),
    ],
)
def test_a_refusal_has_its_numbers_and_names(
    waiting: dict[str, Any], running: dict[str, Any], rule: Rule, words: str
) -> None:
    snapshot = a_snapshot(
        shapes=[a_shape(**waiting), a_shape(2, **running)],
        pods=[*pods(1), a_pod("runs", 2, node="node-1")],
        nodes=[a_node(volume_limits=(VolumeAttachCount(driver="disk", count=3),))],
        nodepools=[],
    )
    name = next(f"{one.namespace}/{one.name}" for one in snapshot.pods.rows() if not one.node)

    answer = explain(snapshot, SolveOptions(), SubjectKind.POD_NAME, name)

    assert answer.pod is not None
    assert [(one.rule, one.message) for one in answer.pod.nearest] == [(rule, words)]
