"""The RBAC authorizer: roles and bindings of the store, looked up by who asks.

Decisions are remembered until a role or binding changes, so a repeated request costs two look-ups
whatever the number of bindings. Laws: what no binding grants is refused; of several bindings that
grant, the first by scope and name is the reason.

Source: Kubernetes documentation, "Using RBAC Authorization".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from services.simulator.core.api.access import policy
from services.simulator.core.api.access.attributes import Attributes
from services.simulator.core.api.access.policy import Rule
from services.simulator.core.api.access.users import User, account_name
from services.simulator.core.api.storage import Storage

Object = dict[str, Any]

GROUP = "rbac.authorization.k8s.io"
ROLES = f"roles.{GROUP}"
CLUSTER_ROLES = f"clusterroles.{GROUP}"
BINDINGS = f"rolebindings.{GROUP}"
CLUSTER_BINDINGS = f"clusterrolebindings.{GROUP}"

_REMEMBERED = 8192
"""How many decisions are kept; then all are forgotten."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a request is allowed, and what RBAC has to say about it."""

    allowed: bool
    reason: str = ""


ALLOWED = Decision(True)


@dataclass(frozen=True, slots=True)
class Grant:
    """What one binding gives to somebody; the roles that it names may be missing."""

    source: str
    """The binding, as reasons word it."""

    rules: Sequence[Rule] = ()
    missing: str = ""
    """What is wrong if the role does not exist."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A rule that allows something, maybe of certain names only."""

    names: Sequence[str]
    source: str


@dataclass(frozen=True, slots=True)
class _Finding:
    """What there is to say about requests that differ in the name alone."""

    candidates: tuple[_Candidate, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Binding:
    rank: tuple[bool, str]
    """Bindings of the whole cluster come first, then by name."""

    subject: int
    source: str
    role: tuple[str, str]
    """Bucket and key of the role."""


class Rbac:
    """Who may do what in one cluster."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._bindings: dict[tuple[str, str, str], list[_Binding]] | None = None
        self._found: dict[tuple[str | tuple[str, ...], ...], _Finding] = {}
        for bucket in (ROLES, CLUSTER_ROLES, BINDINGS, CLUSTER_BINDINGS):
            storage.bucket(bucket).listeners.append(self._forget)

    def authorize(self, user: User, asked: Attributes) -> Decision:
        """Decide about a request."""
        if user.is_master:
            return ALLOWED
        key = (
            *(user.name, user.groups),
            *(asked.verb, asked.group, asked.resource, asked.subresource),
            *(asked.namespace, asked.path),
        )
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            found = self._found[key] = self._candidates(user, asked)
        for one in found.candidates:
            if not one.names or asked.name in one.names:
                return Decision(True, f"RBAC: allowed by {one.source}")
        problems = aggregate(found.problems)
        return Decision(False, f"RBAC: {problems}" if problems else "")

    def grants(self, user: User, namespace: str) -> list[Grant]:
        """Return what every binding gives to somebody, those of the whole cluster first."""
        if self._bindings is None:
            self._bindings = self._index()
        subjects = [("User", user.name), *(("Group", group) for group in user.groups)]
        applying: dict[tuple[bool, str], _Binding] = {}
        for place in dict.fromkeys(("", namespace)):
            for kind, name in subjects:
                for binding in self._bindings.get((place, kind, name), ()):
                    other = applying.get(binding.rank)
                    if other is None or binding.subject < other.subject:
                        applying[binding.rank] = binding
        return [self._grant(applying[rank]) for rank in sorted(applying)]

    def _candidates(self, user: User, asked: Attributes) -> "_Finding":
        grants = self.grants(user, asked.namespace)
        candidates = tuple(
            _Candidate(rule.get("resourceNames") or (), grant.source)
            for grant in grants
            for rule in grant.rules
            if policy.allows(rule, asked)
        )
        return _Finding(candidates, tuple(grant.missing for grant in grants if grant.missing))

    def _grant(self, binding: _Binding) -> Grant:
        bucket, key = binding.role
        role = self._storage.read(bucket, key)
        if role is None:
            kind, name = bucket.partition("s.")[0], key.rpartition("/")[2]
            return Grant(binding.source, missing=f'{kind}.{GROUP} "{name}" not found')
        return Grant(binding.source, role.object.get("rules") or ())

    def _index(self) -> dict[tuple[str, str, str], list[_Binding]]:
        """Return the bindings by (namespace, kind of subject, its name)."""
        found: dict[tuple[str, str, str], list[_Binding]] = {}
        for bucket in (CLUSTER_BINDINGS, BINDINGS):
            for version in self._storage.scan(bucket):
                for key, binding in _entries(version.object):
                    found.setdefault(key, []).append(binding)
        return found

    def _forget(self) -> None:
        self._bindings = None
        self._found.clear()


def _entries(binding: Object) -> Iterator[tuple[tuple[str, str, str], _Binding]]:
    namespace, name = binding["metadata"].get("namespace", ""), binding["metadata"]["name"]
    kind, reference = "RoleBinding" if namespace else "ClusterRoleBinding", binding["roleRef"]
    shown = f"{name}/{namespace}" if namespace else name
    head = f'{kind} "{shown}" of {reference["kind"]} "{reference["name"]}" to '
    for number, subject in enumerate(binding.get("subjects") or ()):
        place = subject.get("namespace") or namespace
        if subject["kind"] == "ServiceAccount":
            who = ("User", account_name(place, subject["name"]))
            told = f'ServiceAccount "{subject["name"]}/{place}"'
        else:
            who = (subject["kind"], subject["name"])
            told = f'{subject["kind"]} "{subject["name"]}"'
        rank = (bool(namespace), name)
        entry = _Binding(rank, number, head + told, role_place(reference, namespace))
        yield (namespace, *who), entry


def role_place(reference: Object, namespace: str) -> tuple[str, str]:
    """Return bucket and key of the role that a binding in a namespace names."""
    if reference["kind"] == "ClusterRole":
        return CLUSTER_ROLES, reference["name"]
    return ROLES, f"{namespace}/{reference['name']}"


def aggregate(problems: Sequence[str]) -> str:
    """Return several problems as one text."""
    different = list(dict.fromkeys(problems))
    return f"[{', '.join(different)}]" if len(different) > 1 else "".join(different)
