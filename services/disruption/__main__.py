"""Start disruption: `python -m services.disruption`."""

from libs.runtime.run import run
from services.disruption.app import build
from services.disruption.config import Settings

run("disruption", Settings, build)
