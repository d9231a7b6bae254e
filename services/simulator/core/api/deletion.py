"""Deletion: preconditions, grace periods, finalizers and propagation policies.

What deletes dependents is the garbage collector (`garbage.py`); here an object is only marked,
shortened or removed.

Source: Kubernetes documentation, "Garbage Collection", "Finalizers", "Pod termination"; details as
recorded.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from services.simulator.core.api import definitions, errors
from services.simulator.core.api.frozen import thaw
from services.simulator.core.api.placement import finished
from services.simulator.core.api.reading import ListOptions, Page
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.storage import Version
from services.simulator.core.api.store import Object, Store

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"
_ORPHANS_BY_DEFAULT = ("jobs.batch", "replicationcontrollers")
_LONGEST_SECONDS = 2**31
_IMMORTAL = ("default", "kube-system", "kube-public")
_JOB_WARNING = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background "
    "to remove them or "
    "set propagationPolicy=Orphan to suppress this warning"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """How a deletion is meant."""

    grace_seconds: int | None = None
    uid: str = ""
    resource_version: str = ""
    propagation: str = ""
    """`Background`, `Foreground`, `Orphan`, or empty for the kind's default."""

    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """What a deletion did; `object` is the last or the marked state."""

    object: Object
    gone: bool
    warnings: tuple[str, ...] = field(default=())


BACKGROUND = DeleteOptions()


def delete(
    store: Store,
    resource: str | Resource,
    name: str,
    namespace: str = "",
    options: DeleteOptions = BACKGROUND,
) -> Deleted:
    """Delete an object, or mark it for deletion where a finalizer or a grace period keeps it.

    Raises 404, 409.
    """
    kind = store.resource(resource)
    old = store.read(kind, name, namespace)
    check_preconditions(kind, old, options)
    warnings = (_JOB_WARNING,) if kind.qualified == "jobs.batch" and not options.propagation else ()
    if kind.qualified == "namespaces":
        deleted = _delete_namespace(store, kind, old, options)
    elif kind.bucket == definitions.BUCKET:
        deleted = _delete_definition(store, kind, old, options)
    elif "deletionTimestamp" in old.object["metadata"]:
        deleted = _delete_again(store, kind, old, options)
    else:
        deleted = _delete_first(store, kind, old, options)
    return Deleted(object=deleted.object, gone=deleted.gone, warnings=warnings)


def delete_collection(
    store: Store,
    resource: Resource,
    namespace: str | None,
    selection: ListOptions,
    options: DeleteOptions,
) -> Page:
    """Delete everything selected; returns the list as it was before."""
    page = store.page(resource, namespace, selection)
    for version in page.items:
        meta = version.object["metadata"]
        delete(store, resource, meta["name"], meta.get("namespace", ""), options)
    return page


def check_preconditions(resource: Resource, old: Version, options: DeleteOptions) -> None:
    """Raise the 409 of a uid or resourceVersion that is not the current one."""
    meta = old.object["metadata"]
    name = meta["name"]
    if options.uid and options.uid != meta["uid"]:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record "
            f"({meta['uid']}). "
            "The object might have been deleted and then recreated"
        )
        raise errors.conflict(resource, name, why, kind=resource.kind)
    if options.resource_version and options.resource_version != meta["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not "
            "match the ResourceVersion "
            f"in record ({meta['resourceVersion']}). The object might have been modified"
        )
        raise errors.conflict(resource, name, why, kind=resource.kind)


def _delete_first(
    store: Store, resource: Resource, old: Version, options: DeleteOptions
) -> Deleted:
    graceful = resource.qualified == "pods"
    grace = _pod_grace(old.object, options) if graceful else 0
    finalizers = _finalizers(resource, old.object, options)
    if not graceful and not finalizers:
        return _remove(store, resource, old, options)
    marked = _marked(store, old.object, grace, finalizers)
    if options.dry_run:
        return Deleted(object=marked, gone=not finalizers and grace == 0)
    version = store.write(resource, old.key, marked)
    if finalizers or grace > 0:
        return Deleted(object=version.object, gone=False)
    return _remove(store, resource, version, options)


