"""The API server: HTTP semantics over the store, without a transport.

`handle` never raises for bad input: whatever a client sends, it answers with the Status that
Kubernetes would send.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from services.simulator.core.api import (
    deletion,
    discovery,
    errors,
    metrics_api,
    negotiation,
    openapi,
    routing,
    subresources,
    tables,
)
from services.simulator.core.api.access.gate import OPEN, Access, Gate
from services.simulator.core.api.bodies import object_in
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.frozen import freeze
from services.simulator.core.api.gates import NO_GATES
from services.simulator.core.api.messages import (
    Request,
    Response,
    Stream,
    encode_version,
    head_of,
    to_json,
)
from services.simulator.core.api.metrics_api import MetricsApi
from services.simulator.core.api.negotiation import Accepted
from services.simulator.core.api.newborn import Sources
from services.simulator.core.api.options import (
    delete_options,
    list_options,
    timeout_seconds,
    write_options,
)
from services.simulator.core.api.plugins.admission import NO_PLUGINS
from services.simulator.core.api.reading import Page, check_freshness
from services.simulator.core.api.rendering import (
    PART,
    as_written,
    deleted_response,
    encode_page,
    page_parts,
    rendered,
    written_response,
)
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.routing import Route
from services.simulator.core.api.storage import Version, WatchEvent
from services.simulator.core.api.store import Object, Store
from services.simulator.core.api.writing import Written

NOT_FOUND_TEXT = b"404 page not found\n"


class ApiServer:
    """One cluster's API: `direct` for callers in the process, `handle` for requests."""

    def __init__(
        self,
        clock_now: Callable[[], datetime],
        ids: Callable[[], str],
        suffixes: Callable[[], str],
        *,
        plugins: frozenset[str] = NO_PLUGINS,
        gates: frozenset[str] = NO_GATES,
        access: Access = OPEN,
    ) -> None:
        sources = Sources(now=clock_now, uids=ids, suffixes=suffixes)
        self.store = Store(sources, plugins=plugins, gates=gates)
        self.direct = DirectApi(self.store)
        self.metrics: MetricsApi | None = None
        """What serves the metrics API, once somebody measures."""
        self._gate = Gate(self.store, access)

    def handle(self, request: Request) -> Response:
        """Answer one request."""
        return self._gate.handle(request, self._dispatch)

    def _dispatch(self, request: Request) -> Response:
        review = self._gate.review(request)
        if review is not None:
            return review
        route = routing.parse(request.path, self.store.resources)
        if route is None:
            return self._other(request)
        deprecation = route.resource.deprecation
        if not deprecation:
            return self._answer(request, route)
        with errors.warning((deprecation,)):
            answer = self._answer(request, route)
        return replace(answer, warnings=(deprecation, *answer.warnings))

    def _answer(self, request: Request, route: Route) -> Response:
        _accepted(request, route)
        if route.watch or (not route.name and request.method == "GET" and request.flag("watch")):
            return self._watch(request, route)
        if request.method != "PUT":
            routing.check_name(route.name)
        if route.subresource == "token" and route.subresource in route.resource.subresources:
            return self._gate.token(request, route)
        if route.subresource:
            return subresources.handle(self.store, request, route)
        verb = _VERBS.get((request.method, bool(route.name)))
        homeless = route.resource.namespaced and route.namespace is None
        if verb is None or verb not in route.resource.verbs or (homeless and verb != "list"):
            raise errors.method_not_allowed()
        if route.namespace == "" and verb != "list":
            raise errors.bad_request("Namespace parameter required.")
        return _HANDLERS[verb](self, request, route)

    def _other(self, request: Request) -> Response:
        answer = discovery.answer(self.store.resources, request) or openapi.answer(
            self.store.resources, request
        )
        if answer is None:
            return Response(
                status=404, body=NOT_FOUND_TEXT, content_type="text/plain; charset=utf-8"
            )
        return answer

    # Reading

    def _source(self, route: Route) -> Store | MetricsApi:
        """Return where the objects of a route are: some are computed when they are asked for."""
        computed = self.metrics is not None and route.resource.group == metrics_api.GROUP
        return self.metrics if computed and self.metrics is not None else self.store

    def _get(self, request: Request, route: Route) -> Response:
        accept = _accepted(request, route)
        check_freshness(self.store.storage, request.parameter("resourceVersion"))
        source = self._source(route)
        version = source.read(route.resource, route.name, route.namespace or "")
        return self._one(request, route.resource, version, accept)

    def _one(
        self, request: Request, resource: Resource, version: Version, accept: Accepted
    ) -> Response:
        negotiation.check_conversion(accept, resource, is_list=False)
        if accept.as_kind == "Table":
            page = Page(items=(version,), revision=version.revision)
            return self._table(request, resource, page, accept)
        if accept.as_kind:
            body = to_json(tables.metadata_only(version.object, accept.as_version))
            return rendered(body, accept)
        return rendered(encode_version(resource, version), accept)

    def _list(self, request: Request, route: Route) -> Response:
        accept = _accepted(request, route)
        source, options = self._source(route), list_options(request)
        page = source.page(route.resource, route.namespace, options)
        return self._page(request, route.resource, page, accept)

    def _page(self, request: Request, resource: Resource, page: Page, accept: Accepted) -> Response:
        negotiation.check_conversion(accept, resource, is_list=True)
        if accept.as_kind == "Table":
            return self._table(request, resource, page, accept)
        if accept.as_kind:
            return rendered(to_json(tables.metadata_list(page, accept.as_version)), accept)
        if request.takes_parts and len(page.items) > PART and not accept.yaml:
            return Response(parts=page_parts(resource, page))
        return rendered(encode_page(resource, page), accept)

    def _table(
        self, request: Request, resource: Resource, page: Page, accept: Accepted
    ) -> Response:
        body = tables.encode(resource, page, request, accept, self.store.sources.now())
        return rendered(body, accept)

    def _watch(self, request: Request, route: Route) -> Response:
        accept = _accepted(request, route)
        options = list_options(request, single=route.name)
        watch = self.store.watch(route.resource, route.namespace, options)
        encode = _event_encoder(request, route.resource, accept, self.store.sources.now)
        timeout = timeout_seconds(request)
        return Response(
            stream=Stream(watch, encode, timeout_seconds=timeout, bookmarks=options.bookmarks)
        )

    # Writing

    def _create(self, request: Request, route: Route) -> Response:
        body = object_in(request, route.resource)
        options = write_options(request, body.duplicates)
        written = self.store.create(route.resource, body.value, route.namespace or "", options)
        return self._written(request, route, written)

    def _update(self, request: Request, route: Route) -> Response:
        body = object_in(request, route.resource)
        options = write_options(request, body.duplicates)
        written = self.store.update(
            route.resource,
            body.value,
            name=route.name,
            namespace=route.namespace or "",
            options=options,
        )
        return self._written(request, route, written)

    def _patch(self, request: Request, route: Route) -> Response:
        written = subresources.patch(self.store, request, route, "")
        return self._written(request, route, written)

    def _delete(self, request: Request, route: Route) -> Response:
        options = delete_options(request)
        deleted = deletion.delete(
            self.store, route.resource, route.name, route.namespace or "", options
        )
        return deleted_response(route.resource, deleted, _accepted(request, route))

    def _delete_collection(self, request: Request, route: Route) -> Response:
        page = deletion.delete_collection(
            self.store,
            route.resource,
            route.namespace,
            list_options(request),
            delete_options(request),
        )
        return self._page(request, route.resource, page, _accepted(request, route))

    def _written(self, request: Request, route: Route, written: Written) -> Response:
        accept = _accepted(request, route)
        if not accept.as_kind:
            return written_response(route.resource, written, accept)
        version = written.version or Version("", freeze(written.object), 0)
        return as_written(self._one(request, route.resource, version, accept), written)


