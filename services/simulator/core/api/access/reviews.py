"""Reviews: may somebody do something, what may I do, who am I, whose token is this.

They are created like objects and answered at once; nothing is stored.

Source: Kubernetes API reference, authorization.k8s.io/v1 and authentication.k8s.io/v1.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from libs.apiserver.field_errors import FieldError, wrong
from libs.apiserver.types import codec
from services.simulator.core.api import errors
from services.simulator.core.api.access import policy
from services.simulator.core.api.access.attributes import Attributes, attributes_of
from services.simulator.core.api.access.authorizer import Authorizer
from services.simulator.core.api.access.credentials import AUDIENCE, Credentials
from services.simulator.core.api.access.rbac import aggregate
from services.simulator.core.api.access.review_kinds import REVIEWS
from services.simulator.core.api.access.users import User
from services.simulator.core.api.bodies import object_in
from services.simulator.core.api.messages import Request, Response, to_json
from services.simulator.core.api.options import write_options
from services.simulator.core.api.ownership.managers import Manager, by_update
from services.simulator.core.api.placement import place
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.writing import decode

Object = dict[str, Any]

PREFIXES = ("/apis/authorization.k8s.io/v1/", "/apis/authentication.k8s.io/v1/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What reviews are answered from."""

    authorizer: Authorizer
    credentials: Credentials
    timestamp: Callable[[], str]


_BY_PLURAL = {review.plural: review for review in REVIEWS}


def answer(desk: Desk, request: Request) -> Response | None:
    """Return the answer to a review, None if the path is none."""
    if not request.path.startswith(PREFIXES):
        return None
    asked = attributes_of(request)
    resource = _BY_PLURAL.get(asked.resource)
    if resource is None or resource.group != asked.group or asked.path:
        return None
    misplaced = resource.namespaced is not bool(asked.namespace)
    if misplaced or asked.subresource or asked.name:
        raise errors.no_such_resource()
    if request.method != "POST":
        raise errors.method_not_allowed()
    body = object_in(request, resource)
    decoded = decode(resource, body.value, write_options(request, body.duplicates))
    review = decoded.object
    _note_manager(desk, resource, request, review)
    place(resource, review["metadata"], asked.namespace)
    settled = _ANSWERS[resource.kind](desk, request.user, review)
    shown = codec.decode(resource.type, settled, codec.Decoding())
    shown = {"kind": resource.kind, "apiVersion": resource.group_version, **shown}
    return Response(status=201, body=to_json(shown), warnings=tuple(decoded.warnings))


def _note_manager(desk: Desk, resource: Resource, request: Request, review: Object) -> None:
    name = write_options(request).manager
    me = Manager(
        name=name,
        operation="Update",
        api_version=resource.group_version,
        time=desk.timestamp(),
    )
    entries = by_update(resource, me)(None, review)
    if entries:
        review["metadata"]["managedFields"] = entries


def _own_access(desk: Desk, user: User, review: Object) -> Object:
    _check(review, _spec_errors(review["spec"]), allowed=())
    return {**review, "status": _decided(desk, user, review["spec"])}


def _access(desk: Desk, _user: User, review: Object) -> Object:
    spec = review["spec"]
    _check(review, [*_spec_errors(spec), *_subject_errors(spec)], allowed=())
    return {**review, "status": _decided(desk, _subject(spec), spec)}


def _local_access(desk: Desk, _user: User, review: Object) -> Object:
    spec, namespace = review["spec"], review["metadata"]["namespace"]
    found = [*_spec_errors(spec), *_subject_errors(spec)]
    asked = spec.get("resourceAttributes")
    if asked is not None and asked.get("namespace", "") != namespace:
        value = asked.get("namespace", "")
        at = "spec.resourceAttributes.namespace"
        found.append(wrong(at, value, "must match metadata.namespace"))
    if "nonResourceAttributes" in spec:
        value = _shown_path(spec["nonResourceAttributes"])
        why = "disallowed on this kind of request"
        found.append(wrong("spec.nonResourceAttributes", value, why))
    _check(review, found, allowed=("namespace",))
    return {**review, "status": _decided(desk, _subject(spec), spec)}


