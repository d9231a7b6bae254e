"""How a request is refused that somebody may not make."""

import json

from services.simulator.core.api.access.attributes import Attributes
from services.simulator.core.api.access.users import User
from services.simulator.core.api.errors import ApiError


def forbidden(user: User, asked: Attributes, reason: str = "") -> ApiError:
    """Return the 403 of an authorizer."""
    told = _told(user, asked)
    for mark, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        told = told.replace(mark, name)
    if reason:
        told = f"{told}: {reason}"
    if asked.path:
        return ApiError(403, "Forbidden", f"forbidden: {told}", {})
    qualified = f"{asked.resource}.{asked.group}" if asked.group else asked.resource
    details = {"name": asked.name, "group": asked.group, "kind": asked.resource}
    subject = f'{qualified} "{asked.name}"' if asked.name else qualified
    return ApiError(
        403,
        "Forbidden",
        f"{subject} is forbidden: {told}",
        {name: value for name, value in details.items() if value},
    )


def _told(user: User, asked: Attributes) -> str:
    who = json.dumps(user.name, ensure_ascii=False)
    if asked.path:
        return f'User {who} cannot {asked.verb} path "{asked.path}"'
    where = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
    what = f'resource "{asked.combined}" in API group "{asked.group}"'
    return f"User {who} cannot {asked.verb} {what} {where}"
