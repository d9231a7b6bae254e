"""Who asks: a name, groups, and what else is known; and the names that mean something to everybody.

Source: Kubernetes documentation, "Authenticating", "Service accounts".
"""

from dataclasses import dataclass
from typing import Any

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
ANONYMOUS_NAME = "system:anonymous"
NODES = "system:nodes"
ACCOUNT_PREFIX = "system:serviceaccount:"
NODE_PREFIX = "system:node:"

Extra = tuple[tuple[str, tuple[str, ...]], ...]
"""Further facts by key, in the order of the keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody who sends requests."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Extra = ()

    @property
    def is_master(self) -> bool:
        """Tell whether no authorizer is asked about them."""
        return MASTERS in self.groups

    def info(self) -> dict[str, Any]:
        """Return the `UserInfo` of the API."""
        info = {
            "username": self.name,
            "uid": self.uid,
            "groups": list(self.groups),
            "extra": {key: list(values) for key, values in self.extra},
        }
        return {name: value for name, value in info.items() if value}


ANONYMOUS = User(name=ANONYMOUS_NAME, groups=(UNAUTHENTICATED,))
ADMIN = User(name="admin", groups=(MASTERS, AUTHENTICATED))
"""Whoever asks where nobody has to say who they are."""


def account_name(namespace: str, name: str) -> str:
    """Return the user name of a service account."""
    return f"{ACCOUNT_PREFIX}{namespace}:{name}"


def account_groups(namespace: str) -> tuple[str, ...]:
    """Return the groups of every service account of a namespace."""
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")


def account_of(user_name: str) -> tuple[str, str] | None:
    """Return namespace and name of the service account behind a user name, None if it is none."""
    if not user_name.startswith(ACCOUNT_PREFIX):
        return None
    namespace, colon, name = user_name.removeprefix(ACCOUNT_PREFIX).partition(":")
    return (namespace, name) if colon and namespace and name and ":" not in name else None
