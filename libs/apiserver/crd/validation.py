"""Values against a structural schema, CEL apart: which rules are broken, in Kubernetes' own words.

Laws: every broken rule is told, not only the first (a string tells one of its length and pattern
rules); on an update a value that is the same as the stored one that it corresponds to is forgiven
whatever it breaks ("ratcheting").

Source: Kubernetes documentation, "Validation ratcheting"; wordings as recorded from kube-apiserver
1.36.
"""

from collections.abc import Iterator
from typing import Any

from libs.apiserver.crd import numbers
from libs.apiserver.crd.formats import FORMATS
from libs.apiserver.crd.gotext import bad_value, quote
from libs.apiserver.crd.schema import MISSING, Schema
from libs.apiserver.crd.values import corresponding, identical, old_member
from libs.apiserver.field_errors import FieldError

NO_FIELD = "<nil>"
"""The field of an error that belongs to none."""


def validate(
    value: Any, schema: Schema, *, prefix: str = "", old: Any = MISSING
) -> list[FieldError]:
    """Return what is wrong with a value.

    Args:
        value: the value after pruning and defaulting.
        schema: its schema.
        prefix: where the value stands in its object; messages name paths below it.
        old: the stored value that it replaces, `MISSING` for none.
    """
    return _Walk(prefix).validate(value, schema, "", old)


