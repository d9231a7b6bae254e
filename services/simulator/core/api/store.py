"""Every read and write of objects, with defaults, validation and admission.

`DirectApi` and HTTP both sit on it. Laws: what it returns is frozen and shared; an update that
changes nothing keeps its resourceVersion and tells no watch; a refusal leaves no trace.
"""

import dataclasses
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from libs.apiserver import metadata as new_metadata
from services.simulator.core.api import definitions, errors, metadata, newborn, reading
from services.simulator.core.api.access.users import User
from services.simulator.core.api.builtin import BUILTIN
from services.simulator.core.api.definitions import Definitions
from services.simulator.core.api.frozen import FrozenDict
from services.simulator.core.api.gates import NO_GATES
from services.simulator.core.api.judging import Change, judge
from services.simulator.core.api.newborn import FIRST_NAMESPACES, FIRST_PRIORITIES, Sources
from services.simulator.core.api.ownership.managers import Manager, by_update, instead
from services.simulator.core.api.placement import (
    check_identity,
    check_premise,
    finished,
    key_of,
    place,
    prefix_of,
    seen_as,
    stored_form,
)
from services.simulator.core.api.plugins import admission
from services.simulator.core.api.reading import ListOptions, Page
from services.simulator.core.api.resources import Catalogue, Resource
from services.simulator.core.api.storage import Storage, Version
from services.simulator.core.api.strategies.registry import strategy_of
from services.simulator.core.api.succession import beginning, successor
from services.simulator.core.api.watching import Watch
from services.simulator.core.api.writing import (
    DEFAULTS,
    Decoded,
    WriteOptions,
    Written,
    decode,
    decode_custom,
    unchanged_members,
)

Object = dict[str, Any]

Guard = Callable[[Resource, Object, Object | None, User], None]
"""(resource, new state, old one or None, who writes)."""


