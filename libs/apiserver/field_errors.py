"""What may be wrong with a field of an object: values, as many in a refusal as there are.

Apart from the API because schemas of custom resources find the same errors. Wordings and reasons
are those a client of Kubernetes matches on, as recorded from kube-apiserver 1.36.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong with one field; `reason` is the CauseType of the API."""

    reason: str
    message: str
    field: str

    def cause(self) -> dict[str, str]:
        """Return the entry of `details.causes`."""
        return {"reason": self.reason, "message": self.message, "field": self.field}


def shown(value: Any) -> str:
    """Return a value as field errors spell it; Go escapes what HTML would read within objects."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_HTML) if isinstance(value, dict | list) else text


_HTML = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&"})


def wrong(field: str, value: Any, why: str) -> FieldError:
    """Return `Invalid value`."""
    explained = f": {why}" if why else ""
    return FieldError("FieldValueInvalid", f"Invalid value: {shown(value)}{explained}", field)


def required(field: str, why: str = "") -> FieldError:
    """Return `Required value`."""
    return FieldError(
        "FieldValueRequired", f"Required value: {why}" if why else "Required value", field
    )


def not_supported(field: str, value: Any, choices: Iterable[str]) -> FieldError:
    """Return `Unsupported value` with the choices."""
    listing = ", ".join(f'"{choice}"' for choice in choices)
    message = f"Unsupported value: {shown(value)}: supported values: {listing}"
    return FieldError("FieldValueNotSupported", message, field)


def duplicate(field: str, value: Any) -> FieldError:
    """Return `Duplicate value`."""
    return FieldError("FieldValueDuplicate", f"Duplicate value: {shown(value)}", field)


def not_allowed(field: str, why: str) -> FieldError:
    """Return `Forbidden`."""
    return FieldError("FieldValueForbidden", f"Forbidden: {why}", field)


def missing(field: str, value: Any) -> FieldError:
    """Return `Not found`."""
    return FieldError("FieldValueNotFound", f"Not found: {shown(value)}", field)


def too_long(field: str, limit: int) -> FieldError:
    """Return `Too long`."""
    return FieldError("FieldValueTooLong", f"Too long: may not be more than {limit} bytes", field)


def too_many(field: str, count: int, limit: int) -> FieldError:
    """Return `Too many`."""
    why = f"Too many: {count}: must have at most {limit} items"
    return FieldError("FieldValueTooMany", why, field)


def wrong_as_whole(field: str, why: str) -> FieldError:
    """Return `Invalid value` of a field whose value is not worth to be shown."""
    return FieldError("FieldValueInvalid", f"Invalid value: {why}", field)
