"""Answers as bytes: objects, lists, writes, deletions, refusals.

Each in the representation that a client accepts.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from services.simulator.core.api import deletion, errors, negotiation
from services.simulator.core.api.messages import Response, encode_version, head_of, to_json
from services.simulator.core.api.negotiation import Accepted
from services.simulator.core.api.reading import Page
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.writing import Written
from services.simulator.core.api.yaml_text import to_yaml


def failure(error: errors.ApiError, header: str = "") -> Response:
    """Return the answer that carries a refusal to who sent this Accept header."""
    headers = {"Retry-After": str(error.retry_after)} if error.retry_after is not None else {}
    answer = rendered(to_json(error.status), _told_to(header))
    return replace(answer, status=error.code, headers=headers, warnings=error.warnings)


def _told_to(header: str) -> Accepted:
    """Return in what a refusal is told: in YAML, if that is all that is accepted."""
    if "yaml" not in header:
        return negotiation.PLAIN
    try:
        return negotiation.accepted(header)
    except errors.ApiError:
        return negotiation.PLAIN


def rendered(body: bytes, accept: Accepted) -> Response:
    """Return a JSON body, as YAML if that was asked for."""
    if accept.yaml:
        return Response(body=to_yaml(body), content_type="application/yaml")
    return Response(body=body)


def written_response(
    resource: Resource, written: Written, accept: Accepted = negotiation.PLAIN
) -> Response:
    """Return the answer to a write: the object as stored or as it would have been."""
    if written.version is not None:
        body = encode_version(resource, written.version)
    else:
        body = to_json(written.object)
    return as_written(rendered(body, accept), written)


def as_written(answer: Response, written: Written) -> Response:
    """Return an answer that shows what a write left behind, as the answer to that write."""
    return replace(answer, status=201 if written.created else 200, warnings=written.warnings)


def deleted_response(
    resource: Resource, deleted: deletion.Deleted, accept: Accepted = negotiation.PLAIN
) -> Response:
    """Return the answer to a deletion.

    The object where it stays or its kind returns it, else a Status.
    """
    if not deleted.gone or resource.returns_deleted:
        body = to_json(deleted.object)
        return replace(rendered(body, accept), warnings=deleted.warnings)
    meta = deleted.object["metadata"]
    details = {**errors.details_of(resource, meta["name"]), "uid": meta["uid"]}
    body = to_json(errors.success(details=details))
    return replace(rendered(body, accept), warnings=deleted.warnings)


PART = 256
"""Objects that are encoded at a time: a few milliseconds in which nothing else happens."""


def encode_page(resource: Resource, page: Page) -> bytes:
    """Return the JSON of a list."""
    return b"".join(page_parts(resource, page))


def page_parts(resource: Resource, page: Page) -> Iterator[bytes]:
    """Yield the JSON of a list, joined from the items' own.

    Items of built-in kinds carry no kind.
    """
    metadata: dict[str, Any] = {"resourceVersion": str(page.revision)}
    if resource.custom:
        metadata["continue"] = ""
    if page.continue_:
        metadata["continue"] = page.continue_
        if page.remaining is not None:
            metadata["remainingItemCount"] = page.remaining
    yield b'{"kind":"%s","apiVersion":"%s","metadata":%s,"items":[' % (
        resource.listing.encode(),
        resource.group_version.encode(),
        to_json(metadata),
    )
    opening = head_of(resource) if resource.custom else b"{"
    for start in range(0, len(page.items), PART):
        some = page.items[start : start + PART]
        comma = b"," if start else b""
        yield comma + b",".join([opening + version.members for version in some])
    yield b"]}"
