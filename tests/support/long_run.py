"""A long run of the judges over random clusters: `python -m tests.support.long_run SEED COUNT DIR`.

Apart from the tests because it goes on after a failure: it counts, and keeps each example that
was refused, overlooked somebody, fell below the reference or passed over a priority as a file in
DIR; `… FILE` judges such a file again.
"""

import pickle
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.support.judging import Judgement, judged
from tests.support.mixed import MixedCluster, load
from tests.support.strategies.mixed import mixed_clusters


def run(number: int, count: int, kept: Path) -> Counter[str]:
    """Judge so many examples of a seed and return how many there were of each kind."""
    counted: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=count,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(mixed_clusters())
    def one(mixed: MixedCluster) -> None:
        counted["examples"] += 1
        kind = _kind(mixed)
        counted[kind] += 1
        if kind not in ("equal", "above"):
            name = f"{kind}-{number}-{counted['examples']}"
            (kept / name).write_bytes(pickle.dumps(mixed))
            print(name, dict(counted), flush=True)

    one()
    return counted


def _kind(mixed: MixedCluster) -> str:
    try:
        found = judged(load(mixed))
    except Exception:  # a run goes on: what breaks is one more thing to count
        traceback.print_exc()
        return "crashed"
    if found.refused:
        return "refused"
    if found.overlooked:
        return "overlooked"
    if found.beyond_reference < 0:
        return "below"
    if found.passed_over is not None:
        return "passed-over"
    return "above" if found.beyond_reference else "equal"


def again(kept: Path) -> Judgement:
    """Judge a kept example."""
    return judged(load(pickle.loads(kept.read_bytes())))


if __name__ == "__main__":
    if len(sys.argv) == 2:
        result = again(Path(sys.argv[1]))
        print(result.refused, result.overlooked, result.beyond_reference, result.passed_over)
    else:
        started = time.process_time()
        where = Path(sys.argv[3])
        where.mkdir(exist_ok=True)
        print(dict(run(int(sys.argv[1]), int(sys.argv[2]), where)))
        print(f"{time.process_time() - started:.0f} s of CPU")