def _delete_again(
    store: Store, resource: Resource, old: Version, options: DeleteOptions
) -> Deleted:
    """Shorten a pod's grace period; anything else is already as wished."""
    meta = old.object["metadata"]
    if resource.qualified != "pods":
        return Deleted(object=old.object, gone=False)
    left = meta.get("deletionGracePeriodSeconds", 0)
    grace = options.grace_seconds if options.grace_seconds is not None else left
    grace = 1 if grace < 0 else grace
    if grace >= left and not (left == 0 and finished(old.object)):
        return Deleted(object=old.object, gone=False)
    shortened = _own_metadata(old.object)
    shortened["metadata"]["deletionGracePeriodSeconds"] = grace
    shortened["metadata"]["deletionTimestamp"] = _after(store, grace)
    if options.dry_run:
        return Deleted(object=shortened, gone=finished(shortened))
    version = store.write(resource, old.key, shortened)
    if finished(version.object):
        return _remove(store, resource, version, options)
    return Deleted(object=version.object, gone=False)


def _delete_namespace(
    store: Store, resource: Resource, old: Version, options: DeleteOptions
) -> Deleted:
    """Mark a namespace; its controller empties it and takes the finalizer away."""
    name = old.object["metadata"]["name"]
    if name in _IMMORTAL:
        raise errors.forbidden(resource, name, "this namespace may not be deleted")
    if "deletionTimestamp" in old.object["metadata"]:
        if finished(old.object):
            return _remove(store, resource, old, options)
        return Deleted(object=old.object, gone=False)
    marked = _own_metadata(old.object)
    marked["metadata"]["deletionTimestamp"] = store.timestamp()
    marked["status"] = {**thaw(old.object.get("status", {})), "phase": "Terminating"}
    if options.dry_run:
        return Deleted(object=marked, gone=False)
    version = store.write(resource, old.key, marked)
    return Deleted(object=version.object, gone=False)


def _delete_definition(
    store: Store, resource: Resource, old: Version, options: DeleteOptions
) -> Deleted:
    """Mark a definition.

    The store removes its objects, then the definition, at once if nothing holds them.
    """
    if "deletionTimestamp" in old.object["metadata"]:
        return Deleted(object=old.object, gone=False)
    marked = definitions.terminating(old.object, store.timestamp())
    if options.dry_run:
        return Deleted(object=marked, gone=False)
    version = store.write(resource, old.key, marked)
    return Deleted(object=version.object, gone=False)


def _remove(store: Store, resource: Resource, old: Version, options: DeleteOptions) -> Deleted:
    if options.dry_run:
        return Deleted(object=old.object, gone=True)
    removed = store.remove(resource, old.key)
    return Deleted(object=removed.object, gone=True)


def _pod_grace(pod: Object, options: DeleteOptions) -> int:
    """Return the seconds a pod gets.

    None if no kubelet has it or it has ended, else as wished or as its spec says.
    """
    if not pod["spec"].get("nodeName") or pod["status"].get("phase") in ("Succeeded", "Failed"):
        return 0
    grace = options.grace_seconds
    if grace is None:
        grace = pod["spec"].get("terminationGracePeriodSeconds", 30)
    assert isinstance(grace, int)
    return 1 if grace < 0 else grace


def _finalizers(resource: Resource, obj: Object, options: DeleteOptions) -> list[str]:
    """Return the finalizers after the propagation policy has added or taken away its own."""
    current = list(obj["metadata"].get("finalizers", ()))
    policy = options.propagation
    if not policy and resource.qualified in _ORPHANS_BY_DEFAULT:
        policy = "Orphan"
    wanted = {"Orphan": ORPHAN, "Foreground": FOREGROUND}.get(policy)
    if policy:
        current = [name for name in current if name not in (ORPHAN, FOREGROUND)]
    return [*current, wanted] if wanted else current


def _marked(store: Store, obj: Object, grace: int, finalizers: list[str]) -> Object:
    marked = _own_metadata(obj)
    meta: dict[str, Any] = marked["metadata"]
    meta["deletionTimestamp"] = _after(store, grace)
    meta["deletionGracePeriodSeconds"] = grace
    if meta.get("generation"):
        meta["generation"] += 1
    if finalizers:
        meta["finalizers"] = finalizers
    return marked


def _own_metadata(obj: Object) -> Object:
    """Return a shallow copy whose metadata may be changed."""
    return {**obj, "metadata": dict(obj["metadata"])}


def _after(store: Store, seconds: int) -> str:
    return (store.sources.now() + timedelta(seconds=min(seconds, _LONGEST_SECONDS))).strftime(
        "%Y-%m-%dT%H:%M:%SZ"
    )
