"""Equal decisions have equal ids, different ones differ."""

import re
from dataclasses import replace

from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from services.solver.core.solve import solve
from tests.support.builders import a_shape, a_snapshot, pods


def _id(snapshot: ClusterSnapshot) -> str:
    return solve(snapshot, SolveOptions()).plan_id


def test_an_id_is_short_and_a_dns_label() -> None:
    assert re.fullmatch("p[a-z2-7]{19}", _id(a_snapshot(pods=pods(1))))


def test_equal_decisions_have_equal_ids() -> None:
    assert _id(a_snapshot(pods=pods(2))) == _id(a_snapshot(pods=pods(2)))


def test_another_revision_and_another_content_have_other_ids() -> None:
    snapshot = a_snapshot(pods=pods(2))
    later = replace(snapshot, id=replace(snapshot.id, revision=2))

    ids = {_id(snapshot), _id(later), _id(a_snapshot(pods=pods(3)))}
    ids.add(_id(a_snapshot(shapes=[a_shape(cpu="2")], pods=pods(2))))
    assert len(ids) == 4