_VERBS: Mapping[tuple[str, bool], str] = MappingProxyType(
    {
        ("GET", True): "get",
        ("GET", False): "list",
        ("POST", False): "create",
        ("PUT", True): "update",
        ("PATCH", True): "patch",
        ("DELETE", True): "delete",
        ("DELETE", False): "deletecollection",
    }
)

_HANDLERS: Mapping[str, Callable[[ApiServer, Request, Route], Response]] = MappingProxyType(
    {
        "get": ApiServer._get,
        "list": ApiServer._list,
        "create": ApiServer._create,
        "update": ApiServer._update,
        "patch": ApiServer._patch,
        "delete": ApiServer._delete,
        "deletecollection": ApiServer._delete_collection,
    }
)


def _accepted(request: Request, route: Route) -> Accepted:
    streams = request.method == "GET" and not route.name
    return negotiation.accepted(request.headers.get("accept", ""), streams=streams)


def _event_encoder(
    request: Request, resource: Resource, accept: Accepted, now: Callable[[], datetime]
) -> Callable[[WatchEvent], bytes]:
    head = head_of(resource)
    rows = None
    if accept.as_kind == "Table":
        include = tables.included(request)
        rows = tables.TableEvents(resource=resource, accept=accept, include=include)

    def encode(event: WatchEvent) -> bytes:
        if event.version is not None and not accept.as_kind:
            return b'{"type":"%s","object":%s%s}\n' % (
                event.type.encode(),
                head,
                event.version.members,
            )
        shown: Object = event.object
        if rows is not None and event.type != "ERROR":
            shown = rows.table_of(event.object, now())
        elif accept.as_kind and event.type != "ERROR":
            shown = tables.metadata_only(event.object, accept.as_version)
        return to_json({"type": event.type, "object": shown}) + b"\n"

    return encode
