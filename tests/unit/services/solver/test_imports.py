"""What a starting solver does not load: each of these would delay its first answer."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]
LATE = ("aiohttp", "highspy", "kubernetes", "msgspec", "yaml")
"""For others, or for what a question may ask for later."""
LOADED = f"""
import sys
import libs.runtime.run, services.solver.app, services.solver.config
print(*[name for name in {LATE} if name in sys.modules])
"""


def test_a_starting_solver_loads_nothing_that_it_does_not_need() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == []
