"""Checks of `x-kubernetes-validations` in a definition: what a rule must have, and its types.

Source: Kubernetes documentation, "Validation rules"; wordings as recorded from kube-apiserver 1.36.
Syntax errors name the place as Kubernetes does; what its generated parser would rather have read
there is reproduced for the end of a rule only.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from libs.apiserver.crd.fieldpaths import InvalidPath, resolve
from libs.apiserver.crd.typecheck import check
from libs.apiserver.field_errors import FieldError, not_supported, required, wrong
from libs.cel.program import compile_expression
from libs.domain.errors import InvalidRequest

Raw = Mapping[str, Any]

_REASONS = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)
_VARIABLES = frozenset({"self", "oldSelf"})
_OPERANDS = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
    "STRING, BYTES, IDENTIFIER}"
)


def static_errors(schema: Raw, path: str) -> Iterator[FieldError]:
    """Yield what is wrong with a schema's own rules, their expressions left aside."""
    for index, rule in enumerate(schema.get("x-kubernetes-validations") or ()):
        at = f"{path}.x-kubernetes-validations[{index}]"
        yield from _texts(rule, at)
        reason, field = rule.get("reason"), rule.get("fieldPath") or ""
        if reason is not None and reason not in _REASONS:
            yield not_supported(f"{at}.reason", reason, _REASONS)
        if field and not field.strip():
            yield wrong(f"{at}.fieldPath", field, "must be non-empty if specified")
        if _has_breaks(field):
            yield wrong(f"{at}.fieldPath", field, "must not contain line breaks")
        if field and not _leads_somewhere(field, schema):
            yield wrong(f"{at}.fieldPath", field, "must be a valid path")


def _texts(rule: Raw, at: str) -> Iterator[FieldError]:
    source, message = rule.get("rule") or "", rule.get("message") or ""
    if not source.strip():
        yield required(f"{at}.rule", "rule is not specified")
    elif message and not message.strip():
        yield wrong(f"{at}.message", message, "must be non-empty if specified")
    elif _has_breaks(message.strip()):
        yield wrong(f"{at}.message", message, "must not contain line breaks")
    elif _has_breaks(source.strip()) and not message.strip():
        why = "message must be specified if rule contains line breaks"
        yield required(f"{at}.message", why)
    expression = rule.get("messageExpression") or ""
    if expression and not expression.strip():
        why = "messageExpression must be non-empty if specified"
        yield required(f"{at}.messageExpression", why)


def _has_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def _leads_somewhere(field: str, schema: Raw) -> bool:
    try:
        resolve(field, schema)
    except InvalidPath:
        return False
    return True


def rule_errors(schema: Raw, path: str, *, is_root: bool = True) -> list[FieldError]:
    """Return what is wrong with the expressions of a structural schema's rules, its own last."""
    errors: list[FieldError] = []
    for name, child in (schema.get("properties") or {}).items():
        errors += rule_errors(child, f"{path}.properties[{name}]", is_root=False)
    for name in ("additionalProperties", "items"):
        if isinstance(schema.get(name), Mapping):
            errors += rule_errors(schema[name], f"{path}.{name}", is_root=False)
    for index, rule in enumerate(schema.get("x-kubernetes-validations") or ()):
        at = f"{path}.x-kubernetes-validations[{index}]"
        for name, wanted in (("rule", "bool"), ("messageExpression", "string")):
            source = rule.get(name) or ""
            why = _problem(source, schema, wanted, is_root=is_root) if source else ""
            if why:
                errors.append(wrong(f"{at}.{name}", _shown(rule), why))
    return errors


def _problem(source: str, schema: Raw, wanted: str, *, is_root: bool) -> str:
    try:
        compile_expression(source, _VARIABLES)
    except InvalidRequest as error:
        return f"compilation failed: {_located(source, *_syntax(source, error.detail))}"
    found = check(source, schema, is_root=is_root)
    if found.errors:
        listing = "\n".join(_located(source, at, why) for at, why in found.errors)
        return f"compilation failed: {listing}"
    if found.type not in ("dyn", wanted):
        name = "cel expression" if wanted == "bool" else "messageExpression"
        article = "a bool" if wanted == "bool" else "a string"
        return f"{name} must evaluate to {article}"
    return ""


def _syntax(source: str, detail: str) -> tuple[int, str]:
    """Return where an expression breaks off, and what Kubernetes says of it."""
    unknown = re.match(r"undeclared reference to '(.*)'", detail)
    if unknown:
        at = max(source.find(unknown[1]), 0)
        return at, f"undeclared reference to '{unknown[1]}' (in container '')"
    place = re.search(r"at character (\d+)", detail)
    at = int(place[1]) if place else len(source)
    if at >= len(source.rstrip()):
        if source.rstrip().endswith("."):
            return len(source), "Syntax error: no viable alternative at input '.'"
        return len(source), f"Syntax error: mismatched input '<EOF>' expecting {_OPERANDS}"
    return at, f"Syntax error: {detail}"


def _located(source: str, at: int, why: str) -> str:
    before = source[:at]
    line = before.count("\n")
    column = at - (before.rfind("\n") + 1)
    text = source.split("\n")[line]
    return f"ERROR: <input>:{line + 1}:{column + 1}: {why}\n | {text}\n | {'.' * column}^"


def _shown(rule: Raw) -> dict[str, Any]:
    """Return a rule as Go prints its own form of it."""
    return {
        "Rule": rule.get("rule", ""),
        "Message": rule.get("message", ""),
        "MessageExpression": rule.get("messageExpression", ""),
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath", ""),
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
