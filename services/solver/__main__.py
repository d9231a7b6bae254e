"""Start the solver: `python -m services.solver`."""

from libs.runtime.run import run
from services.solver.app import build
from services.solver.config import Settings

run("solver", Settings, build)
