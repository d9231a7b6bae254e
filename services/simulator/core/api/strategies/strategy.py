"""What differs between kinds when they are written: defaults, preparation, validation.

A `Strategy` is a bundle of functions; a kind without one gets the plain bundle. The store calls
them in this order: default → prepare → validate. They may change the object they are given (it
belongs to the request) but never the old one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from libs.apiserver import names
from libs.apiserver.field_errors import FieldError
from libs.apiserver.names import NameCheck

Object = dict[str, Any]
Stored = Mapping[str, Any]
MetadataRules = tuple[Literal["whole", "update"], ...]
"""How a kind looks at changed metadata of its own accord: as at those of a new object, as at a
change, as both, or not at all, as all kinds' metadata are looked at anyway."""

UPDATE: MetadataRules = ("update",)
WHOLE: MetadataRules = ("whole",)
BOTH: MetadataRules = ("whole", "update")
Warnings = Callable[[Object, Stored | None], list[str]]
"""(new state, old one or None at creation) → what to warn of."""


def _nothing(_obj: Object) -> None:
    return None


def _nothing_to_prepare(_obj: Object, _now: str) -> None:
    return None


def _nothing_to_keep(_new: Object, _old: Stored) -> None:
    return None


def _fine(_obj: Object) -> list[FieldError]:
    return []


def _fine_update(_new: Object, _old: Stored) -> list[FieldError]:
    return []


def _no_warnings(_new: Object, _old: Stored | None) -> list[str]:
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """How one kind is written."""

    default: Callable[[Object], None] = _nothing
    """Fill in what the API documents as defaults; runs on every decoded object."""

    prepare_create: Callable[[Object, str], None] = _nothing_to_prepare
    """Set what the server alone decides on a new object; gets the present time."""

    prepare_update: Callable[[Object, Stored], None] = _nothing_to_keep
    prepare_status: Callable[[Object, Stored], None] = _nothing_to_keep
    validate: Callable[[Object], list[FieldError]] = _fine
    validate_new: Callable[[Object], list[FieldError]] = _fine
    """Runs beside `validate` at creation: what only new objects must be."""

    validate_update: Callable[[Object, Stored], list[FieldError]] = _fine_update
    """Runs beside `validate`: what may not change."""

    validate_status: Callable[[Object, Stored], list[FieldError]] = _fine_update
    warnings: Warnings = _no_warnings
    check_name: NameCheck = names.subdomain
    plain_metadata: bool = False
    """Whether finalizers need no domain, as with kinds that leave metadata to the generic rules."""

    metadata: MetadataRules = UPDATE
    status_metadata: MetadataRules = UPDATE

    keeps_status: bool = False
    """Whether a status sent at creation is kept, as for nodes."""

    status_keeps_labels: bool = False
    """Whether a status update leaves labels alone."""

    status_keeps_metadata: bool = False
    """Whether a status update leaves all metadata alone."""
