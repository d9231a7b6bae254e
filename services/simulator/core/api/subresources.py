"""Requests to subresources, by name: one handler each."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from libs.apiserver import field_errors
from services.simulator.core.api import errors, negotiation, pods, scale
from services.simulator.core.api.bodies import decode_body, object_in
from services.simulator.core.api.messages import Request, Response, encode_version, to_json
from services.simulator.core.api.options import write_options
from services.simulator.core.api.ownership.apply import apply
from services.simulator.core.api.patching import engine
from services.simulator.core.api.patching.bodies import read_body
from services.simulator.core.api.patching.types import PatchType
from services.simulator.core.api.rendering import written_response
from services.simulator.core.api.routing import Route
from services.simulator.core.api.store import Store
from services.simulator.core.api.writing import Written, decode_typed

LOG = b"This is a simulated container: it has no output. Source: Joiner's simulator.\n"


def handle(store: Store, request: Request, route: Route) -> Response:
    """Answer a request to a subresource; raises 404, 405."""
    handler = _HANDLERS.get(route.subresource)
    if handler is None or route.subresource not in route.resource.subresources:
        if route.resource.custom and route.subresource in ("scale", "status"):
            raise errors.not_found(route.resource, route.name)
        raise errors.no_such_resource()
    return handler(store, request, route)


def patch(store: Store, request: Request, route: Route, subresource: str) -> Written:
    """Carry out the patch in a request."""
    type_ = patch_type(request)
    options = write_options(request)
    if type_ is PatchType.APPLY:
        config = read_body(type_, request.body).value
        return apply(
            store,
            route.resource,
            config,
            name=route.name,
            namespace=route.namespace or "",
            subresource=subresource,
            options=options,
        )
    if request.query.get("force"):
        refused = field_errors.not_allowed("force", "may not be specified for non-apply patch")
        raise errors.invalid("PatchOptions", "meta.k8s.io", "", [refused])
    body = read_body(type_, request.body)
    return engine.patch(
        store,
        route.resource,
        route.name,
        body.value,
        namespace=route.namespace or "",
        type_=type_,
        subresource=subresource,
        options=write_options(request, body.duplicates),
    )


def patch_type(request: Request) -> PatchType:
    """Return the type of a patch; raises a 415."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    try:
        return PatchType(media_type)
    except ValueError:
        raise errors.ApiError(
            415, "UnsupportedMediaType", "415: Unsupported Media Type", {}
        ) from None


def _part(store: Store, request: Request, route: Route) -> Response:
    """Answer for a subresource that is the whole object, of which a write changes one part."""
    resource, namespace = route.resource, route.namespace or ""
    if request.method == "GET":
        return Response(body=encode_version(resource, store.read(resource, route.name, namespace)))
    if request.method == "PUT":
        body = object_in(request, resource)
        options = write_options(request, body.duplicates)
        written = store.update(
            resource,
            body.value,
            name=route.name,
            namespace=namespace,
            subresource=route.subresource,
            options=options,
        )
    elif request.method == "PATCH":
        written = patch(store, request, route, route.subresource)
    else:
        raise errors.method_not_allowed()
    return written_response(
        resource, written, negotiation.accepted(request.headers.get("accept", ""))
    )


def _scale(store: Store, request: Request, route: Route) -> Response:
    resource, namespace = route.resource, route.namespace or ""
    if request.method == "GET":
        return Response(body=to_json(scale.read(store, resource, route.name, namespace)))
    options = write_options(request)
    if request.method == "PUT":
        body = decode_body(request.headers.get("content-type", ""), request.body, "Scale").value
        answer, warnings = scale.update(store, resource, route.name, namespace, body, options)
    elif request.method == "PATCH":
        type_ = patch_type(request)
        change = read_body(type_, request.body).value
        answer, warnings = scale.patch(
            store, resource, route.name, namespace, change, type_, options
        )
    else:
        raise errors.method_not_allowed()
    return Response(body=to_json(answer), warnings=warnings)


def _binding(store: Store, request: Request, route: Route) -> Response:
    if request.method != "POST":
        raise errors.method_not_allowed()
    body = _typed(request, "core/v1.Binding")
    pods.bind(
        store, route.name, route.namespace or "", body, dry_run=write_options(request).dry_run
    )
    return Response(status=201, body=to_json(errors.success(201)))


def _eviction(store: Store, request: Request, route: Route) -> Response:
    if request.method != "POST":
        raise errors.method_not_allowed()
    body = _typed(request, "policy/v1.Eviction")
    pods.evict(
        store, route.name, route.namespace or "", body, dry_run=write_options(request).dry_run
    )
    return Response(status=201, body=to_json(errors.success(201)))


def _typed(request: Request, type_: str) -> dict[str, Any]:
    """Return a request body in the canonical form of a type; raises a 400."""
    kind = type_.rpartition(".")[2]
    value = decode_body(request.headers.get("content-type", ""), request.body, kind).value
    return decode_typed(type_, value)


def _finalize(store: Store, request: Request, route: Route) -> Response:
    if request.method != "PUT":
        raise errors.method_not_allowed()
    body = object_in(request, route.resource).value
    written = store.update(
        route.resource,
        body,
        name=route.name,
        subresource="finalize",
        options=write_options(request),
    )
    return written_response(route.resource, written)


def _log(store: Store, request: Request, route: Route) -> Response:
    if request.method != "GET":
        raise errors.method_not_allowed()
    store.read(route.resource, route.name, route.namespace or "")
    return Response(body=LOG, content_type="text/plain")


def _connect(store: Store, request: Request, route: Route) -> Response:
    """Refuse to connect: there is nobody at the other end."""
    proxy = route.subresource == "proxy"
    if not proxy and request.method not in ("GET", "POST"):
        raise errors.method_not_allowed()
    obj = store.read(route.resource, route.name, route.namespace or "").object
    if route.resource.kind == "Pod" and not obj["spec"].get("nodeName"):
        raise errors.bad_request(f"pod {route.name} does not have a host assigned")
    raise errors.internal("error dialing backend: nothing runs behind a simulated kubelet")


_HANDLERS: Mapping[str, Callable[[Store, Request, Route], Response]] = MappingProxyType(
    {
        "status": _part,
        "resize": _part,
        "scale": _scale,
        "binding": _binding,
        "eviction": _eviction,
        "finalize": _finalize,
        "log": _log,
        "attach": _connect,
        "exec": _connect,
        "portforward": _connect,
        "proxy": _connect,
    }
)