def _spec_errors(spec: Object) -> list[FieldError]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        why = "cannot be specified in combination with resourceAttributes"
        return [wrong("spec.nonResourceAttributes", _shown_path(path), why)]
    if resource is None and path is None:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        return [wrong("spec.resourceAttributes", None, why)]
    return []


def _subject_errors(spec: Object) -> list[FieldError]:
    if spec.get("user") or spec.get("groups"):
        return []
    return [wrong("spec.user", "", "at least one of user or group must be specified")]


def _shown_path(path: Object) -> Object:
    return {"Path": path.get("path", ""), "Verb": path.get("verb", "")}


def _check(review: Object, found: list[FieldError], *, allowed: tuple[str, ...]) -> None:
    meta = review["metadata"]
    if set(meta) - {"managedFields", *allowed}:
        why = "must be empty except for namespace" if allowed else "must be empty"
        found.append(wrong("metadata", meta, why))
    if found:
        raise errors.invalid("", "authorization.k8s.io", "", found)


def _subject(spec: Object) -> User:
    extra = tuple(sorted((key, tuple(values)) for key, values in spec.get("extra", {}).items()))
    return User(
        name=spec.get("user", ""),
        uid=spec.get("uid", ""),
        groups=tuple(spec.get("groups") or ()),
        extra=extra,
    )


def _decided(desk: Desk, user: User, spec: Object) -> Object:
    if "nonResourceAttributes" in spec:
        path = spec["nonResourceAttributes"]
        asked = Attributes(verb=path.get("verb", ""), path=path.get("path", ""))
    else:
        given = spec["resourceAttributes"]
        names = ("verb", "group", "resource", "subresource", "namespace", "name")
        asked = Attributes(**{name: given.get(name, "") for name in names})
    decision = desk.authorizer.authorize(user, asked)
    return {"allowed": decision.allowed, "reason": decision.reason}


def _own_rules(desk: Desk, user: User, review: Object) -> Object:
    namespace = review["spec"].get("namespace", "")
    if not namespace:
        raise errors.bad_request("no namespace on request")
    grants = desk.authorizer.grants(user, namespace)
    rules = [rule for grant in grants for rule in grant.rules]
    status: Object = {
        "resourceRules": [
            _only(rule, "verbs", "apiGroups", "resources", "resourceNames")
            for rule in rules
            if rule.get("resources")
        ],
        "nonResourceRules": [
            _only(rule, "verbs", "nonResourceURLs") for rule in rules if rule.get("nonResourceURLs")
        ],
        "incomplete": False,
        "evaluationError": aggregate([grant.missing for grant in grants if grant.missing]),
    }
    return {"metadata": {}, "spec": {}, "status": status}


def _only(rule: policy.Rule, *names: str) -> Object:
    return {name: list(rule[name]) for name in names if rule.get(name)}


def _self(desk: Desk, user: User, _review: Object) -> Object:
    return {
        "metadata": {"creationTimestamp": desk.timestamp()},
        "status": {"userInfo": user.info()},
    }


def _token(desk: Desk, _user: User, review: Object) -> Object:
    token = review["spec"].get("token", "")
    if not token:
        raise errors.bad_request("token is required for TokenReview in authentication")
    audiences = tuple(review["spec"].get("audiences") or (AUDIENCE,))
    user = desk.credentials.user_of(token, audiences)
    meant = desk.credentials.audiences_of(token)
    if user is None:
        status: Object = {"error": "invalid bearer token"}
        if desk.credentials.is_issued(token) and not set(meant) & set(audiences):
            shown = [policy.quoted(names) for names in (meant, audiences)]
            why = f"token audiences {shown[0]} is invalid for the target audiences {shown[1]}"
            status = {"error": f"[invalid bearer token, {why}]"}
    else:
        common = [name for name in audiences if name in meant]
        status = {"authenticated": True, "user": user.info(), "audiences": common}
    return {**review, "status": status}


_ANSWERS: Mapping[str, Callable[[Desk, User, Object], Object]] = MappingProxyType(
    {
        "SelfSubjectAccessReview": _own_access,
        "SubjectAccessReview": _access,
        "LocalSubjectAccessReview": _local_access,
        "SelfSubjectRulesReview": _own_rules,
        "SelfSubjectReview": _self,
        "TokenReview": _token,
    }
)
