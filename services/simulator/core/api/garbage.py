"""Deletion of what nobody holds any more: orphaned dependents, emptied namespaces.

Both collectors are steps without a clock: whoever runs the simulator calls `collect_garbage`
whenever something may have changed. They follow the logs of all buckets, so a step costs what
changed since the last one.

Source: Kubernetes documentation, "Garbage Collection", "Owners and Dependents"; KEP-5080 (pods go
first).
"""

from collections.abc import Iterator

from services.simulator.core.api import deletion, errors
from services.simulator.core.api.deletion import FOREGROUND, ORPHAN, DeleteOptions
from services.simulator.core.api.frozen import thaw
from services.simulator.core.api.reading import ListOptions
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.store import Object, Store
from services.simulator.core.api.watching import Watch

Address = tuple[str, str]
"""Bucket and key of an object."""


class GarbageCollector:
    """Knows who owns whom, from the logs."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._watches: dict[str, Watch] = {}
        self._owners: dict[Address, frozenset[str]] = {}
        self._dependents: dict[str, set[Address]] = {}
        self._uids: dict[str, Address] = {}
        self._due: dict[Address, None] = {}
        self._terminating: set[str] = set()

    def collect_garbage(self) -> bool:
        """Do what there is to do now; return whether anything was done, which may cause more."""
        before = self._store.storage.revision
        self._follow()
        due, self._due = self._due, {}
        for address in due:
            obj = self._object(address)
            if obj is not None:
                self._examine(address, obj)
        for namespace in sorted(self._terminating):
            self._empty(namespace)
        return self._store.storage.revision != before

    # What changed

    def _follow(self) -> None:
        for name, _bucket in self._store.storage.buckets():
            watch = self._watches.get(name)
            if watch is None or watch.closed:
                resource = self._store.resources.named(name)
                if resource is None:
                    continue
                watch = self._watches[name] = self._store.watch(resource, None, ListOptions())
            for event in watch.poll():
                if event.version is not None:
                    self._learn(
                        (name, event.version.key), event.object, gone=event.type == "DELETED"
                    )

    def _learn(self, address: Address, obj: Object, *, gone: bool) -> None:
        meta = obj["metadata"]
        owners = (
            frozenset()
            if gone
            else frozenset(entry["uid"] for entry in meta.get("ownerReferences", ()))
        )
        for owner in self._owners.get(address, frozenset()) - owners:
            self._dependents.get(owner, set()).discard(address)
            if (holder := self._uids.get(owner)) is not None:
                self._due[holder] = None
        for owner in owners:
            self._dependents.setdefault(owner, set()).add(address)
        if gone:
            self._owners.pop(address, None)
            if self._uids.get(meta["uid"]) == address:
                del self._uids[meta["uid"]]
            self._due.update(dict.fromkeys(sorted(self._dependents.get(meta["uid"], ()))))
        else:
            self._owners[address] = owners
            self._uids[meta["uid"]] = address
            if owners or "deletionTimestamp" in meta:
                self._due[address] = None
        if address[0] == "namespaces":
            active = not gone and "deletionTimestamp" in meta
            (self._terminating.add if active else self._terminating.discard)(meta["name"])

    # What follows from it

    def _object(self, address: Address) -> Object | None:
        version = self._store.storage.read(*address)
        return version.object if version is not None else None

    def _examine(self, address: Address, obj: Object) -> None:
        finalizers = obj["metadata"].get("finalizers", ())
        if "deletionTimestamp" in obj["metadata"]:
            if FOREGROUND in finalizers:
                self._delete_blocking(address, obj)
            elif ORPHAN in finalizers:
                self._orphan(address, obj)
        elif obj["metadata"].get("ownerReferences"):
            self._judge_dependent(address, obj)

    def _judge_dependent(self, address: Address, obj: Object) -> None:
        """Delete an object without a living owner; drop references to dead ones from the others."""
        references = obj["metadata"]["ownerReferences"]
        living: list[Object] = []
        waiting: list[Object] = []
        for reference in references:
            owner_address = self._uids.get(reference["uid"])
            owner = self._object(owner_address) if owner_address is not None else None
            if owner is None:
                if reference["uid"] in self._store.strangers:
                    living.append(reference)
                continue
            meta = owner["metadata"]
            leaving = "deletionTimestamp" in meta and FOREGROUND in meta.get("finalizers", ())
            (waiting if leaving else living).append(reference)
        if living and len(living) < len(references):
            self._keep_owners(address, obj, living)
        elif not living:
            policy = (
                "Foreground"
                if waiting and self._dependents.get(obj["metadata"]["uid"])
                else "Background"
            )
            self._delete(address, obj, policy)

    def _delete_blocking(self, address: Address, owner: Object) -> None:
        """Delete the dependents of an owner that goes in the foreground.

        Release it when none blocks it.
        """
        uid = owner["metadata"]["uid"]
        blocked = False
        for dependent_address in sorted(self._dependents.get(uid, ())):
            dependent = self._object(dependent_address)
            if dependent is None:
                continue
            blocked = blocked or _blocks(dependent, uid)
            if "deletionTimestamp" not in dependent["metadata"]:
                self._judge_dependent(dependent_address, dependent)
        remaining = [self._object(entry) for entry in self._dependents.get(uid, ())]
        if not blocked or not any(entry is not None and _blocks(entry, uid) for entry in remaining):
            self._release(address, owner, FOREGROUND)

    def _orphan(self, address: Address, owner: Object) -> None:
        uid = owner["metadata"]["uid"]
        for dependent_address in sorted(self._dependents.get(uid, ())):
            dependent = self._object(dependent_address)
            if dependent is not None:
                references = dependent["metadata"].get("ownerReferences", ())
                kept = [reference for reference in references if reference["uid"] != uid]
                self._keep_owners(dependent_address, dependent, kept)
        self._release(address, owner, ORPHAN)

    def _keep_owners(self, address: Address, obj: Object, references: list[Object]) -> None:
        changed = thaw(obj)
        if references:
            changed["metadata"]["ownerReferences"] = thaw(references)
        else:
            changed["metadata"].pop("ownerReferences", None)
        self._update(address, changed)

    def _release(self, address: Address, obj: Object, finalizer: str) -> None:
        changed = thaw(obj)
        kept = [name for name in changed["metadata"].get("finalizers", ()) if name != finalizer]
        changed["metadata"]["finalizers"] = kept
        self._update(address, changed)

    def _update(self, address: Address, changed: Object) -> None:
        resource = self._store.resources.named(address[0])
        if resource is not None:
            try:
                self._store.update(resource, changed)
            except errors.ApiError:
                self._due[address] = None

    def _delete(self, address: Address, obj: Object, policy: str = "Background") -> None:
        resource = self._store.resources.named(address[0])
        if resource is None:
            return
        meta = obj["metadata"]
        options = DeleteOptions(uid=meta["uid"], propagation=policy)
        deletion.delete(self._store, resource, meta["name"], meta.get("namespace", ""), options)

    # Namespaces

    def _empty(self, namespace: str) -> None:
        """Delete what is in a namespace, pods first; release it when nothing is left."""
        for resources in ((self._store.resource("pods"),), self._others()):
            left = [self._delete_all(resource, namespace) for resource in resources]
            if any(left):
                return
        held = self._store.find("namespaces", namespace)
        if held is not None and "kubernetes" in held["spec"].get("finalizers", ()):
            changed = thaw(held)
            changed["spec"]["finalizers"].remove("kubernetes")
            self._store.update("namespaces", changed, subresource="finalize")

    def _delete_all(self, resource: Resource, namespace: str) -> bool:
        """Delete every object of a kind in a namespace; return whether any is left."""
        prefix = f"{namespace}/"
        for version in self._store.storage.scan(resource.bucket, prefix):
            if "deletionTimestamp" not in version.object["metadata"]:
                self._delete((resource.bucket, version.key), version.object)
        return bool(self._store.storage.scan(resource.bucket, prefix))

    def _others(self) -> Iterator[Resource]:
        for name, _bucket in self._store.storage.buckets():
            resource = self._store.resources.named(name)
            if resource is not None and resource.namespaced and name != "pods":
                yield resource


def _blocks(dependent: Object, owner_uid: str) -> bool:
    references = dependent["metadata"].get("ownerReferences", ())
    return any(
        entry["uid"] == owner_uid and entry.get("blockOwnerDeletion") for entry in references
    )
