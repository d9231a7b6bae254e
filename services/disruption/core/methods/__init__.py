"""The ways of disrupting, one module each; this list is their order."""

from services.disruption.core.methods.emptiness import EMPTINESS
from services.disruption.core.methods.method import Method

METHODS: tuple[Method, ...] = (EMPTINESS,)
"""Tried from the first to the last; the first one whose command starts ends the pass."""
