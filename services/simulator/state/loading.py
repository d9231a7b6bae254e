"""Loads objects of another cluster: as they are, or created where they were in none.

An object that was in a cluster (it has a uid and a creation time) is stored whole: uid, times,
owners, status, generation; no admission sees it, since another let it in. Its resourceVersion is
renumbered: all are counted anew, in their old order. What was in no cluster is created as by a
client. Laws:
    - Definitions come first, then namespaces, then all else; the order of the input matters only
      between objects of one name, of which the later one counts.
    - What cannot be loaded is named and stops nothing else.
    - Owners that are not in the input count as living: who left them out did not want their
      dependents collected.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from libs.apiserver.crd.admission import compile_crd
from libs.domain.errors import InvalidRequest, JoinerError
from libs.kube.dump import files
from libs.kube.objects.decoding import plain
from services.simulator.core.api import definitions
from services.simulator.core.api.placement import key_of
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.store import Object, Store
from services.simulator.core.api.writing import DEFAULTS
from services.simulator.script.hands import Hands
from services.simulator.state.templates import missing_revisions

_NAMESPACES = "namespaces"
_LAST = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What was loaded."""

    objects: int
    notes: tuple[str, ...]
    """What was left out or made up, for people."""


@dataclass(slots=True)
class _Loading:
    """Work in progress."""

    store: Store
    hands: Hands
    managed_fields: bool
    notes: list[str] = field(default_factory=list)
    unknown: dict[str, int] = field(default_factory=dict)
    resources: dict[tuple[str, str], Resource] = field(default_factory=dict)
    """Those that are served, by apiVersion and kind."""
    objects: int = 0


def load(
    store: Store,
    hands: Hands,
    documents: Iterable[tuple[str, object]],
    *,
    managed_fields: bool = True,
) -> Loaded:
    """Load the objects of files.

    Args:
        store: what they are put into, best before anything runs on it.
        hands: create what was in no cluster.
        documents: name of the source and a parsed document each; Lists are taken apart.
        managed_fields: whether `metadata.managedFields` is kept.

    Raises:
        InvalidRequest: a document is no object; names source and place.
    """
    work = _Loading(store, hands, managed_fields)
    found = [
        one
        for source, document in documents
        for one in _flat(document, source)
        if not files.is_header(one)
    ]
    for one in sorted(_last_of_each(found), key=_rank):
        _load(work, one)
    _keep_strangers(work, found)
    for one in list(missing_revisions(store)):
        _load(work, one)
    work.notes += [
        f"{count} objects of {kind} left out: the simulator does not serve that kind"
        for kind, count in sorted(work.unknown.items())
    ]
    return Loaded(objects=work.objects, notes=tuple(work.notes))


def _flat(document: object, source: str) -> Iterator[Object]:
    """Yield the objects of a document, Lists taken apart."""
    if not isinstance(document, Mapping):
        raise InvalidRequest(f"{document!r:.80} is no Kubernetes object", field=source)
    kind = document.get("kind")
    if isinstance(kind, str) and kind.endswith("List") and "items" in document:
        own = {"apiVersion": document.get("apiVersion"), "kind": kind.removesuffix("List")}
        for number, item in enumerate(document["items"] or ()):
            typed = {**own, **item} if kind != "List" and isinstance(item, Mapping) else item
            yield from _flat(typed, f"{source}: items[{number}]")
        return
    for name in ("apiVersion", "kind"):
        if not isinstance(document.get(name), str) or not document[name]:
            raise InvalidRequest("is missing", field=f"{source}: {name}")
    if not isinstance(document.get("metadata"), Mapping) or not document["metadata"].get("name"):
        raise InvalidRequest("is missing", field=f"{source}: {kind}: metadata.name")
    yield plain(document)


def _last_of_each(objects: Iterable[Object]) -> list[Object]:
    """Return the objects, of those with one name the last."""
    known: dict[tuple[str, str, str, str], Object] = {}
    for one in objects:
        metadata = one["metadata"]
        group = one["apiVersion"].rpartition("/")[0]
        known[group, one["kind"], metadata.get("namespace", ""), metadata["name"]] = one
    return list(known.values())


