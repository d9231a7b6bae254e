"""What is read of the machine: the narrowest bound there is, and none where nobody says."""

import os
from pathlib import Path

import pytest

from libs.runtime import machine

GIB = 2**30


def a_machine(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("quota", "most"),
    [
        pytest.param("100000 100000", 1, id="one core"),
        pytest.param("50000 100000", 1, id="half a core keeps one busy"),
        pytest.param("150000 100000", 2, id="a part of a core counts"),
        pytest.param("max 100000", None, id="no limit"),
        pytest.param("", None, id="nothing is said"),
        pytest.param("what 100000", None, id="nothing that can be read"),
    ],
)
def test_cores_are_those_that_the_process_may_use(
    tmp_path: Path, quota: str, most: int | None
) -> None:
    own = len(os.sched_getaffinity(0))
    root = a_machine(
        tmp_path,
        {"proc/self/cgroup": "0::/pods/one\n", "sys/fs/cgroup/pods/one/cpu.max": f"{quota}\n"},
    )
    assert machine.cores(root) == min(own, most or own)


def test_a_group_above_bounds_those_in_it(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/pods/one\n",
        "sys/fs/cgroup/pods/cpu.max": "100000 100000\n",
        "sys/fs/cgroup/pods/one/cpu.max": "max 100000\n",
    }
    assert machine.cores(a_machine(tmp_path, files)) == 1


def test_a_group_whose_path_is_another_ones_is_looked_for_at_the_top(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "0::/kubepods/x\n", "sys/fs/cgroup/cpu.max": "100000 100000\n"}
    assert machine.cores(a_machine(tmp_path, files)) == 1


def test_spare_memory_is_the_least_that_anyone_leaves(tmp_path: Path) -> None:
    files = {
        "proc/meminfo": f"MemTotal: 1 kB\nMemAvailable: {8 * GIB // 1024} kB\n",
        "proc/self/cgroup": "0::/pods/one\n",
        "sys/fs/cgroup/pods/one/memory.max": f"{4 * GIB}\n",
        "sys/fs/cgroup/pods/one/memory.current": f"{3 * GIB}\n",
        "sys/fs/cgroup/pods/one/memory.stat": f"anon 7\ninactive_file {GIB // 2}\n",
        "sys/fs/cgroup/pods/memory.max": "max\n",
        "sys/fs/cgroup/pods/memory.current": f"{9 * GIB}\n",
    }
    assert machine.spare_bytes(a_machine(tmp_path, files)) == 3 * GIB // 2


def test_where_nobody_says_nothing_is_known(tmp_path: Path) -> None:
    assert machine.spare_bytes(tmp_path) is None
    assert machine.resident_bytes(tmp_path) == 0


def test_this_process_is_in_memory() -> None:
    if not Path("/proc/self/statm").exists():
        pytest.skip("no /proc here")
    assert machine.resident_bytes() > 1_000_000
