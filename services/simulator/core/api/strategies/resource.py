"""Devices: classes, claims and slices."""

from services.simulator.core.api.strategies.generations import count_changes, start_at_one
from services.simulator.core.api.strategies.strategy import Strategy

CLASS = Strategy(prepare_create=start_at_one, prepare_update=count_changes)
SLICE = Strategy(prepare_create=start_at_one, prepare_update=count_changes)