def _rank(obj: Object) -> tuple[int, int]:
    """Order definitions first, then namespaces, then by age of the last write."""
    order = {"CustomResourceDefinition": 0, "Namespace": 1}
    revision = str(obj["metadata"].get("resourceVersion", ""))
    return order.get(obj["kind"], 2), int(revision) if revision.isdecimal() else _LAST


def _load(work: _Loading, obj: Object) -> None:
    resource = _resource(work, obj)
    if resource is None:
        kind = f"{obj['apiVersion']} {obj['kind']}"
        work.unknown[kind] = work.unknown.get(kind, 0) + 1
        return
    obj["apiVersion"] = resource.group_version
    try:
        _require_namespace(work, resource, obj)
        if _was_in_a_cluster(obj):
            _put(work, resource, obj)
        else:
            work.hands.apply(obj)
        work.objects += 1
    except JoinerError as error:
        metadata = obj["metadata"]
        key = key_of(resource, metadata["name"], metadata.get("namespace", ""))
        work.notes.append(f'{obj["kind"]} "{key}" left out: {error}')


def _resource(work: _Loading, obj: Object) -> Resource | None:
    """Return the resource of an object, in another version if its own is not served."""
    key = obj["apiVersion"], obj["kind"]
    if key not in work.resources:
        group, _, version = obj["apiVersion"].rpartition("/")
        served = work.store.resources
        kinds = [one for one in served if one.group == group and one.kind == obj["kind"]]
        exact = [one for one in kinds if one.version == version]
        if not kinds:
            return None
        work.resources[key] = (exact or kinds)[0]
    return work.resources[key]


def _was_in_a_cluster(obj: Object) -> bool:
    return bool(obj["metadata"].get("uid") and obj["metadata"].get("creationTimestamp"))


def _require_namespace(work: _Loading, resource: Resource, obj: Object) -> None:
    if not resource.namespaced:
        return
    name = obj["metadata"].setdefault("namespace", "default")
    if work.store.find(_NAMESPACES, name) is None:
        work.store.create(_NAMESPACES, {"metadata": {"name": name}})
        work.notes.append(f'Namespace "{name}" is not in the input: it was created')


def _put(work: _Loading, resource: Resource, obj: Object) -> None:
    """Store an object as it was, in canonical form."""
    if resource.bucket == definitions.BUCKET:
        compile_crd(obj)  # raises where it cannot be served
    decoded = work.store.decode(resource, obj, DEFAULTS).object
    metadata = decoded["metadata"]
    managed = obj["metadata"].get("managedFields")
    if managed and work.managed_fields:
        metadata["managedFields"] = managed
    key = key_of(resource, metadata["name"], metadata.get("namespace", ""))
    work.store.write(resource, key, decoded)


def _keep_strangers(work: _Loading, objects: Iterable[Object]) -> None:
    present = {one["metadata"].get("uid") for one in objects}
    owners = {
        owner["uid"]: f"{owner['kind']} {owner['name']}"
        for one in objects
        for owner in one["metadata"].get("ownerReferences") or ()
        if owner["uid"] not in present
    }
    work.store.strangers.update(owners)
    if owners:
        shown = ", ".join(sorted(owners.values())[:3])
        more = f" and {len(owners) - 3} more" if len(owners) > 3 else ""
        work.notes.append(f"owners that are not in the input count as living: {shown}{more}")


def captured_at(documents: Iterable[tuple[str, object]]) -> datetime | None:
    """Return when a dump was captured, None of other files.

    Raises:
        InvalidRequest: its header does not say.
    """
    for source, document in documents:
        if isinstance(document, Mapping) and files.is_header(document):
            try:
                return files.captured_at(document)
            except InvalidRequest as error:
                raise error.under(f"{source}: ClusterDump") from None
    return None


def silent_nodes(objects: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the nodes whose kubelets had fallen silent."""
    for node in objects:
        conditions = (node.get("status") or {}).get("conditions") or ()
        if any(one["type"] == "Ready" and one["status"] == "Unknown" for one in conditions):
            yield node["metadata"]["name"]
