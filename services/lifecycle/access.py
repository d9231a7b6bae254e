"""`Access`: what every reconciler of lifecycle stands on."""

from dataclasses import dataclass

from libs.runtime.clock import Clock
from services.lifecycle.adapters.cache import Cache
from services.lifecycle.adapters.providers import Providers
from services.lifecycle.adapters.writer import Writer
from services.lifecycle.metrics import Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The cluster to read, the clouds to ask, the hand to write with, the time."""

    cache: Cache
    providers: Providers
    writer: Writer
    metrics: Metrics
    clock: Clock
