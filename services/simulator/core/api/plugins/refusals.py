"""How admission plug-ins refuse."""

from typing import Any

from services.simulator.core.api import errors
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.resources import Resource


def refused(resource: Resource, obj: dict[str, Any], why: str) -> ApiError:
    """Return the 403 that names the object, or the prefix of a name yet to be made."""
    meta = obj["metadata"]
    return errors.forbidden(resource, meta.get("name") or meta.get("generateName", ""), why)
