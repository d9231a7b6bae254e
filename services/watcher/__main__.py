"""Start the watcher: `python -m services.watcher`."""

from libs.runtime.run import run
from services.watcher.app import build
from services.watcher.config import Settings

run("watcher", Settings, build)
