"""Start the simulator: `python -m services.simulator`."""

from libs.runtime.run import run
from services.simulator.app import build
from services.simulator.config import Settings

run("simulator", Settings, build)
