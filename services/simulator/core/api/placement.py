"""Where an object is and which one it is: keys, namespaces, identity, views of one state."""

from libs.apiserver import field_errors
from services.simulator.core.api import errors
from services.simulator.core.api.frozen import freeze
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.storage import Object, Version


def seen_as(resource: Resource, version: Version) -> Version:
    """Return a stored state as a resource shows it: itself, or another version's view of it."""
    if resource.from_storage is None:
        return version
    return Version(version.key, freeze(resource.from_storage(version.object)), version.revision)


def stored_form(resource: Resource, obj: Object) -> Object:
    """Return an object as it is stored: in the storage version."""
    if resource.to_storage is not None:
        return resource.to_storage(obj)
    if resource.stored_version:
        return {**obj, "apiVersion": f"{resource.group}/{resource.stored_version}"}
    return obj


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
            f"the name of the object ({name} based on URL) was undeterminable: name must be "
            "provided"
        )
    if own != name:
        raise errors.bad_request(
            f"the name of the object ({own}) does not match the name on the URL ({name})"
        )
    place(resource, meta, namespace)


def check_premise(resource: Resource, meta: Object, old: Version) -> None:
    """Raise the 409 of a write that is about another object or another state of it."""
    current = old.object["metadata"]
    if "uid" in meta and meta["uid"] != current["uid"]:
        raise uid_mismatch(resource, old, meta["uid"])
    revision = meta.get("resourceVersion", "")
    if revision in ("", "0"):
        if not resource.unconditional_update:
            missing = field_errors.wrong(
                "metadata.resourceVersion", 0, "must be specified for an update"
            )
            raise errors.invalid(resource.plural, resource.group, current["name"], [missing])
        return
    if not revision.isdecimal():
        raise errors.internal(f'strconv.ParseUint: parsing "{revision}": invalid syntax')
    if revision != current["resourceVersion"]:
        raise errors.conflict(resource, current["name"])


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
        f"StorageError: invalid object, Code: 4, Key: /registry/{folder}/{old.key}, "
        "ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted}, UID in object "
        f"meta: {current}"
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
