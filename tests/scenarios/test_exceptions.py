"""Holds the record of clusters with fewer pods placed than by the reference to the scenarios.

`exceptions/` has a table of kinds: each with the random clusters that showed it, and with the
scenario that shows it now. Those that are not mended are "kept exceptions", also by name.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.scenarios.words import documents

HERE = Path(__file__).parent
(TABLE,) = documents(HERE / "exceptions" / "below_the_reference.yaml")
KEPT = "kept exception, "


def test_each_kind_has_a_scenario_that_exists() -> None:
    missing = {one["kind"] for one in TABLE["kinds"] if not _scenarios(one) <= _cases()}

    assert missing == set()
    assert all(_scenarios(one) for one in TABLE["kinds"])


def test_what_is_kept_is_so_by_name() -> None:
    kept = set().union(*(_scenarios(one) for one in TABLE["kinds"] if one["kept"]))
    mended = set().union(*(_scenarios(one) for one in TABLE["kinds"] if not one["kept"]))

    assert kept == {one for one in _cases() if one[1].startswith(KEPT)}
    assert not any(case.startswith(KEPT) for _, case in mended)


def test_each_cluster_is_of_one_kind_and_of_a_run() -> None:
    counted = Counter(_clusters())

    assert [one for one, count in counted.items() if count > 1] == []
    assert {seed for seed, _ in counted} == {seed for run in TABLE["runs"] for seed in run["seeds"]}


def test_a_run_has_as_many_clusters_as_it_counted() -> None:
    counted = Counter(seed for seed, _ in _clusters())

    for run in TABLE["runs"]:
        assert sum(counted[seed] for seed in run["seeds"]) == run["below"], run["commit"]


@cache
def _cases() -> frozenset[tuple[str, str]]:
    return frozenset(
        (path.stem, scenario["case"])
        for path in HERE.glob("*.yaml")
        for scenario in documents(path)
    )


def _scenarios(kind: dict[str, Any]) -> set[tuple[str, str]]:
    return {(stem, case) for stem, cases in kind["scenarios"].items() for case in cases}


def _clusters() -> Iterator[tuple[int, int]]:
    """Yield seed and number of each cluster; `first-last` are variations of one."""
    for kind in TABLE["kinds"]:
        for seed, numbers in kind.get("clusters", {}).items():
            for part in str(numbers).split():
                first, _, last = part.partition("-")
                yield from ((seed, number) for number in range(int(first), int(last or first) + 1))
