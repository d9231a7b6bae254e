"""The direct API over dicts: every read and write of objects, with defaults, validation and admission.

Controllers, kubelets, the scheduler and tests call it; `ApiServer.handle` puts HTTP on top of the same functions. Laws:
what it returns is frozen and shared; an update that changes nothing keeps its resourceVersion and tells no watch; a
refusal leaves no trace.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.simulator.core.api import errors, metadata, reading
from services.simulator.core.api.builtin import BUILTIN
from services.simulator.core.api.reading import ListOptions, Page
from services.simulator.core.api.resources import Catalogue, Resource
from services.simulator.core.api.storage import Storage, Version
from services.simulator.core.api.strategies.registry import strategy_of
from services.simulator.core.api.strategies.strategy import Strategy
from services.simulator.core.api.watching import Watch
from services.simulator.core.api.writing import DEFAULTS, Decoded, WriteOptions, Written, decode

Object = dict[str, Any]

FIRST_NAMESPACES = ("kube-system", "kube-public", "default", "kube-node-lease")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What the store needs from outside: time and identifiers."""

    now: Callable[[], datetime]
    uids: Callable[[], str]
    suffixes: Callable[[], str]
    """Makes the five characters after a generateName."""


class Store:
    """All objects of one cluster."""

    def __init__(
        self, sources: Sources, *, history: int = 16384, plugins: frozenset[str] = frozenset()
    ) -> None:
        self.sources = sources
        self.plugins = plugins
        self.storage = Storage(history=history)
        self.resources = Catalogue(BUILTIN)
        self._boot()

    def _boot(self) -> None:
        for name in FIRST_NAMESPACES:
            self.create("namespaces", {"metadata": {"name": name}})

    # Reading

    def resource(self, name: str | Resource) -> Resource:
        """Return the resource called `pods`, `deployments.apps`, `nodeclaims.karpenter.sh`; raises the 404."""
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
        kind = self.resource(resource)
        version = self.storage.read(kind.bucket, key_of(kind, name, namespace))
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
        page = self.page(kind, namespace, ListOptions(labels=labels, fields=fields))
        return tuple(version.object for version in page.items)

    def watch(
        self,
        resource: str | Resource,
        namespace: str | None = None,
        options: ListOptions | None = None,
    ) -> Watch:
        """Return a watch; without a resourceVersion it begins with the present state as ADDED events."""
        kind = self.resource(resource)
        return reading.open_watch(
            self.storage, kind, prefix_of(kind, namespace), options or ListOptions()
        )

    def page(self, resource: Resource, namespace: str | None, options: ListOptions) -> Page:
        """Return one page of a list."""
        return reading.read_page(self.storage, resource, prefix_of(resource, namespace), options)

    def read(self, resource: Resource, name: str, namespace: str) -> Version:
        """Return the stored state of an object; raises the 404."""
        version = self.storage.read(resource.bucket, key_of(resource, name, namespace))
        if version is None:
            raise errors.not_found(resource, name)
        return version

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
        new, meta = decoded.object, decoded.object["metadata"]
        place(kind, meta, namespace)
        self._require_namespace(kind, meta)
        if "resourceVersion" in meta:
            raise errors.internal("resourceVersion should not be set on objects to be created")
        strategy = self.strategy(kind)
        self._stamp(meta)
        if kind.has_status and not strategy.keeps_status:
            _reset_status(new, kind)
        strategy.prepare_create(new, self.timestamp())
        found = metadata.validate(
            meta, strategy.check_name, namespaced=kind.namespaced
        ) + strategy.validate(new)
        errors.check(kind, meta.get("name", ""), found)
        key = key_of(kind, meta["name"], meta.get("namespace", ""))
        existing = self.storage.read(kind.bucket, key)
        if existing is not None:
            deleting = "deletionTimestamp" in existing.object["metadata"]
            raise errors.already_exists(kind, meta["name"], deleting=deleting)
        warnings = (*decoded.warnings, *strategy.warnings(new))
        if options.dry_run:
            return Written(object=new, warnings=warnings, created=True)
        version = self.storage.write(kind.bucket, key, new)
        return Written(object=version.object, version=version, warnings=warnings, created=True)

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
        """Replace an object or its status; name and namespace default to those in `obj`; raises 400, 404, 409, 422."""
        kind = self.resource(resource)
        decoded = self.decode(kind, obj, options)
        meta = decoded.object["metadata"]
        name = name or meta.get("name", "")
        namespace = namespace or meta.get("namespace", "")
        check_identity(kind, meta, name, namespace)
        old = self.storage.read(kind.bucket, key_of(kind, name, namespace))
        if old is None:
            if kind.creates_on_update and not subresource:
                meta.pop("resourceVersion", None)
                return self.create(kind, decoded.object, namespace, options)
            raise errors.not_found(kind, name)
        self._check_premise(kind, meta, old)
        return self.replace(kind, old, decoded, subresource=subresource, options=options)

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
        new, meta = decoded.object, decoded.object["metadata"]
        old_meta = old.object["metadata"]
        strategy = self.strategy(resource)
        metadata.carry_over(meta, old_meta)
        if subresource == "status":
            _keep_all_but_status(new, old.object)
            if strategy.status_keeps_labels:
                _copy_member(meta, old_meta, "labels")
            strategy.prepare_status(new, old.object)
        else:
            if resource.has_status:
                _copy_member(new, old.object, "status")
            strategy.prepare_update(new, old.object)
        self._validate_update(resource, new, old, subresource)
        meta["resourceVersion"] = old_meta["resourceVersion"]
        warnings = (*decoded.warnings, *(strategy.warnings(new) if not subresource else ()))
        if finished(new):
            return self._remove(resource, old, new, warnings, options)
        if new == old.object:
            return Written(object=old.object, version=old, warnings=warnings)
        if options.dry_run:
            return Written(object=new, warnings=warnings)
        version = self.storage.write(resource.bucket, old.key, new)
        return Written(object=version.object, version=version, warnings=warnings)

    def _remove(
        self,
        resource: Resource,
        old: Version,
        new: Object,
        warnings: tuple[str, ...],
        options: WriteOptions,
    ) -> Written:
        """Delete an object whose last finalizer went; the answer still carries its old resourceVersion."""
        if not options.dry_run:
            self.storage.remove(resource.bucket, old.key, new)
        return Written(object=new, warnings=warnings, gone=True)

    def _validate_update(
        self, resource: Resource, new: Object, old: Version, subresource: str
    ) -> None:
        strategy = self.strategy(resource)
        found = metadata.validate_update(new["metadata"], old.object["metadata"])
        if subresource == "status":
            found = found + strategy.validate_status(new, old.object)
        else:
            found = found + (strategy.validate(new) if strategy.revalidates else [])
            found = found + strategy.validate_update(new, old.object)
        errors.check(resource, new["metadata"]["name"], found)

    # Shared steps

    def strategy(self, resource: Resource) -> Strategy:
        """Return how a resource is written."""
        return strategy_of(resource)

    def timestamp(self) -> str:
        """Return the present time as metadata spells it."""
        return self.sources.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def decode(self, resource: Resource, obj: Object, options: WriteOptions) -> Decoded:
        """Return the canonical, defaulted form of what a client sent; raises a 400."""
        decoded = decode(resource, obj, options)
        decoded.object["metadata"].pop("managedFields", None)
        self.strategy(resource).default(decoded.object)
        return decoded

    def _stamp(self, meta: Object) -> None:
        for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"):
            meta.pop(name, None)
        meta["uid"] = self.sources.uids()
        meta["creationTimestamp"] = self.timestamp()
        if not meta.get("name") and meta.get("generateName"):
            meta["name"] = meta["generateName"][:58] + self.sources.suffixes()

    def _require_namespace(self, resource: Resource, meta: Object) -> None:
        if not resource.namespaced:
            return
        name = meta["namespace"]
        namespaces = self.resource("namespaces")
        found = self.storage.read("namespaces", name)
        if found is None:
            raise errors.not_found(namespaces, name)
        if "deletionTimestamp" in found.object["metadata"]:
            error = errors.forbidden(
                resource,
                meta.get("name", ""),
                f"unable to create new content in namespace {name} because it is being terminated",
            )
            assert error.details is not None
            error.details["causes"] = [
                {
                    "reason": "NamespaceTerminating",
                    "message": f"namespace {name} is being terminated",
                    "field": "metadata.namespace",
                }
            ]
            raise error

    def _check_premise(self, resource: Resource, meta: Object, old: Version) -> None:
        current = old.object["metadata"]
        if "uid" in meta and meta["uid"] != current["uid"]:
            raise uid_mismatch(resource, old, meta["uid"])
        revision = meta.get("resourceVersion", "")
        if not revision:
            if not resource.unconditional_update:
                why = "must be specified for an update"
                errors.check(
                    resource, current["name"], [errors.wrong("metadata.resourceVersion", 0, why)]
                )
            return
        if not revision.isdecimal():
            raise errors.internal(
                f'Invalid value: "{revision}": strconv.ParseUint: parsing "{revision}": invalid syntax'
            )
        if revision != current["resourceVersion"]:
            raise errors.conflict(resource, current["name"])


