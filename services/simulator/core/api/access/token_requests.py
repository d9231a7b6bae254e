"""The `token` subresource of service accounts: a new token, bound and expiring as asked.

Source: Kubernetes API reference, authentication.k8s.io/v1 TokenRequest.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from libs.apiserver.field_errors import wrong
from services.simulator.core.api import errors
from services.simulator.core.api.access.credentials import AUDIENCE, Bound, Credentials, Issued
from services.simulator.core.api.access.review_kinds import TOKEN_REQUEST
from services.simulator.core.api.bodies import object_in
from services.simulator.core.api.messages import Request, Response, to_json
from services.simulator.core.api.options import write_options
from services.simulator.core.api.ownership.managers import Manager, by_update
from services.simulator.core.api.placement import place
from services.simulator.core.api.routing import Route
from services.simulator.core.api.store import Store
from services.simulator.core.api.writing import decode

Object = dict[str, Any]

_DEFAULT_SECONDS = 3600
_LEAST_SECONDS = 600
_MOST_SECONDS = 1 << 32


def answer(store: Store, credentials: Credentials, request: Request, route: Route) -> Response:
    """Hand out a token; raises 400, 404, 409, 422."""
    if request.method != "POST":
        raise errors.method_not_allowed()
    body = object_in(request, TOKEN_REQUEST)
    options = write_options(request, body.duplicates)
    decoded = decode(TOKEN_REQUEST, body.value, options)
    asked, namespace = decoded.object, route.namespace or ""
    _check_name(asked["metadata"], route.name)
    place(TOKEN_REQUEST, asked["metadata"], namespace)
    if asked["spec"].get("expirationSeconds") is None:
        asked["spec"]["expirationSeconds"] = _DEFAULT_SECONDS
    _note_manager(asked, options.manager, store.timestamp())
    account = store.read(route.resource, route.name, namespace).object["metadata"]
    _complete(asked, account, store.timestamp())
    bound = _bound(store, credentials, asked, route)
    seconds = asked["spec"]["expirationSeconds"]
    issued = Issued(
        namespace=namespace,
        account=route.name,
        uid=account["uid"],
        identifier=store.sources.uids(),
        audiences=tuple(asked["spec"]["audiences"]),
        expires=store.sources.now().replace(microsecond=0) + timedelta(seconds=seconds),
        bound=bound,
    )
    token = (store.sources.uids() + store.sources.uids()).replace("-", "")
    if not options.dry_run:
        credentials.issue(token, issued)
    expires = issued.expires.strftime("%Y-%m-%dT%H:%M:%SZ")
    shown = {**asked, "status": {"token": token, "expirationTimestamp": expires}}
    return Response(status=201, body=to_json(shown), warnings=tuple(decoded.warnings))


def _check_name(meta: Object, name: str) -> None:
    if meta.get("name", name) != name:
        why = "must match the service account name if specified"
        raise errors.invalid(
            TOKEN_REQUEST.kind,
            TOKEN_REQUEST.group,
            name,
            [wrong("metadata.name", meta["name"], why)],
        )


def _complete(asked: Object, account: Object, now: str) -> None:
    """Fill in what was left open; raises 409, 422."""
    meta, spec = asked["metadata"], asked["spec"]
    if meta.get("uid") and meta["uid"] != account["uid"]:
        why = (
            f"the UID in the token request ({meta['uid']}) does not match the UID of the service "
            f"account ({account['uid']})"
        )
        resource = replace(TOKEN_REQUEST, plural=TOKEN_REQUEST.kind)
        raise errors.conflict(resource, account["name"], why)
    meta |= {"name": account["name"], "namespace": account["namespace"], "uid": account["uid"]}
    meta["creationTimestamp"] = now
    if not spec.get("audiences"):
        spec["audiences"] = [AUDIENCE]
    seconds, why = spec["expirationSeconds"], ""
    if seconds < _LEAST_SECONDS:
        why = "may not specify a duration less than 10 minutes"
    elif seconds > _MOST_SECONDS:
        why = "may not specify a duration larger than 2^32 seconds"
    if why:
        found = [wrong("spec.expirationSeconds", seconds, why)]
        raise errors.invalid(TOKEN_REQUEST.kind, TOKEN_REQUEST.group, "", found)


def _bound(store: Store, credentials: Credentials, asked: Object, route: Route) -> Bound | None:
    """Return the object that the token is bound to; raises 400, 404, 409."""
    reference = asked["spec"].get("boundObjectRef")
    if not reference:
        return None
    version, kind = reference.get("apiVersion", ""), reference.get("kind", "")
    if version != "v1" or kind not in ("Pod", "Secret", "Node"):
        group, _, plain = version.rpartition("/")
        shown = f"{group}/{plain}, Kind={kind}"
        raise errors.bad_request(f"cannot bind token to object of type {shown}")
    name = reference.get("name", "")
    obj = credentials.bindable(kind, name, route.namespace or "")
    resource = store.resource(f"{kind.lower()}s")
    if obj is None:
        raise errors.not_found(resource, name)
    if kind == "Pod" and obj["spec"].get("serviceAccountName", "") != route.name:
        raise errors.bad_request(
            f'cannot bind token for serviceaccount "{route.name}" to pod running with different '
            "serviceaccount name."
        )
    uid = obj["metadata"]["uid"]
    if reference.get("uid") and reference["uid"] != uid:
        why = (
            f"the UID in the bound object reference ({reference['uid']}) does not match the UID in "
            "record. The object might have been deleted and then recreated"
        )
        raise errors.conflict(replace(resource, plural=kind), name, why)
    return Bound(kind=kind, name=name, uid=uid)


def _note_manager(asked: Object, manager: str, now: str) -> None:
    me = Manager(
        name=manager,
        operation="Update",
        api_version=TOKEN_REQUEST.group_version,
        subresource="token",
        time=now,
    )
    entries = by_update(TOKEN_REQUEST, me)(None, asked)
    if entries:
        asked["metadata"]["managedFields"] = entries
