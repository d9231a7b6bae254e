"""The two authorizers: one that allows everything, and RBAC."""

from collections.abc import Sequence
from typing import Protocol

from services.simulator.core.api.access import policy
from services.simulator.core.api.access.attributes import Attributes
from services.simulator.core.api.access.rbac import ALLOWED, Decision, Grant
from services.simulator.core.api.access.users import User


class Authorizer(Protocol):
    """Says who may do what."""

    def authorize(self, user: User, asked: Attributes) -> Decision:
        """Decide about a request."""

    def grants(self, user: User, namespace: str) -> Sequence[Grant]:
        """Return what somebody may do in a namespace, by where they have it from."""


class AlwaysAllow:
    """Allows everything to everybody."""

    def authorize(self, _user: User, _asked: Attributes) -> Decision:
        """Allow it."""
        return ALLOWED

    def grants(self, _user: User, _namespace: str) -> Sequence[Grant]:
        """Return everything."""
        return (Grant("", policy.EVERYTHING),)