def key_of(resource: Resource, name: str, namespace: str) -> str:
    """Return the storage key of an object."""
    return f"{namespace}/{name}" if resource.namespaced else name


def prefix_of(resource: Resource, namespace: str | None) -> str:
    """Return the storage prefix of a namespace, empty for all."""
    return f"{namespace}/" if resource.namespaced and namespace else ""


def place(resource: Resource, meta: Object, namespace: str) -> None:
    """Put an object into the namespace of its path; raises the 400 if it names another."""
    if not resource.namespaced:
        meta.pop("namespace", None)
        return
    if namespace and meta.get("namespace", namespace) != namespace:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if namespace:
        meta["namespace"] = namespace
    elif "namespace" not in meta:
        meta["namespace"] = "default"


def check_identity(resource: Resource, meta: Object, name: str, namespace: str) -> None:
    """Raise the 400 of an object that is not the one in the path."""
    own = meta.get("name", "")
    if not own:
        raise errors.bad_request(
            f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )
    if own != name:
        raise errors.bad_request(
            f"the name of the object ({own}) does not match the name on the URL ({name})"
        )
    place(resource, meta, namespace)


def uid_mismatch(resource: Resource, old: Version, wanted: str) -> errors.ApiError:
    """Return the 409 of a uid that is not the stored one, as etcd's client words it."""
    place_in_etcd = {
        "nodes": "minions",
        "endpoints": "services/endpoints",
        "services": "services/specs",
    }
    folder = place_in_etcd.get(resource.plural, resource.plural)
    if resource.group and "." in resource.group and not resource.group.endswith(".k8s.io"):
        folder = f"{resource.group}/{folder}"
    current = old.object["metadata"]["uid"]
    why = (
        f"StorageError: invalid object, Code: 4, Key: /registry/{folder}/{old.key}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted}, UID in object meta: {current}"
    )
    return errors.conflict(resource, old.object["metadata"]["name"], why)


def finished(obj: Object) -> bool:
    """Tell whether nothing holds an object that is being deleted any more."""
    meta = obj["metadata"]
    if "deletionTimestamp" not in meta or meta.get("finalizers"):
        return False
    if obj["kind"] == "Namespace":
        return not obj["spec"].get("finalizers")
    return not meta.get("deletionGracePeriodSeconds")


def _copy_member(new: Object, old: Object, name: str) -> None:
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)


def _keep_all_but_status(new: Object, old: Object) -> None:
    for name in {*new, *old} - {"metadata", "status"}:
        _copy_member(new, old, name)


def _reset_status(obj: Object, resource: Resource) -> None:
    zero = reading.blank(resource).get("status")
    if zero is None:
        obj.pop("status", None)
    else:
        obj["status"] = dict(zero)
