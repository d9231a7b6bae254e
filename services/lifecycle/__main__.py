"""Start lifecycle: `python -m services.lifecycle`."""

from libs.runtime.run import run
from services.lifecycle.app import build
from services.lifecycle.config import Settings

run("lifecycle", Settings, build)
