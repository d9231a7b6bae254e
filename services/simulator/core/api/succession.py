"""What a write leaves of an object: by subresource only a part is the client's to change."""

from typing import Any

from services.simulator.core.api import metadata, reading, resize
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.strategies.registry import strategy_of

Object = dict[str, Any]


def beginning(resource: Resource, new: Object, now: str) -> None:
    """Give a new object the status that it has to begin with, whatever the client sent."""
    strategy = strategy_of(resource)
    if resource.has_status and not strategy.keeps_status:
        zero = reading.blank(resource).get("status")
        if zero is None:
            new.pop("status", None)
        else:
            new["status"] = dict(zero)
    strategy.prepare_create(new, now)


def successor(resource: Resource, new: Object, old: Object, subresource: str) -> Object:
    """Return what follows `old` where a client sent `new`; `new` is the caller's own."""
    strategy = strategy_of(resource)
    metadata.carry_over(new["metadata"], old["metadata"])
    if subresource == "status":
        _keep_all_but(new, old, "metadata", "status")
        if strategy.status_keeps_metadata:
            new["metadata"] = dict(old["metadata"])
        elif strategy.status_keeps_labels:
            _copy_member(new["metadata"], old["metadata"], "labels")
        strategy.prepare_status(new, old)
    elif subresource == "resize":
        new = resize.take_resources(resource, new, old)
        strategy.prepare_update(new, old)
    elif subresource == "finalize":
        finalizers = new["spec"].get("finalizers", [])
        _keep_all_but(new, old, "metadata")
        new["spec"] = {"finalizers": finalizers} if finalizers else {}
    else:
        if resource.has_status:
            _copy_member(new, old, "status")
        strategy.prepare_update(new, old)
    return new


def _copy_member(new: Object, old: Object, name: str) -> None:
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)


def _keep_all_but(new: Object, old: Object, *names: str) -> None:
    for name in {*new, *old} - {*names}:
        _copy_member(new, old, name)
