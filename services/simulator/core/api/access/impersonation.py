"""Acting as somebody else: what is asked for in headers, and what one must be allowed for it.

Two ways are open, as in Kubernetes 1.36: the narrow one, which also looks at what the request is
(`impersonate:user-info` and `impersonate-on:user-info:list` and the like), then the old one
(`impersonate`). A refusal is worded by the first that applies.

Source: Kubernetes documentation, "User Impersonation"; KEP-5284.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import unquote

from services.simulator.core.api.access.attributes import Attributes
from services.simulator.core.api.access.policy import quoted
from services.simulator.core.api.access.rbac import Decision
from services.simulator.core.api.access.refusals import forbidden
from services.simulator.core.api.access.users import (
    ANONYMOUS_NAME,
    AUTHENTICATED,
    NODE_PREFIX,
    NODES,
    UNAUTHENTICATED,
    User,
    account_groups,
    account_of,
)
from services.simulator.core.api.errors import ApiError, bad_request
from services.simulator.core.api.messages import Request

Authorize = Callable[[User, Attributes], Decision]

_EXTRA = "impersonate-extra-"
_AUTHENTICATION = "authentication.k8s.io"


def wanted_user(request: Request) -> User | None:
    """Return whom a request wants to be made by, as it says; None if it says nothing.

    Raises the 400 of one that names everything but a user.
    """
    name, uid, groups = "", "", []
    extra: dict[str, list[str]] = {}
    for header, value in request.impersonation:
        if header == "impersonate-user":
            name = name or value
        elif header == "impersonate-uid":
            uid = uid or value
        elif header == "impersonate-group":
            groups.append(value)
        elif header.startswith(_EXTRA):
            extra.setdefault(unquote(header.removeprefix(_EXTRA)), []).append(value)
    known = tuple(sorted((key, tuple(values)) for key, values in extra.items()))
    wanted = User(name=name, uid=uid, groups=tuple(groups), extra=known)
    if not name and (uid or groups or extra):
        raise bad_request(f"requested {_as_go(wanted)} without impersonating a user name")
    return wanted if name else None


def _as_go(user: User) -> str:
    groups = "[]string(nil)" if not user.groups else _go_list(user.groups)
    pairs = ", ".join(f'"{key}":{_go_list(values)}' for key, values in user.extra)
    extra = f"map[string][]string{{{pairs}}}" if pairs else "map[string][]string(nil)"
    return f'&user.DefaultInfo{{Name:"", UID:"{user.uid}", Groups:{groups}, Extra:{extra}}}'


def _go_list(texts: tuple[str, ...]) -> str:
    return "[]string{" + quoted(texts)[1:-1].replace('" "', '", "') + "}"


def impersonated(
    user: User, wanted: User, asked: Attributes, authorize: Authorize
) -> tuple[User, str]:
    """Return who `user` becomes for a request, and by which narrow right, if any.

    Raises the 403.
    """
    refusal: ApiError | None = None
    for mode in (*_narrow_modes(user, wanted), _Mode(name="")):
        refused = _refused(user, mode.wants(wanted, asked), authorize)
        if refused is None:
            return _completed(wanted, narrow=bool(mode.name)), mode.constraint
        refusal = refusal or refused
    assert refusal is not None
    raise refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mode:
    """One of the ways to act as others; the old one has no name."""

    name: str

    @property
    def constraint(self) -> str:
        """Return the verb of a narrow way, empty for the old one."""
        return f"impersonate:{self.name}" if self.name else ""

    def wants(self, wanted: User, asked: Attributes) -> Iterator[Attributes]:
        """Yield what one must be allowed, in the order in which it is looked at."""
        verb = self.constraint or "impersonate"
        if self.name:
            yield replace(asked, verb=f"impersonate-on:{self.name}:{asked.verb}")
        yield self._name(wanted, verb)
        further = Attributes(verb=verb, group=_AUTHENTICATION, version="v1")
        if wanted.uid:
            yield replace(further, resource="uids", name=wanted.uid)
        group = _AUTHENTICATION if self.name else ""
        for name in wanted.groups:
            yield replace(further, group=group, resource="groups", name=name)
        for key, values in wanted.extra:
            for value in values:
                yield replace(further, resource="userextras", subresource=key, name=value)

    def _name(self, wanted: User, verb: str) -> Attributes:
        group = _AUTHENTICATION if self.name else ""
        plain = Attributes(verb=verb, group=group, version="v1", resource="users", name=wanted.name)
        account = account_of(wanted.name)
        if account is not None:
            namespace, name = account
            return replace(plain, resource="serviceaccounts", namespace=namespace, name=name)
        if self.name == "associated-node":
            return replace(plain, resource="nodes", name="*")
        if self.name == "arbitrary-node":
            return replace(plain, resource="nodes", name=wanted.name.removeprefix(NODE_PREFIX))
        return plain


def _narrow_modes(user: User, wanted: User) -> Iterator[_Mode]:
    plain = not (wanted.uid or wanted.groups or wanted.extra)
    if wanted.name.startswith(NODE_PREFIX):
        node = wanted.name.removeprefix(NODE_PREFIX)
        if plain and (node,) in [
            values for key, values in user.extra if key == "authentication.kubernetes.io/node-name"
        ]:
            yield _Mode(name="associated-node")
        if plain:
            yield _Mode(name="arbitrary-node")
    elif account_of(wanted.name) is not None:
        if plain:
            yield _Mode(name="serviceaccount")
    else:
        yield _Mode(name="user-info")


def _refused(user: User, wants: Iterator[Attributes], authorize: Authorize) -> ApiError | None:
    for asked in wants:
        decision = authorize(user, asked)
        if not decision.allowed:
            return forbidden(user, asked, decision.reason)
    return None


def _completed(wanted: User, *, narrow: bool) -> User:
    """Return the wanted user with the groups that go without saying."""
    groups = wanted.groups
    account = account_of(wanted.name)
    if account is not None and not groups:
        groups = account_groups(account[0])
    if narrow and wanted.name.startswith(NODE_PREFIX):
        groups = (NODES,)
    everybody = UNAUTHENTICATED if wanted.name == ANONYMOUS_NAME else AUTHENTICATED
    if everybody not in groups and UNAUTHENTICATED not in groups:
        groups = (*groups, everybody)
    return replace(wanted, groups=groups)