class Store:
    """All objects of one cluster."""

    def __init__(
        self,
        sources: Sources,
        *,
        history: int = 16384,
        plugins: frozenset[str] = frozenset(),
        gates: frozenset[str] = NO_GATES,
    ) -> None:
        self.sources = sources
        self.plugins = plugins
        self.gates = gates
        self.storage = Storage(history=history)
        self.strangers: set[str] = set()
        """Uids of owners that are somewhere else: who names one is no orphan."""
        self._second: datetime | None = None
        self._stamp_text = ""
        self.resources = Catalogue(BUILTIN)
        self.definitions = Definitions(self.resources, self.storage, self.timestamp)
        self.guard: Guard | None = None
        """Says whether who writes may write this; raises the 403."""

        self._boot()

    def _boot(self) -> None:
        for name, value, description in FIRST_PRIORITIES:
            first = {"metadata": {"name": name}, "value": value, "description": description}
            self.create("priorityclasses.scheduling.k8s.io", first)
        for name in FIRST_NAMESPACES:
            self.create("namespaces", {"metadata": {"name": name}})

    # Reading

    def resource(self, name: str | Resource) -> Resource:
        """Return the resource called `pods`, `deployments.apps`, `nodeclaims.karpenter.sh`.

        Raises the 404.
        """
        if isinstance(name, Resource):
            return name
        found = self.resources.named(name)
        if found is None:
            raise errors.no_such_resource()
        return found

    def get(self, resource: str | Resource, name: str, namespace: str = "") -> Object:
        """Return an object; raises the 404."""
        return self.read(self.resource(resource), name, namespace).object

    def find(self, resource: str | Resource, name: str, namespace: str = "") -> Object | None:
        """Return an object, None if there is none."""
        version = self.look(self.resource(resource), name, namespace)
        return version.object if version is not None else None

    def list(
        self,
        resource: str | Resource,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
    ) -> tuple[Object, ...]:
        """Return the objects of a kind, in one namespace or in all, in key order."""
        kind = self.resource(resource)
        if not labels and not fields and kind.from_storage is None:
            # What admission asks at every create: the kinds that are few.
            found = self.storage.scan(kind.bucket, prefix_of(kind, namespace))
            return tuple(version.object for version in found)
        page = self.page(kind, namespace, ListOptions(labels=labels, fields=fields))
        return tuple(version.object for version in page.items)

    def watch(
        self,
        resource: str | Resource,
        namespace: str | None = None,
        options: ListOptions | None = None,
    ) -> Watch:
        """Return a watch.

        Without a resourceVersion it begins with the present state as ADDED events.
        """
        kind = self.resource(resource)
        return reading.open_watch(
            self.storage, kind, prefix_of(kind, namespace), options or ListOptions()
        )

    def page(self, resource: Resource, namespace: str | None, options: ListOptions) -> Page:
        """Return one page of a list."""
        page = reading.read_page(self.storage, resource, prefix_of(resource, namespace), options)
        if resource.from_storage is None:
            return page
        return dataclasses.replace(page, items=[seen_as(resource, item) for item in page.items])

    def read(self, resource: Resource, name: str, namespace: str) -> Version:
        """Return the stored state of an object; raises the 404."""
        version = self.look(resource, name, namespace)
        if version is None:
            raise errors.not_found(resource, name)
        return version

    def look(self, resource: Resource, name: str, namespace: str) -> Version | None:
        """Return the stored state of an object in the resource's version, None if there is none."""
        version = self.storage.read(resource.bucket, key_of(resource, name, namespace))
        return seen_as(resource, version) if version is not None else None

    # Writing

    def create(
        self,
        resource: str | Resource,
        obj: Object,
        namespace: str = "",
        options: WriteOptions = DEFAULTS,
    ) -> Written:
        """Store a new object; raises 400, 404 (namespace), 409, 422."""
        kind = self.resource(resource)
        decoded = self.decode(kind, obj, options)
        with errors.warning(decoded.warnings):
            return self._create(kind, decoded, namespace, options)

    def _create(
        self, kind: Resource, decoded: Decoded, namespace: str, options: WriteOptions
    ) -> Written:
        new, meta = decoded.object, decoded.object["metadata"]
        place(kind, meta, namespace)
        newborn.require_namespace(self.storage, kind, meta)
        if "resourceVersion" in meta:
            raise errors.internal("resourceVersion should not be set on objects to be created")
        if self.guard is not None:
            self.guard(kind, new, None, options.user)
        admission.admit(self.plugins, self, kind, new)
        newborn.stamp(self.storage, self.sources, kind, meta, self.timestamp())
        beginning(kind, new, self.timestamp())
        strategy = strategy_of(kind)
        plain = strategy.plain_metadata
        found = new_metadata.validate(
            meta, strategy.check_name, namespaced=kind.namespaced, custom=plain
        )
        change = Change(new=new, metadata_errors=found)
        new, warnings = judge(kind, change, self.definitions, self.gates)
        key = key_of(kind, meta["name"], meta.get("namespace", ""))
        existing = self.storage.read(kind.bucket, key)
        if existing is not None:
            deleting = "deletionTimestamp" in existing.object["metadata"]
            raise errors.already_exists(kind, meta["name"], deleting=deleting)
        self._note_managers(kind, (None, None), new, "", options)
        charged = admission.charge(self.plugins, self, kind, new)
        all_warnings = (
            *decoded.warnings,
            *new_metadata.warnings(meta),
            *warnings,
            *admission.warn(self.plugins, self, kind, new),
        )
        if options.dry_run:
            return Written(object=new, warnings=all_warnings, created=True)
        for quota in charged:
            self.update("resourcequotas", quota, subresource="status")
        version = self.write(kind, key, new)
        return Written(object=version.object, version=version, warnings=all_warnings, created=True)

    def update(
        self,
        resource: str | Resource,
        obj: Object,
        *,
        name: str = "",
        namespace: str = "",
        subresource: str = "",
        options: WriteOptions = DEFAULTS,
    ) -> Written:
        """Replace an object or its status.

        Name and namespace default to those in `obj`; raises 400, 404, 409, 422.
        """
        kind = self.resource(resource)
        if subresource == "status" and not options.manager:
            decoded = self._decode_status(kind, obj, options)
        else:
            decoded = self.decode(kind, obj, options)
        meta = decoded.object["metadata"]
        name = name or meta.get("name", "")
        namespace = namespace or meta.get("namespace", "")
        with errors.warning(decoded.warnings):
            check_identity(kind, meta, name, namespace)
            old = self.look(kind, name, namespace)
            if old is not None:
                check_premise(kind, meta, old)
            elif not kind.creates_on_update or subresource:
                raise errors.not_found(kind, name)
        if old is not None:
            return self.replace(kind, old, decoded, subresource=subresource, options=options)
        meta.pop("resourceVersion", None)
        return self.create(kind, decoded.object, namespace, options)

    def replace(
        self,
        resource: Resource,
        old: Version,
        decoded: Decoded,
        *,
        subresource: str = "",
        options: WriteOptions = DEFAULTS,
    ) -> Written:
        """Store a new state in place of `old`: the common end of updates and patches."""
        if self.guard is not None:
            self.guard(resource, decoded.object, old.object, options.user)
        new = successor(resource, decoded.object, old.object, subresource)
        old_meta = old.object["metadata"]
        strategy = strategy_of(resource)
        rules = strategy.status_metadata if subresource == "status" else strategy.metadata
        found = metadata.validate_update(
            new["metadata"], old_meta, rules, plain=strategy.plain_metadata
        )
        with errors.warning(decoded.warnings):
            change = Change(new=new, old=old.object, subresource=subresource, metadata_errors=found)
            new, warnings = judge(resource, change, self.definitions, self.gates)
        new["metadata"]["resourceVersion"] = old_meta["resourceVersion"]
        sent = None if subresource else decoded.managers
        self._note_managers(resource, (old.object, sent), new, subresource, options)
        warned = (*decoded.warnings, *warnings)
        if subresource == "resize" and decoded.object["spec"] != old.object["spec"]:
            old = Version(old.key, FrozenDict(), old.revision)  # written even if nothing is taken
        return self._settle(resource, old, new, warned, options)

    def _note_managers(
        self,
        resource: Resource,
        before: tuple[Object | None, Sequence[Object] | None],
        new: Object,
        subresource: str,
        options: WriteOptions,
    ) -> None:
        """Keep `managedFields`: by the write's own bookkeeping, or as an update by its manager.

        `before` is the stored state and the entries that the client sent instead of its entries.
        """
        old, sent = before
        managing = options.managing
        if managing is None and options.manager:
            me = Manager(
                name=options.manager,
                operation="Update",
                api_version=resource.group_version,
                subresource=subresource,
                time="" if subresource == "scale" else self.timestamp(),
            )
            managing = by_update(resource, me)
        entries = old["metadata"].get("managedFields", []) if old is not None else []
        if managing is not None:
            entries = managing(old, new) if sent is None else instead(managing, old, new, sent)
        if entries:
            new["metadata"]["managedFields"] = entries
        else:
            new["metadata"].pop("managedFields", None)

    def _settle(
        self,
        resource: Resource,
        old: Version,
        new: Object,
        warnings: tuple[str, ...],
        options: WriteOptions,
    ) -> Written:
        """Store, delete or leave alone, whatever the new state asks for."""
        if finished(new):
            # The last finalizer went: the answer still carries the old resourceVersion.
            if not options.dry_run:
                self.remove(resource, old.key)
            return Written(object=new, warnings=warnings, gone=True)
        if new == old.object:
            return Written(object=old.object, version=old, warnings=warnings)
        if options.dry_run:
            return Written(object=new, warnings=warnings)
        version = self.write(resource, old.key, new)
        return Written(object=version.object, version=version, warnings=warnings)

    # Storing: the only places where objects change

    def write(self, resource: Resource, key: str, obj: Object) -> Version:
        """Store a state as it is and return it in the resource's version.

        `obj` must be the caller's own.
        """
        version = self.storage.write(resource.bucket, key, stored_form(resource, obj))
        if resource.bucket == definitions.BUCKET:
            self.definitions.follow(key)
        return seen_as(resource, version)

    def remove(self, resource: Resource, key: str) -> Version:
        """Delete an object and return its last state under the revision of its deletion."""
        version = self.storage.remove(resource.bucket, key)
        if resource.bucket == definitions.BUCKET:
            self.definitions.withdraw(version.object)
        elif resource.custom:
            self.definitions.clean_up(resource.qualified)
        return seen_as(resource, version)

    # Shared steps

    def timestamp(self) -> str:
        """Return the present time as metadata spells it."""
        second = self.sources.now().replace(microsecond=0)
        if second != self._second:
            self._second, self._stamp_text = second, second.strftime("%Y-%m-%dT%H:%M:%SZ")
        return self._stamp_text

    def decode(self, resource: Resource, obj: Object, options: WriteOptions) -> Decoded:
        """Return the canonical, defaulted form of what a client sent; raises a 400."""
        if resource.custom:
            schema = self.definitions.version_of(resource)
            decoded = decode_custom(resource, schema, obj, options)
        else:
            decoded = decode(resource, obj, options)
        decoded.managers = decoded.object["metadata"].pop("managedFields", None)
        strategy_of(resource).default(decoded.object)
        return decoded

    def _decode_status(self, resource: Resource, obj: Object, options: WriteOptions) -> Decoded:
        """Return the same as `decode`, sparing what a caller in the process left as it is stored.

        Kubelets do little else than this.
        """
        meta = obj.get("metadata") if isinstance(obj, dict) else None
        if resource.custom or not isinstance(meta, FrozenDict):
            return self.decode(resource, obj, options)
        old = self.read(resource, meta["name"], meta.get("namespace", ""))
        kept = unchanged_members(obj, old.object)
        rest = {name: value for name, value in obj.items() if name not in kept}
        decoded = self.decode(resource, rest, options)
        decoded.object.update(kept)
        if "metadata" in kept:
            own = dict(kept["metadata"])
            own.pop("managedFields", None)
            decoded.object["metadata"] = own
        return decoded
