"""Saves everything that is in the store as a dump, but for what passes (events) and secrets' data.

Whoever loads it goes on from there. Law: saving what was loaded gives the same objects, but for
their resourceVersions.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from libs.kube.api import Resource as Kind
from libs.kube.dump import choosing, files
from libs.kube.dump.files import Header
from libs.kube.dump.redaction import Keeping, redacted
from services.simulator.core.api.discovery import VERSION
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.store import Object, Store

_PASSING = frozenset({"events", "events.events.k8s.io"})
_WHOLE = Keeping(managed_fields=True, containers=True)


def save(store: Store, path: Path, now: datetime) -> int:
    """Write a dump of the store; return how many objects it has.

    Raises:
        OSError: it cannot be written.
    """
    objects, counts = [], {}
    for resource in _in_order(store):
        found = [_saved(resource, one) for one in store.list(resource)]
        if found:
            objects += found
            counts[resource.qualified] = len(found)
    version = VERSION["gitVersion"]
    header = Header(captured_at=now, server_version=version, counts=counts, missing={})
    files.write(path, header, objects)
    return len(objects)


def _in_order(store: Store) -> Iterator[Resource]:
    """Yield one version of each resource, definitions and namespaces first."""
    known: dict[str, Resource] = {}
    for resource in store.resources:
        if "list" in resource.verbs and resource.qualified not in _PASSING:
            known.setdefault(resource.bucket, resource)
    by_kind = {_kind(resource): resource for resource in known.values()}
    for kind in choosing.in_order(by_kind):
        yield by_kind[kind]


def _kind(resource: Resource) -> Kind:
    return Kind(
        group=resource.group,
        version=resource.version,
        kind=resource.kind,
        plural=resource.plural,
        namespaced=resource.namespaced,
    )


def _saved(resource: Resource, obj: Object) -> Object:
    whole = {**obj, "apiVersion": resource.group_version, "kind": resource.kind}
    return redacted(whole, _WHOLE)
