"""A process may end while its threads are in the kernel; they must not take it down with them."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

_ENDING = """
import sys, threading
from tests.unit.kernel.plain_algebra import PlainAlgebra, PlainPacker

sys.setswitchinterval(1e-6)  # the lock is asked for wherever that can be
begun = threading.Semaphore(0)

def work():
    one = PlainAlgebra([[4]])
    one.sell()
    group = one.add_group(one.ask(5), 1, turn=0)
    while True:
        one.packing.take_turns([group], PlainPacker())
        begun.release()

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
for _ in range(100):
    begun.acquire()
"""


def test_a_process_that_ends_while_threads_pack_ends_in_order() -> None:
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", _ENDING],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
