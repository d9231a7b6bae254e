import pytest

from libs.apiserver.rules import schedules
from libs.apiserver.rules.job_policies import count_indexes


@pytest.mark.parametrize(
    ("schedule", "fault"),
    [
        ("*/5 * * * *", ""),
        ("0 0 1 jan sun", ""),
        ("@hourly", ""),
        ("@every 5m", ""),
        ("@often", "unrecognized descriptor: @often"),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
    ],
)
def test_a_schedule_is_read_as_cron_does(schedule: str, fault: str) -> None:
    assert schedules.fault(schedule) == fault


@pytest.mark.parametrize("zone", ["Etc/UTC", "Europe/Zurich"])
def test_zones_of_the_database_are_fine(zone: str) -> None:
    assert schedules.zone_fault(zone) == ""


@pytest.mark.parametrize("zone", ["Mars/Base", "../etc", "a b"])
def test_other_zones_are_unknown(zone: str) -> None:
    assert schedules.zone_fault(zone) == f"unknown time zone {zone}"


def test_indexes_are_counted() -> None:
    assert count_indexes("0,2-4", 5) == 4


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("5", 'too large index: "5"'),
        ("2,1", "non-increasing order, previous: 2, current: 1"),
        ("1-2-3", "at most two parts"),
        ("a", 'cannot convert string to integer for index: "a"'),
    ],
)
def test_odd_indexes_are_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        count_indexes(text, 5)
