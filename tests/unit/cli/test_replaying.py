"""What a real kube-scheduler said of single pods, asked of the solver's own rules.

All recordings; `tests/data/README.md` says where they come from.
"""

import pytest

from cli.replaying import replay
from libs.oracle.replay import UNDOCUMENTED_KINDS
from tests.unit.libs.oracle.recordings import recorded_lines

PARTS = 10


@pytest.mark.parametrize("part", range(PARTS))
def test_the_solver_accepts_the_nodes_that_kube_scheduler_accepts(part: int) -> None:
    results = list(replay(recorded_lines(start=part, every=PARTS)))

    assert len(results) > 600
    different = [
        one for one in results if one.differences and UNDOCUMENTED_KINDS.isdisjoint(one.kinds)
    ]
    assert different == []
