"""Other representations of objects: tables and metadata alone.

Source: Kubernetes documentation, "API Concepts", "Receiving resources as Tables".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.simulator.core.api.columns.column import NAME, Column
from services.simulator.core.api.columns.table import COLUMNS, PLAIN
from services.simulator.core.api.errors import bad_request
from services.simulator.core.api.messages import Request, to_json
from services.simulator.core.api.negotiation import Accepted
from services.simulator.core.api.reading import Page
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.storage import Object
from services.simulator.core.api.strategies.workloads import TEMPLATE_GENERATION

_INCLUDES = ("", "Metadata", "Object", "None")


def encode(
    resource: Resource, page: Page, request: Request, accept: Accepted, now: datetime
) -> bytes:
    """Return a page as a Table in JSON."""
    include = included(request)
    metadata: dict[str, Any] = {"resourceVersion": str(page.revision)}
    if page.continue_:
        metadata["continue"] = page.continue_
        if page.remaining is not None:
            metadata["remainingItemCount"] = page.remaining
    objects = (item.object for item in page.items)
    return to_json(_table(resource, objects, metadata, accept, include, now))


def included(request: Request) -> str:
    """Return what of each object a Table shall carry; raises a 400."""
    include = request.parameter("includeObject")
    if include not in _INCLUDES:
        why = f"Invalid value: \"{include}\": must be 'Metadata', 'Object', 'None', or empty"
        raise bad_request(f"Unable to convert to Table as requested: includeObject: {why}")
    return include


@dataclass(slots=True, kw_only=True)
class TableEvents:
    """Turns the objects of a watch into Tables of one row; only the first defines the columns."""

    resource: Resource
    accept: Accepted
    include: str
    _begun: bool = False

    def table_of(self, obj: Object, now: datetime) -> Object:
        """Return the Table of one object or bookmark."""
        metadata = {"resourceVersion": obj["metadata"]["resourceVersion"]}
        shown = _table(self.resource, (obj,), metadata, self.accept, self.include, now)
        if self._begun:
            shown["columnDefinitions"] = None
        self._begun = True
        return shown


def _table(
    resource: Resource,
    objects: Iterable[Object],
    metadata: dict[str, Any],
    accept: Accepted,
    include: str,
    now: datetime,
) -> Object:
    shown = columns_of(resource)
    rows = [
        {
            "cells": [column.cell(obj, now) for column in shown],
            "object": _included(obj, include, accept.as_version),
        }
        for obj in objects
    ]
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{accept.as_version}",
        "metadata": metadata,
        "columnDefinitions": [column.definition() for column in shown],
        "rows": rows,
    }


def columns_of(resource: Resource) -> tuple[Column, ...]:
    """Return the columns of a resource: its own if it is custom, else those of the table."""
    if resource.columns:
        return (NAME, *resource.columns)
    return COLUMNS.get(resource.qualified, PLAIN)


def _included(obj: Object, include: str, version: str) -> Object | None:
    if include == "None":
        return None
    return obj if include == "Object" else metadata_only(obj, version)


def metadata_only(obj: Object, version: str) -> Object:
    """Return the PartialObjectMetadata of an object.

    An annotation that only the old API of DaemonSets has stands in whole objects alone.
    """
    metadata = obj["metadata"]
    if TEMPLATE_GENERATION in (metadata.get("annotations") or ()):
        metadata = dict(metadata)
        metadata["annotations"] = {
            key: value
            for key, value in metadata["annotations"].items()
            if key != TEMPLATE_GENERATION
        }
        if not metadata["annotations"]:
            del metadata["annotations"]
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": metadata,
    }


def metadata_list(page: Page, version: str) -> Object:
    """Return the PartialObjectMetadataList of a page."""
    metadata: dict[str, Any] = {"resourceVersion": str(page.revision)}
    if page.continue_:
        metadata["continue"] = page.continue_
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": metadata,
        "items": [metadata_only(item.object, version) for item in page.items],
    }
