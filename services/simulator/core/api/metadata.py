"""What may change in `metadata`, and what an update carries over; the same for every kind.

Source: Kubernetes API conventions, "Metadata"; wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Mapping
from typing import Any

from libs.apiserver.field_errors import FieldError, not_allowed, wrong
from libs.apiserver.metadata import (
    IMMUTABLE,
    refuse_bare,
    validate_finalizers,
    validate_maps,
)
from services.simulator.core.api.strategies.strategy import MetadataRules

Object = dict[str, Any]

_FIXED = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


def validate_update(
    new: Mapping[str, Any], old: Mapping[str, Any], rules: MetadataRules, *, plain: bool
) -> list[FieldError]:
    """Return what is wrong with changed metadata; `new` already carries over what it left out.

    Kubernetes looks at metadata twice for all kinds, and then once more for each of a kind's own
    rules: what is wrong is found as often.

    Args:
        new: the metadata that is to be stored.
        old: the metadata that is there.
        rules: the kind's own.
        plain: whether these leave finalizers without a domain alone.
    """
    finalizers = new.get("finalizers", ())
    errors = [*validate_maps(new), *validate_finalizers(finalizers), *_validate_change(new, old)]
    for rule in rules:
        if rule == "update":
            errors += _validate_change(new, old)
        else:
            errors += [*validate_maps(new), *validate_finalizers(finalizers)]
        errors += [] if plain else refuse_bare(finalizers)
    return errors


def _validate_change(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    errors: list[FieldError] = []
    added = [name for name in new.get("finalizers", ()) if name not in old.get("finalizers", ())]
    if old.get("deletionTimestamp") and added:
        listing = ", ".join(f'"{name}"' for name in added)
        message = (
            "no new finalizers can be added if the object is being deleted, "
            f"found new finalizers []string{{{listing}}}"
        )
        errors.append(not_allowed("metadata.finalizers", message))
    errors += [
        wrong(f"metadata.{field}", new.get(field, ""), IMMUTABLE)
        for field in _FIXED
        if new.get(field) != old.get(field)
    ]
    return errors + validate_maps(new)


def carry_over(new: Object, old: Mapping[str, Any]) -> None:
    """Keep what an update may leave out: uid, times, generation, and what only the server sets."""
    for field in ("uid", "deletionGracePeriodSeconds"):
        if field in old and field not in new:
            new[field] = old[field]
    for field in ("creationTimestamp", "deletionTimestamp"):
        if field in old:
            new[field] = old[field]
    for field in ("generation", "selfLink"):
        if field in old:
            new[field] = old[field]
        else:
            new.pop(field, None)
    if "namespace" in old:
        new.setdefault("namespace", old["namespace"])
    new.setdefault("name", old["name"])
    if "generateName" in old:
        new.setdefault("generateName", old["generateName"])
