"""What this process may have of its machine: cores, and memory that is left.

Containers see the whole machine everywhere but in their control group (version 2); whatever cannot
be read bounds nothing.
"""

import math
import os
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/")
_KIB = 1024
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def cores(root: Path = _ROOT) -> int:
    """Return how many cores this process may keep busy, at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found = [allowed or 1]
    for group in _groups(root):
        quota, _, period = _text(group / "cpu.max").partition(" ")
        if quota.isdigit() and period.isdigit() and int(period):
            found.append(math.ceil(int(quota) / int(period)))
    return max(1, min(found))


def resident_bytes(root: Path = _ROOT) -> int:
    """Return what this process has in memory, 0 where nobody says."""
    fields = _text(root / "proc/self/statm").split()
    return int(fields[1]) * _PAGE_BYTES if len(fields) > 1 else 0


def spare_bytes(root: Path = _ROOT) -> int | None:
    """Return how much more memory may be taken, None where nobody says."""
    found = list(_spare(root))
    return min(found, default=None)


def _spare(root: Path) -> Iterator[int]:
    for line in _text(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * _KIB
    for group in _groups(root):
        limit, used = _text(group / "memory.max"), _text(group / "memory.current")
        if limit.isdigit() and used.isdigit():
            yield int(limit) - int(used) + _given_back(group)


def _given_back(group: Path) -> int:
    """Return what counts as used and is given up before anybody is refused memory: old files."""
    for line in _text(group / "memory.stat").splitlines():
        if line.startswith("inactive_file "):
            return int(line.split()[1])
    return 0


def _groups(root: Path) -> Iterator[Path]:
    """Yield the control group of this process and those that it is in."""
    top = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        if line.startswith("0::"):
            own = top / line.removeprefix("0::").lstrip("/")
            yield own
            while own != top and top in own.parents:
                own = own.parent
                yield own


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
