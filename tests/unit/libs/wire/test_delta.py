"""One revision becomes another, also when the change travels."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from joiner.snapshot.v1 import snapshot_pb2

from libs.domain.pod_table import PodTable
from libs.domain.snapshot import ClusterSnapshot, SnapshotUpdate, apply, delta, full
from libs.wire.snapshot import decode_push_request, encode_push_request
from tests.support.strategies.snapshot import snapshots


def travelled(update: SnapshotUpdate) -> SnapshotUpdate:
    sent = encode_push_request(update).SerializeToString()
    received = decode_push_request(snapshot_pb2.PushSnapshotsRequest.FromString(sent))
    assert isinstance(received, SnapshotUpdate)
    return received


@given(snapshots(revision=1), snapshots(revision=2))
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_the_change_between_two_snapshots_makes_one_out_of_the_other(
    base: ClusterSnapshot, target: ClusterSnapshot
) -> None:
    assert apply(delta(base, target), base) == target
    assert apply(travelled(delta(base, target)), base) == target
    assert apply(travelled(full(target)), None) == target


@given(snapshots(revision=1), st.data())
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
def test_only_what_differs_is_in_the_change(base: ClusterSnapshot, data: st.DataObject) -> None:
    rows = list(base.pods.rows())
    kept = [row for row in rows if data.draw(st.booleans())]
    changed = [row._replace(ready=not row.ready) for row in kept[:1]]
    target = replace(
        base,
        id=replace(base.id, revision=2),
        pods=PodTable.from_rows([*kept[1:], *changed]),
    )

    update = delta(base, target)

    assert list(update.pods.rows()) == changed
    assert set(update.removed_pods) == {row.uid for row in rows} - {row.uid for row in kept}
    assert not any(update.upserts.values())
    assert not any(update.removals.values())


@given(snapshots(revision=1), snapshots(revision=2))
@settings(max_examples=5, suppress_health_check=list(HealthCheck))
def test_a_change_is_refused_by_another_revision_than_its_base(
    base: ClusterSnapshot, target: ClusterSnapshot
) -> None:
    with pytest.raises(ValueError, match="does not follow"):
        apply(delta(base, target), target)
