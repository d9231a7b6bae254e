"""Validation of `metadata`, the same for every kind.

Source: Kubernetes API conventions, "Metadata"; wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from libs.apiserver import names
from libs.apiserver.field_errors import FieldError, not_allowed, required, too_long, wrong
from libs.apiserver.names import NameCheck

Object = dict[str, Any]

ANNOTATIONS_LIMIT = 256 * 1024
_STANDARD_FINALIZERS = ("orphan", "foregroundDeletion", "kubernetes")
IMMUTABLE = "field is immutable"
BARE = "name is neither a standard finalizer name nor is it fully qualified"
_REPEATED_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in "
    "1.20+, and may reject such requests as early as 1.24; please fix your requests"
)
_NO_OWNERS = (("v1", "Event"), ("events.k8s.io/v1", "Event"))


def validate(
    metadata: Mapping[str, Any], check_name: NameCheck, *, namespaced: bool, custom: bool
) -> list[FieldError]:
    """Return what is wrong with the metadata of an object to be created."""
    errors: list[FieldError] = []
    if prefix := metadata.get("generateName"):
        errors += [wrong("metadata.generateName", prefix, why) for why in check_name(prefix, True)]
    name = metadata.get("name", "")
    if not name:
        errors.append(required("metadata.name", "name or generateName is required"))
    else:
        errors += [wrong("metadata.name", name, why) for why in check_name(name, False)]
    namespace = metadata.get("namespace", "")
    if namespaced and not namespace:
        errors.append(required("metadata.namespace"))
    finalizers = metadata.get("finalizers", ())
    errors += [*validate_maps(metadata), *validate_finalizers(finalizers)]
    return errors if custom else errors + refuse_bare(finalizers)


def validate_labels(labels: Mapping[str, str], field: str) -> list[FieldError]:
    """Return what is wrong with a map of labels."""
    errors: list[FieldError] = []
    for key, value in labels.items():
        errors += [wrong(field, key, why) for why in names.qualified_name(key)]
        errors += [wrong(field, value, why) for why in names.label_value(value)]
    return errors


def validate_maps(metadata: Mapping[str, Any]) -> list[FieldError]:
    """Return what is wrong with labels, annotations and owners."""
    errors: list[FieldError] = []
    if labels := metadata.get("labels"):
        errors += validate_labels(labels, "metadata.labels")
    if annotations := metadata.get("annotations"):
        errors += validate_annotations(annotations, "metadata.annotations")
    if owners := metadata.get("ownerReferences"):
        errors += _validate_owners(owners)
    return errors


def validate_finalizers(finalizers: Sequence[str]) -> list[FieldError]:
    """Return what is wrong with the names of finalizers, and with their sum."""
    at = "metadata.finalizers"
    errors = [wrong(at, name, why) for name in finalizers for why in names.qualified_name(name)]
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        why = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.append(wrong(at, list(finalizers), why))
    return errors


def refuse_bare(finalizers: Sequence[str]) -> list[FieldError]:
    """Return the finalizers without a domain, each by its place, as most built-in kinds do."""
    return [
        wrong(f"metadata.finalizers[{index}]", name, BARE)
        for index, name in enumerate(finalizers)
        if is_bare(name)
    ]


def validate_template(metadata: Mapping[str, Any], at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the metadata of what a controller will make: labels, annotations."""
    yield from validate_annotations(metadata.get("annotations") or {}, f"{at}.metadata.annotations")
    yield from validate_labels(metadata.get("labels") or {}, f"{at}.metadata.labels")
    for name in metadata:
        if name not in ("annotations", "labels"):
            yield not_allowed(f"{at}.{name}", "cannot be set")


def drop_repeated_owners(metadata: Object) -> list[str]:
    """Keep one of equal owners, and return the warning about the others."""
    kept: list[Any] = []
    repeated: list[str] = []
    for owner in metadata.get("ownerReferences") or ():
        if owner in kept:
            repeated.append(owner.get("uid", ""))
        else:
            kept.append(owner)
    if not repeated:
        return []
    metadata["ownerReferences"] = kept
    return [f"{_REPEATED_OWNERS}; duplicate UID(s) observed: {', '.join(repeated)}"]


def is_bare(finalizer: str) -> bool:
    """Tell whether a finalizer names neither a domain nor one of Kubernetes' own."""
    return "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS


def warnings(metadata: Mapping[str, Any]) -> list[str]:
    """Return what the API server warns of in metadata."""
    return [
        f'metadata.finalizers: "{name}": prefer a domain-qualified finalizer name to avoid '
        "accidental conflicts with other finalizer writers"
        for name in metadata.get("finalizers", ())
        if is_bare(name)
    ]


def validate_annotations(annotations: Mapping[str, str], at: str) -> list[FieldError]:
    """Return what is wrong with a map of annotations."""
    errors = [
        wrong(at, key, why) for key in annotations for why in names.qualified_name(key.lower())
    ]
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > ANNOTATIONS_LIMIT:
        errors.append(too_long(at, ANNOTATIONS_LIMIT))
    return errors


def _validate_owners(owners: list[Mapping[str, Any]]) -> list[FieldError]:
    errors: list[FieldError] = []
    controllers: list[str] = []
    at = "metadata.ownerReferences"
    for owner in owners:
        version = owner.get("apiVersion", "")
        if not version or version.count("/") > 1:
            errors.append(wrong(f"{at}.apiVersion", version, "version must not be empty"))
        errors += [
            wrong(f"{at}.{field}", owner.get(field, ""), "must not be empty")
            for field in ("kind", "name", "uid")
            if not owner.get(field)
        ]
        if (version, owner.get("kind")) in _NO_OWNERS:
            group, _, plain = version.rpartition("/")
            why = f"{group}/{plain}, Kind={owner['kind']} is disallowed from being an owner"
            errors.append(wrong(at, owner, why))
        if owner.get("controller"):
            controllers.append(f"{owner.get('kind')}/{owner.get('name')}")
    for another in controllers[1:]:
        why = (
            "Only one reference can have Controller set to true. "
            f'Found "true" in references for {controllers[0]} and {another}'
        )
        errors.append(wrong(at, owners, why))
    return errors
