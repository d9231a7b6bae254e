"""Bearer tokens: those that were handed out beforehand, and those of service accounts.

Tokens of service accounts are made on request; they mean nothing to their holder, expire, and die
with the account or with the object that they are bound to.

Source: Kubernetes documentation, "Authenticating": static token file, service account tokens;
"Managing Service Accounts": bound tokens.
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from libs.domain.errors import InvalidRequest
from services.simulator.core.api.access.users import (
    AUTHENTICATED,
    Extra,
    User,
    account_groups,
    account_name,
)
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.store import Store

Object = dict[str, Any]

AUDIENCE = "https://kubernetes.default.svc"
_BINDABLE = MappingProxyType({"Pod": "pods", "Secret": "secrets", "Node": "nodes"})
_EXTRA = "authentication.kubernetes.io"


def read_tokens(text: str) -> Mapping[str, User]:
    """Return the users of a token file by token: lines of `token,user,uid,"group1,group2"`.

    Raises:
        InvalidRequest: a line is too short, or a token stands twice.
    """
    found: dict[str, User] = {}
    for number, row in enumerate(csv.reader(io.StringIO(text), skipinitialspace=True), 1):
        if not row or row[0].startswith("#"):
            continue
        token, name, uid, *groups = (*(column.strip() for column in row[:4]), "", "")[:4]
        if not token or not name or len(row) < 3:
            raise InvalidRequest(f"line {number} is not token,user,uid", field="api_tokens")
        if token in found:
            raise InvalidRequest(f"line {number} repeats a token", field="api_tokens")
        named = [group.strip() for group in groups[0].split(",") if group.strip()]
        everybody = () if AUTHENTICATED in named else (AUTHENTICATED,)
        found[token] = User(name=name, uid=uid, groups=(*named, *everybody))
    return MappingProxyType(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The object that a token lives and dies with."""

    kind: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A service account's token."""

    namespace: str
    account: str
    uid: str
    """Of the account."""

    identifier: str
    """By which the token may be spoken of; it opens nothing."""

    audiences: tuple[str, ...]
    expires: datetime
    bound: Bound | None = None


class Credentials:
    """All tokens of one cluster."""

    def __init__(self, store: Store, static: Mapping[str, User], stranger: User | None) -> None:
        """Take the tokens that were handed out beforehand.

        Args:
            store: where accounts and bound objects are.
            static: users by token.
            stranger: who shows no token; None lets nobody in without one. Where it is a master,
                tokens that nobody knows are not looked at.
        """
        self._store = store
        self._static = static
        self._issued: dict[str, Issued] = {}
        self._stranger = stranger

    def authenticate(self, header: str) -> User:
        """Return who shows this Authorization header (empty for none); raises the 401."""
        scheme, _, token = header.partition(" ")
        token = token.strip()
        user: User | None = None
        if scheme.lower() == "bearer" and token:
            user = self.user_of(token, (AUDIENCE,))
            careless = self._stranger is not None and self._stranger.is_master
            if user is None and careless and token not in self._issued:
                user = self._stranger
        else:
            user = self._stranger
        if user is None:
            raise ApiError(401, "Unauthorized", "Unauthorized")
        return user

    def user_of(self, token: str, audiences: tuple[str, ...]) -> User | None:
        """Return whose token it is, None if it is nobody's or for others."""
        if token in self._static and AUDIENCE in audiences:
            return self._static[token]
        issued = self._issued.get(token)
        if issued is None or not set(audiences) & set(issued.audiences):
            return None
        return self._account(issued)

    def audiences_of(self, token: str) -> tuple[str, ...]:
        """Return for whom a token is meant."""
        issued = self._issued.get(token)
        return issued.audiences if issued is not None else (AUDIENCE,)

    def issue(self, token: str, issued: Issued) -> None:
        """Hand out a token; those that expired are forgotten."""
        now = self._store.sources.now()
        for old in [old for old, one in self._issued.items() if one.expires <= now]:
            del self._issued[old]
        self._issued[token] = issued

    def is_issued(self, token: str) -> bool:
        """Tell whether a token is a service account's."""
        return token in self._issued

    def _account(self, issued: Issued) -> User | None:
        account = self._store.find("serviceaccounts", issued.account, issued.namespace)
        if issued.expires <= self._store.sources.now() or not _is_still(account, issued.uid):
            return None
        extra: dict[str, tuple[str, ...]] = {
            f"{_EXTRA}/credential-id": (f"JTI={issued.identifier}",)
        }
        if issued.bound is not None:
            obj = self.bindable(issued.bound.kind, issued.bound.name, issued.namespace)
            if not _is_still(obj, issued.bound.uid):
                return None
            extra |= self._bound_extra(issued.bound, obj or {})
        known: Extra = tuple(sorted(extra.items()))
        groups = (*account_groups(issued.namespace), AUTHENTICATED)
        name = account_name(issued.namespace, issued.account)
        return User(name=name, uid=issued.uid, groups=groups, extra=known)

    def bindable(self, kind: str, name: str, namespace: str) -> Object | None:
        """Return an object that a token may be bound to, None if there is none."""
        place = "" if kind == "Node" else namespace
        return self._store.find(_BINDABLE[kind], name, place) if kind in _BINDABLE else None

    def _bound_extra(self, bound: Bound, obj: Object) -> dict[str, tuple[str, ...]]:
        if bound.kind == "Secret":
            return {}
        extra: dict[str, tuple[str, ...]] = {
            f"{_EXTRA}/{bound.kind.lower()}-name": (bound.name,),
            f"{_EXTRA}/{bound.kind.lower()}-uid": (bound.uid,),
        }
        node_name = obj["spec"].get("nodeName", "") if bound.kind == "Pod" else ""
        node = self._store.find("nodes", node_name) if node_name else None
        if node_name:
            extra[f"{_EXTRA}/node-name"] = (node_name,)
        if node is not None:
            extra[f"{_EXTRA}/node-uid"] = (node["metadata"]["uid"],)
        return extra


def _is_still(obj: Object | None, uid: str) -> bool:
    return obj is not None and obj["metadata"]["uid"] == uid
