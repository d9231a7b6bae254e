"""The CEL rules of a schema against an object.

Laws: a rule that reads `oldSelf` is asked only where a stored value corresponds; a rule that fails
on a value which is the same as the stored one, or lies within one, is a warning and no error; a
rule that cannot be computed fails.

Source: Kubernetes documentation, "Validation rules" and "Validation ratcheting".
"""

from dataclasses import dataclass, replace
from typing import Any

from libs.apiserver.crd.gotext import bad_value
from libs.apiserver.crd.schema import MISSING, Rule, Schema
from libs.apiserver.crd.typed import convert, convert_resource, escape
from libs.apiserver.crd.validation import NO_FIELD
from libs.apiserver.crd.values import child, corresponding, identical, old_member
from libs.apiserver.field_errors import FieldError
from libs.cel.values import NONE, CelError, KeyedList, OptionalValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the rules say: errors refuse the object, warnings are sent along."""

    errors: tuple[FieldError, ...]
    warnings: tuple[FieldError, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A value, the stored value that it replaces (or `MISSING`), and both as CEL sees them."""

    value: Any
    old: Any
    cel: Any
    old_cel: Any
    schema: Schema
    path: str
    unchanged: bool = False
    """Whether something above is the same as it is stored."""


def evaluate_rules(value: Any, schema: Schema, *, old: Any = MISSING) -> Outcome:
    """Ask all rules of a schema and of the schemas below it.

    Args:
        value: the whole object, after pruning and defaulting.
        schema: its schema.
        old: the stored object that it replaces, `MISSING` for a creation.
    """
    errors: list[FieldError] = []
    warnings: list[FieldError] = []
    if schema.has_rules:
        place = _Place(
            value=value,
            old=old,
            cel=convert_resource(value, schema),
            old_cel=MISSING if old is MISSING else convert_resource(old, schema),
            schema=schema,
            path="",
        )
        _walk(place, errors, warnings)
    return Outcome(errors=tuple(errors), warnings=tuple(warnings))


def _walk(place: _Place, errors: list[FieldError], warnings: list[FieldError]) -> None:
    if place.value is None:
        return
    if not place.unchanged and place.old is not MISSING:
        place = replace(place, unchanged=identical(place.value, place.old, place.schema))
    failures = [failure for rule in place.schema.rules if (failure := _ask(rule, place))]
    (warnings if place.unchanged else errors).extend(failures)
    for below in _below(place):
        _walk(below, errors, warnings)


def _below(place: _Place) -> list[_Place]:
    if isinstance(place.value, dict):
        return [
            _member(place, key, inner)
            for key in sorted(place.value)
            if (inner := child(place.schema, key)) is not None and inner.has_rules
        ]
    items = place.schema.items
    if isinstance(place.value, list) and items is not None and items.has_rules:
        return [_item(place, items, index) for index in range(len(place.value))]
    return []


def _member(place: _Place, key: str, inner: Schema) -> _Place:
    is_property = key in place.schema.properties
    name = escape(key) if is_property else key
    old = old_member(place.schema, place.old, key)
    separator = "." if place.path else ""
    return _Place(
        value=place.value[key],
        old=old,
        cel=place.cel[name] if isinstance(place.cel, dict) else place.cel,
        old_cel=MISSING if old is MISSING else convert(old, inner),
        schema=inner,
        path=f"{place.path}{separator}{key}" if is_property else f"{place.path}[{key}]",
        unchanged=place.unchanged,
    )


def _item(place: _Place, items: Schema, index: int) -> _Place:
    old = corresponding(place.schema, place.value, place.old, index)
    cel = place.cel.items if isinstance(place.cel, KeyedList) else place.cel
    return _Place(
        value=place.value[index],
        old=old,
        cel=cel[index] if isinstance(cel, list) else cel,
        old_cel=MISSING if old is MISSING else convert(old, items),
        schema=items,
        path=f"{place.path}[{index}]",
        unchanged=place.unchanged,
    )


def _ask(rule: Rule, place: _Place) -> FieldError | None:
    bindings = {"self": place.cel}
    if rule.is_transition:
        if place.old_cel is MISSING and not rule.optional_old_self:
            return None
        bindings["oldSelf"] = _old_self(rule, place)
    field = (place.path + rule.field_path).removeprefix(".") or NO_FIELD
    try:
        if rule.program.evaluate(bindings) is True:
            return None
    except CelError as error:
        kind = "array" if isinstance(place.value, list) else _type_name(place)
        message = f'Invalid value: "{kind}": {error} evaluating rule: {rule.label}'
        return FieldError("FieldValueInvalid", message, place.path or NO_FIELD)
    return _failure(rule, _message(rule, bindings), field, place.value)


def _old_self(rule: Rule, place: _Place) -> Any:
    if not rule.optional_old_self:
        return place.old_cel
    if place.old_cel is MISSING:
        return NONE
    return OptionalValue(present=True, value=place.old_cel)


def _type_name(place: _Place) -> str:
    if place.schema.types:
        return place.schema.types[0]
    return "object" if isinstance(place.value, dict) else ""


def _message(rule: Rule, bindings: dict[str, Any]) -> str:
    if rule.message_program is None:
        return rule.message
    try:
        text = rule.message_program.evaluate(bindings)
    except CelError:
        return rule.message
    is_usable = isinstance(text, str) and bool(text.strip()) and "\n" not in text
    return text if is_usable else rule.message


_PREFIXES = {"FieldValueForbidden": "Forbidden", "FieldValueRequired": "Required value"}


def _failure(rule: Rule, message: str, field: str, value: Any) -> FieldError:
    """Composite values are left out of the message, as the API server does."""
    if rule.reason in _PREFIXES:
        return FieldError(rule.reason, f"{_PREFIXES[rule.reason]}: {message}", field)
    if rule.reason == "FieldValueDuplicate":
        return FieldError(rule.reason, f"Duplicate value: {bad_value(value)}", field)
    if isinstance(value, dict | list):
        return FieldError(rule.reason, f"Invalid value: {message}", field)
    return FieldError(rule.reason, f"Invalid value: {bad_value(value)}: {message}", field)
