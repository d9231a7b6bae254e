"""Start a peer of a solver: `python -m services.solver.peer SOCKET`, as `sharing` does.

The same solver with the same settings, but that its parent alone pushes to it and asks it, and that
it has no peers.
"""

from dataclasses import replace

from libs.runtime.app import App, Runtime
from libs.runtime.authorization import LOCAL
from libs.runtime.child_process import run_child
from services.solver.app import build
from services.solver.config import Settings


def build_peer(settings: Settings, runtime: Runtime) -> App:
    """Return the app."""
    return build(replace(settings, watcher_identity=LOCAL, processes=1), runtime)


if __name__ == "__main__":
    run_child("solver", Settings, build_peer)
