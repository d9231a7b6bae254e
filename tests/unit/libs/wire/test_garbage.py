"""Whatever arrives, decoding gives a value or InvalidRequest, never another exception."""

import contextlib
from typing import Any

from google.protobuf.message import DecodeError, Message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from joiner.provider.v1 import provider_pb2
from joiner.snapshot.v1 import snapshot_pb2
from joiner.solver.v1 import solver_pb2

from libs.domain.errors import InvalidRequest
from libs.domain.question import SimulateQuestion
from libs.domain.scenario import PutNodePool, PutOverlay, Scenario
from libs.domain.snapshot import full
from libs.wire.launch import decode_launch_batch
from libs.wire.question import decode_simulate_question, encode_simulate_question
from libs.wire.snapshot import decode_push_request, encode_push_request
from libs.wire.solution import decode_solution
from tests.support.messages import encode_plan
from tests.support.strategies.cluster import nodepools, overlays
from tests.support.strategies.decision import plans
from tests.support.strategies.snapshot import snapshots

thorough = settings(max_examples=60, suppress_health_check=list(HealthCheck))


@st.composite
def damaged(draw: st.DrawFn, message: Message) -> Message:
    """The message after a few fields, anywhere in it, were cleared, doubled or overwritten."""
    for _ in range(draw(st.integers(1, 3))):
        _damage(draw, message)
    return message


def _damage(draw: st.DrawFn, message: Message) -> None:
    fields = message.ListFields()
    if not fields:
        return
    field, value = draw(st.sampled_from(fields))
    if draw(st.booleans()) or field.message_type is None:
        _overwrite(draw, message, field, value)
    elif isinstance(value, Message):
        _damage(draw, value)
    elif len(value) and isinstance(first := next(iter(value)), Message):
        _damage(draw, first)


def _overwrite(draw: st.DrawFn, message: Message, field: Any, value: Any) -> None:
    if draw(st.booleans()):
        message.ClearField(field.name)
    elif isinstance(value, str):
        setattr(message, field.name, "")
    elif isinstance(value, int):
        bound = 2**31 - 1
        number = draw(st.integers(0, bound) if field.name in ("id", "revision") else _numbers)
        with contextlib.suppress(ValueError, TypeError):  # a number that the field cannot hold
            setattr(message, field.name, number)
    elif hasattr(value, "append") and len(value):
        with contextlib.suppress(TypeError):
            value.append(value[0])


_numbers = st.sampled_from([-(2**63), -(2**31), -1, 99, 2**31 - 1, 2**63 - 1])


@given(st.data())
@thorough
def test_a_damaged_snapshot_is_decoded_or_refused(data: st.DataObject) -> None:
    request = encode_push_request(full(data.draw(snapshots(collections=15))))

    with contextlib.suppress(InvalidRequest):
        decode_push_request(data.draw(damaged(request)))  # type: ignore[arg-type]  # the same type


@given(st.data())
@thorough
def test_a_damaged_question_is_decoded_or_refused(data: st.DataObject) -> None:
    edits = (
        PutNodePool(nodepool=data.draw(nodepools)),
        PutOverlay(overlay=data.draw(overlays)),
    )
    question = SimulateQuestion(
        snapshot=data.draw(snapshots()), scenarios=(Scenario(name="s", edits=edits),)
    )
    request = encode_simulate_question(question)

    with contextlib.suppress(InvalidRequest):
        decode_simulate_question(data.draw(damaged(request)))  # type: ignore[arg-type]  # the same


@given(st.data())
@thorough
def test_a_damaged_answer_is_decoded_or_refused(data: st.DataObject) -> None:
    response = solver_pb2.SolveResponse(
        snapshot=snapshot_pb2.SnapshotId(cluster_id="c", epoch=snapshot_pb2.Epoch(boot_id="b")),
        plan=encode_plan(data.draw(plans)),
    )

    with contextlib.suppress(InvalidRequest):
        decode_solution(data.draw(damaged(response)))  # type: ignore[arg-type]  # the same type


@given(st.binary(max_size=200), st.data())
@thorough
def test_garbage_bytes_are_no_message_or_refused(garbage: bytes, data: st.DataObject) -> None:
    good = encode_push_request(full(data.draw(snapshots()))).SerializeToString()
    at = data.draw(st.integers(0, len(good)))

    for received in (garbage, good[:at] + garbage + good[at:]):
        with contextlib.suppress(InvalidRequest, DecodeError):
            decode_push_request(snapshot_pb2.PushSnapshotsRequest.FromString(received))
        with contextlib.suppress(InvalidRequest, DecodeError):
            decode_launch_batch(provider_pb2.CreateRequest.FromString(received))
