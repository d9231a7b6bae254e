"""Custom resources: what the API server sets on all of them; their schema does the rest."""

from services.simulator.core.api.strategies.strategy import Object, Stored, Strategy

_ENVELOPE = ("apiVersion", "kind", "metadata")


def _start_at_one(obj: Object, _now: str) -> None:
    obj["metadata"]["generation"] = 1


def _count_changes(new: Object, old: Stored) -> None:
    """Count every change outside the metadata.

    A status that is a subresource is the same on both sides.
    """
    own = [name for name in {*new, *old} if name not in _ENVELOPE]
    if any(new.get(name) != old.get(name) for name in own):
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


CUSTOM = Strategy(
    prepare_create=_start_at_one,
    prepare_update=_count_changes,
    status_keeps_metadata=True,
    plain_metadata=True,
)