class _Walk:
    """One validation: it only remembers the prefix."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def validate(self, value: Any, schema: Schema, path: str, old: Any) -> list[FieldError]:
        found = list(self._broken(value, schema, path, old))
        if found and old is not MISSING and identical(value, old, schema):
            return []
        return found

    def _broken(self, value: Any, schema: Schema, path: str, old: Any) -> Iterator[FieldError]:
        yield from self._type(value, schema, path)
        if value is None:
            yield from self._enum(value, schema, path)
            return
        yield from self._combinations(value, schema, path)
        match value:
            case str():
                yield from self._string(value, schema, path)
            case bool():
                pass
            case int() | float():
                yield from self._number(value, schema, path)
            case list():
                yield from self._list(value, schema, path, old)
        yield from self._enum(value, schema, path)
        if isinstance(value, dict):
            yield from self._object(value, schema, path, old)

    def _field(self, path: str) -> str:
        own = path.removeprefix(".")
        return f"{self._prefix}.{own}" if self._prefix and own else self._prefix or own or NO_FIELD

    def _invalid(self, path: str, value: Any, complaint: str) -> FieldError:
        message = f"Invalid value: {bad_value(value)}: {path} in body {complaint}"
        return FieldError("FieldValueInvalid", message, self._field(path))

    def _of_no_field(self, complaint: str) -> FieldError:
        return FieldError(
            "FieldValueInvalid", f'Invalid value: "": {complaint}', self._prefix or NO_FIELD
        )

    def _mistyped(self, path: str, wanted: str, got: str) -> FieldError:
        message = (
            f"Invalid value: {quote(got)}: {path} in body must be of type {wanted}: {quote(got)}"
        )
        return FieldError("FieldValueTypeInvalid", message, self._field(path))

    def _type(self, value: Any, schema: Schema, path: str) -> Iterator[FieldError]:
        if not schema.types:
            return
        wanted = ",".join(schema.types)
        if value is None:
            if not schema.nullable:
                yield self._mistyped(path, wanted, "null")
            return
        name, number_format = numbers.json_type(value)
        if _fits(value, name, schema):
            return
        is_known_format = schema.format in numbers.FORMATS or schema.format in FORMATS
        if is_known_format and not isinstance(value, str | list):
            yield self._mistyped(path, schema.format, number_format)
        else:
            yield self._mistyped(path, wanted, name)

    def _enum(self, value: Any, schema: Schema, path: str) -> Iterator[FieldError]:
        if not schema.enum or any(identical(value, choice) for choice in schema.enum):
            return
        choices = ", ".join(bad_value(choice) for choice in schema.enum)
        message = f"Unsupported value: {bad_value(value)}: supported values: {choices}"
        yield FieldError("FieldValueNotSupported", message, self._field(path))

    def _combinations(self, value: Any, schema: Schema, path: str) -> Iterator[FieldError]:
        if schema.any_of:
            results = [self.validate(value, option, path, MISSING) for option in schema.any_of]
            if all(results):
                yield self._of_no_field(f"{quote(path)} must validate at least one schema (anyOf)")
                yield from results[0]
        if schema.one_of:
            results = [self.validate(value, option, path, MISSING) for option in schema.one_of]
            valid = sum(not result for result in results)
            if valid != 1:
                found = "Found none valid" if valid == 0 else f"Found {valid} valid alternatives"
                yield self._of_no_field(
                    f"{quote(path)} must validate one and only one schema (oneOf). {found}"
                )
                yield from results[0] if valid == 0 else ()
        if schema.all_of:
            results = [self.validate(value, option, path, MISSING) for option in schema.all_of]
            if any(results):
                none = "" if not all(results) else ". None validated"
                yield self._of_no_field(
                    f"{quote(path)} must validate all the schemas (allOf){none}"
                )
                for result in results:
                    yield from result
        if schema.negated and not self.validate(value, schema.negated, path, MISSING):
            yield self._of_no_field(f"{quote(path)} must not validate the schema (not)")

    def _string(self, value: str, schema: Schema, path: str) -> Iterator[FieldError]:
        limits = schema.limits
        if limits.max_length is not None and len(value) > limits.max_length:
            message = f"Too long: may not be more than {limits.max_length} bytes"
            yield FieldError("FieldValueTooLong", message, self._field(path))
        elif limits.min_length is not None and len(value) < limits.min_length:
            yield self._invalid(path, value, f"should be at least {limits.min_length} chars long")
        elif schema.matcher is not None and schema.matcher.search(value) is None:
            yield self._invalid(path, value, f"should match '{schema.pattern}'")
        known = FORMATS.get(schema.format)
        if known is not None and "string" in schema.types and not known(value):
            yield self._mistyped(path, schema.format, value)

    def _number(self, value: float, schema: Schema, path: str) -> Iterator[FieldError]:
        complaint = numbers.out_of_range(value, schema)
        if complaint:
            yield self._of_no_field(f"Checked value must be of type {complaint} in {path}")
        for bound in numbers.broken_bounds(value, schema.limits):
            yield self._invalid(path, value, bound)

    def _list(self, value: list[Any], schema: Schema, path: str, old: Any) -> Iterator[FieldError]:
        limits, count = schema.limits, len(value)
        if schema.items is not None:
            for index, item in enumerate(value):
                before = corresponding(schema, value, old, index)
                yield from self.validate(item, schema.items, f"{path}[{index}]", before)
        if limits.min_items is not None and count < limits.min_items:
            yield self._invalid(path, count, f"should have at least {limits.min_items} items")
        if limits.max_items is not None and count > limits.max_items:
            yield self._too_many(path, count, limits.max_items)
        if limits.unique_items and any(
            identical(a, b) for i, a in enumerate(value) for b in value[:i]
        ):
            yield self._invalid(path, None, "shouldn't contain duplicates")

    def _object(
        self, value: dict[str, Any], schema: Schema, path: str, old: Any
    ) -> Iterator[FieldError]:
        limits, count = schema.limits, len(value)
        if limits.min_properties is not None and count < limits.min_properties:
            complaint = f"should have at least {limits.min_properties} properties"
            yield self._invalid(path, count, complaint)
            return
        if limits.max_properties is not None and count > limits.max_properties:
            yield self._too_many(path, count, limits.max_properties)
            return
        for key, item in value.items():
            before = old_member(schema, old, key)
            known = schema.properties.get(key)
            if known is not None:
                yield from self.validate(item, known, f"{path}.{key}" if path else key, before)
            elif schema.additional is not None:
                yield from self.validate(item, schema.additional, f"{path}.{key}", before)
        for name in schema.required:
            if name not in value:
                field = self._field(f"{path}.{name}")
                yield FieldError("FieldValueRequired", "Required value", field)

    def _too_many(self, path: str, count: int, limit: int) -> FieldError:
        message = f"Too many: {count}: must have at most {limit} items"
        return FieldError("FieldValueTooMany", message, self._field(path))


def _fits(value: Any, name: str, schema: Schema) -> bool:
    """Return whether a value of the JSON type `name` has one of the schema's types.

    A string format takes any list, too: that is how the API server behaves.
    """
    if name in schema.types:
        return True
    if "integer" in schema.types and numbers.is_whole(value):
        return True
    if name == "integer" and "number" in schema.types:
        return True
    return isinstance(value, list) and schema.types == ("string",) and schema.format in FORMATS
