"""Server-side apply on the scale subresource: ownership of one field, the parent's replicas.

Source: Kubernetes documentation, "Server-Side Apply"; KEP-555 on subresources.
"""

from dataclasses import replace
from typing import Any

from services.simulator.core.api import errors
from services.simulator.core.api.ownership.apply import conflict, required_manager
from services.simulator.core.api.ownership.managers import (
    Manager,
    Managing,
    by_apply,
    decode_managers,
)
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.store import Object
from services.simulator.core.api.writing import WriteOptions

_SCALE = ("autoscaling/v1", "Scale")


def bookkeeping(
    resource: Resource, live: Object, config: Any, *, changes: bool, options: WriteOptions
) -> Managing:
    """Return who owns the replicas after an apply; raises 400, 409 (conflicts), 422.

    Args:
        resource: the parent's.
        live: the parent as it is stored.
        config: the Scale that is applied.
        changes: whether the replicas become others.
        options: of the request.
    """
    required_manager(options)
    if (config.get("apiVersion"), config.get("kind")) != _SCALE:
        group, _, version = str(config.get("apiVersion") or "").rpartition("/")
        kind = config.get("kind") or ""
        raise errors.bad_request(f"invalid object type: {group}/{version}, Kind={kind}")
    assert resource.scale is not None
    path = tuple(f"f:{step}" for step in resource.scale[0].removeprefix(".").split("."))
    me = Manager(
        name=options.manager,
        operation="Apply",
        api_version=resource.group_version,
        subresource="scale",
        fields=frozenset({path}),
    )
    managers = decode_managers(live["metadata"].get("managedFields", ()))
    others = [manager for manager in managers if manager.key != me.key]
    owners = [manager for manager in others if path in manager.fields]
    if changes and owners and not options.force:
        raise conflict([(manager, path) for manager in owners])
    if changes:
        others = [replace(manager, fields=manager.fields - {path}) for manager in others]
    return by_apply(others, me)
