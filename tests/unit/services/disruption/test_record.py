"""What counts as in flight, and for how long."""

from datetime import timedelta
from typing import Any

import pytest

from libs.domain.nodeclaim import ClaimCommand
from libs.domain.nodepool import DisruptionReason
from libs.domain.plan import Command
from services.disruption.core.candidates import assess
from services.disruption.record import CommandRecord
from tests.support.builders import NOW
from tests.unit.services.disruption.clusters import a_cluster, a_machine, asking

FORGET = timedelta(minutes=1)


def a_command(command_id: str = "c-1") -> Command:
    (found,) = assess(asking(a_cluster(a_machine())))
    assert found.candidate is not None
    premise = found.candidate.premise()
    return Command(id=command_id, reason=DisruptionReason.EMPTY, candidates=(premise,))


def a_record() -> CommandRecord:
    record = CommandRecord(FORGET)
    record.accepted(a_command(), NOW)
    return record


@pytest.mark.parametrize(
    ("machines", "after", "known"),
    [
        pytest.param([a_machine()], FORGET / 2, True, id="not shown yet"),
        pytest.param([a_machine()], FORGET, False, id="not shown for long"),
        pytest.param([], FORGET / 2, False, id="claim is gone"),
        pytest.param(
            [a_machine(claim={"uid": "another"})], FORGET / 2, False, id="claim made anew"
        ),
        pytest.param(
            [a_machine(claim={"command": ClaimCommand(id="c-1")})],
            FORGET / 2,
            False,
            id="shown by its claim",
        ),
        pytest.param(
            [a_machine(claim={"deleting_at": NOW})], FORGET / 2, False, id="claim deleting"
        ),
    ],
)
def test_in_flight_until_a_snapshot_shows_it(machines: Any, after: timedelta, known: bool) -> None:
    found = a_record().in_flight(a_cluster(*machines), NOW + after)

    assert found == ({"uid-claim-a": "c-1"} if known else {})


def test_what_was_shown_once_is_not_in_flight_again() -> None:
    record = a_record()
    record.in_flight(a_cluster(a_machine(claim={"command": ClaimCommand(id="c-1")})), NOW)

    assert record.in_flight(a_cluster(a_machine()), NOW) == {}


def test_the_latest_32_are_kept_oldest_first() -> None:
    record = CommandRecord(FORGET)
    for number in range(40):
        record.refused(a_command(str(number)), NOW, "stale")

    assert [one.command.id for one in record.latest()] == [str(number) for number in range(8, 40)]
