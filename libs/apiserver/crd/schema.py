"""The structural schema of a custom resource, parsed once from a CRD's `openAPIV3Schema`.

Everything else in `crd` reads these values and no raw schema. CEL rules are compiled here, so that
a CRD with a broken rule is refused when it is stored, not when the first object arrives.

Source: Kubernetes documentation, "Extend the Kubernetes API with CustomResourceDefinitions"
(structural schemas, pruning, defaulting, validation rules).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from libs.apiserver.crd.patterns import Malformed, compile_pattern
from libs.cel.program import Program, compile_expression
from libs.domain.errors import InvalidRequest

_VARIABLES = frozenset({"self", "oldSelf"})


class Missing:
    """The type of `MISSING`, the absence of a value where null is a value."""


MISSING = Missing()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One entry of `x-kubernetes-validations`."""

    program: Program
    message: str
    """What is said of a failure: `message`, or the failed rule itself."""
    label: str
    """What is said of a rule that could not be computed: `message`, or the rule itself."""
    message_program: Program | None
    reason: str
    field_path: str
    optional_old_self: bool

    @property
    def is_transition(self) -> bool:
        """Return whether the rule compares with the stored value."""
        return "oldSelf" in self.program.variables


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on a value; None where there is none."""

    minimum: float | None
    maximum: float | None
    exclusive_minimum: bool
    exclusive_maximum: bool
    multiple_of: float | None
    min_length: int | None
    max_length: int | None
    min_items: int | None
    max_items: int | None
    unique_items: bool
    min_properties: int | None
    max_properties: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """One node of a structural schema."""

    types: tuple[str, ...]
    """JSON types; two for int-or-string, none where any type fits."""
    format: str
    nullable: bool
    default: Any
    """`MISSING` where there is none."""
    properties: Mapping[str, "Schema"]
    additional: "Schema | None"
    """The schema of the values of a map."""
    items: "Schema | None"
    required: tuple[str, ...]
    enum: tuple[Any, ...]
    pattern: str
    matcher: Any
    """The compiled `pattern`, or None."""
    limits: Limits
    any_of: "tuple[Schema, ...]"
    all_of: "tuple[Schema, ...]"
    one_of: "tuple[Schema, ...]"
    negated: "Schema | None"
    preserves_unknown: bool
    embedded: bool
    list_type: str
    list_keys: tuple[str, ...]
    is_atomic_map: bool
    rules: tuple[Rule, ...]
    has_rules: bool
    """Whether this node or one below it has rules."""
    has_lists: bool
    """Whether this node or one below it is a list of type `set` or `map`."""


def parse_schema(raw: Mapping[str, Any], path: str = "openAPIV3Schema") -> Schema:
    """Parse a schema and compile its patterns and rules.

    Raises:
        InvalidRequest: a pattern or rule does not compile; names the path within the schema.
    """
    properties = {
        name: parse_schema(child, f"{path}.properties[{name}]")
        for name, child in raw.get("properties", {}).items()
    }
    additional = raw.get("additionalProperties")
    value_schema = (
        parse_schema(additional, f"{path}.additionalProperties")
        if isinstance(additional, dict)
        else None
    )
    items = parse_schema(raw["items"], f"{path}.items") if "items" in raw else None
    rules = tuple(
        _parse_rule(rule, f"{path}.x-kubernetes-validations[{index}]")
        for index, rule in enumerate(raw.get("x-kubernetes-validations") or ())
    )
    children = [*properties.values(), *(child for child in (value_schema, items) if child)]
    list_type = raw.get("x-kubernetes-list-type", "")
    return Schema(
        types=_types(raw),
        format=raw.get("format", ""),
        nullable=bool(raw.get("nullable")),
        default=raw.get("default", MISSING),
        properties=MappingProxyType(properties),
        additional=value_schema,
        items=items,
        required=tuple(raw.get("required", ())),
        enum=tuple(raw.get("enum", ())),
        pattern=raw.get("pattern", ""),
        matcher=_matcher(raw.get("pattern", ""), path),
        limits=_parse_limits(raw),
        any_of=_parse_all(raw.get("anyOf", ()), f"{path}.anyOf"),
        all_of=_parse_all(raw.get("allOf", ()), f"{path}.allOf"),
        one_of=_parse_all(raw.get("oneOf", ()), f"{path}.oneOf"),
        negated=parse_schema(raw["not"], f"{path}.not") if "not" in raw else None,
        preserves_unknown=bool(raw.get("x-kubernetes-preserve-unknown-fields")),
        embedded=bool(raw.get("x-kubernetes-embedded-resource")),
        list_type=list_type,
        list_keys=tuple(raw.get("x-kubernetes-list-map-keys", ())),
        is_atomic_map=raw.get("x-kubernetes-map-type") == "atomic",
        rules=rules,
        has_rules=bool(rules) or any(child.has_rules for child in children),
        has_lists=list_type in ("set", "map") or any(child.has_lists for child in children),
    )


def _types(raw: Mapping[str, Any]) -> tuple[str, ...]:
    if raw.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    return (raw["type"],) if raw.get("type") else ()


def _parse_all(raws: Iterable[Mapping[str, Any]], path: str) -> tuple[Schema, ...]:
    return tuple(parse_schema(raw, f"{path}[{index}]") for index, raw in enumerate(raws))


def _parse_limits(raw: Mapping[str, Any]) -> Limits:
    return Limits(
        minimum=raw.get("minimum"),
        maximum=raw.get("maximum"),
        exclusive_minimum=bool(raw.get("exclusiveMinimum")),
        exclusive_maximum=bool(raw.get("exclusiveMaximum")),
        multiple_of=raw.get("multipleOf"),
        min_length=raw.get("minLength"),
        max_length=raw.get("maxLength"),
        min_items=raw.get("minItems"),
        max_items=raw.get("maxItems"),
        unique_items=bool(raw.get("uniqueItems")),
        min_properties=raw.get("minProperties"),
        max_properties=raw.get("maxProperties"),
    )


def _matcher(pattern: str, path: str) -> Any:
    if not pattern:
        return None
    try:
        return compile_pattern(pattern)
    except Malformed as error:
        raise InvalidRequest(str(error), field=path) from error


def _parse_rule(raw: Mapping[str, Any], path: str) -> Rule:
    source = " ".join(raw["rule"].split("\n")).strip()
    expression = raw.get("messageExpression", "")
    message = raw.get("message", "")
    try:
        return Rule(
            program=compile_expression(raw["rule"], _VARIABLES),
            message=message or f"failed rule: {source}",
            label=message or source,
            message_program=compile_expression(expression, _VARIABLES) if expression else None,
            reason=raw.get("reason") or "FieldValueInvalid",
            field_path=raw.get("fieldPath", ""),
            optional_old_self=bool(raw.get("optionalOldSelf")),
        )
    except InvalidRequest as error:
        raise error.under(path) from error
