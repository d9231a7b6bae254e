"""Start the provider: `python -m services.provider_kwok`."""

from libs.runtime.run import run
from services.provider_kwok.app import build
from services.provider_kwok.config import Settings

run("provider_kwok", Settings, build)
