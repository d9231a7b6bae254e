"""How objects count their generations."""

from services.simulator.core.api.strategies.strategy import Object, Stored


def start_at_one(obj: Object, _now: str) -> None:
    """Start counting generations."""
    obj["metadata"]["generation"] = 1


def count_changes(new: Object, old: Stored) -> None:
    """Count every change outside metadata and status."""
    own = [key for key in {*new, *old} if key not in ("metadata", "status")]
    if any(new.get(key) != old.get(key) for key in own):
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
