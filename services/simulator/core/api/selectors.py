"""Label and field selectors of list and watch: parsed once to a predicate over objects.

Refusals are worded as Kubernetes' parser words them, because clients show them to people.

Source: Kubernetes documentation, "Labels and Selectors" and "Field Selectors".
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from libs.apiserver import names
from libs.apiserver.field_errors import wrong
from libs.apiserver.labels import Requirement
from services.simulator.core.api.errors import ApiError, bad_request

Predicate = Callable[[dict[str, Any]], bool]

_TOKEN = re.compile(r"\s*(==|!=|[=!,()<>]|[^\s=!,()<>]+)")
_WHOLE = re.compile(r"[+-]?[0-9]+\Z")
_OPERATORS = "in, notin, =, ==, !=, gt, lt"
_FIELD = re.compile(r"(?:\\.|[^,\\])+")


class _Parser:
    """Kubernetes' grammar of label selectors, one token ahead."""

    def __init__(self, text: str) -> None:
        self._tokens = [match.group(1) for match in _TOKEN.finditer(text)]
        self._at = 0

    def peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self._at += 1
        return token

    def requirements(self) -> Iterator[Requirement]:
        while True:
            token = self.peek()
            if not token:
                return
            if token != "!" and not _is_word(token):
                raise bad_request(f"found '{token}', expected: !, identifier, or 'end of string'")
            yield self._requirement()
            token = self.take()
            if not token:
                return
            if token != ",":
                raise bad_request(f"found '{token}', expected: ',' or 'end of string'")
            token = self.peek()
            if token != "!" and not _is_word(token):
                raise bad_request(f"found '{token}', expected: identifier after ','")

    def _requirement(self) -> Requirement:
        if self.peek() == "!":
            self.take()
            return Requirement(self._key(), "absent")
        key = self._key()
        token = self.peek()
        if token in ("", ","):
            return Requirement(key, "exists")
        if token not in ("=", "==", "!=", "in", "notin", ">", "<", "gt", "lt"):
            raise _unparsed(f"found '{token}', expected: {_OPERATORS}")
        operator = self.take()
        if operator in ("in", "notin"):
            return Requirement(key, operator, self._values())
        value = self.take() if self.peek() not in ("", ",") else ""
        if operator in (">", "<", "gt", "lt"):
            if not re.fullmatch(r"[+-]?[0-9]+", value):
                why = "for 'Gt', 'Lt' operators, the value must be an integer"
                raise _unparsed(f'values[0]: Invalid value: "{value}": {why}')
            return Requirement(key, {">": "gt", "<": "lt"}.get(operator, operator), (value,))
        return Requirement(key, "notin" if operator == "!=" else "in", (value,))

    def _key(self) -> str:
        key = self.take()
        if not _is_word(key):
            raise _unparsed(f"found '{key}', expected: identifier")
        return key

    def _values(self) -> tuple[str, ...]:
        token = self.take()
        if token != "(":
            raise _unparsed(f"found '{token}' expected: '('")
        values: list[str] = []
        expect_value = True
        while True:
            token = self.take()
            if token == ")":
                if expect_value:
                    values.append("")
                return tuple(values)
            if token == ",":
                if expect_value:
                    values.append("")
                expect_value = True
            elif _is_word(token) and expect_value:
                values.append(token)
                expect_value = False
            else:
                raise _unparsed(f"found '{token}', expected: ',', or ')'")


def _is_word(token: str) -> bool:
    return bool(token) and token not in ("=", "==", "!=", "!", ",", "(", ")", "<", ">")


def _unparsed(why: str) -> ApiError:
    return bad_request(f"unable to parse requirement: {why}")


def parse_labels(text: str) -> tuple[Requirement, ...]:
    """Return the requirements of a `labelSelector` parameter; raises a 400."""
    requirements = tuple(_Parser(text).requirements())
    for one in requirements:
        _check(one)
    return requirements


def _check(one: Requirement) -> None:
    """Raise the 400 of a requirement that no label can meet or miss."""
    problems = [
        f"<nil>: {wrong('', one.key, why.replace('qualified name', 'valid label key')).message}"
        for why in names.qualified_name(one.key)
    ]
    for index, value in enumerate(sorted(one.values)):
        if one.operator in ("gt", "lt") and not _WHOLE.match(value):
            why = "for 'Gt', 'Lt' operators, the value must be an integer"
            problems.append(f"values[{index}]: {wrong('', value, why).message}")
        problems += [
            f"values[{index}][{one.key}]: {wrong('', value, why).message}"
            for why in names.label_value(value)
        ]
    if problems:
        raise _unparsed(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


def selector_text(selector: Mapping[str, Any]) -> str:
    """Return a `LabelSelector`, or a plain map of labels, as a `labelSelector` parameter."""
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        plain = {key: value for key, value in selector.items() if isinstance(value, str)}
        return ",".join(f"{key}={value}" for key, value in sorted(plain.items()))
    terms = [(key, f"{key}={value}") for key, value in selector.get("matchLabels", {}).items()]
    terms += [(entry["key"], _term(entry)) for entry in selector.get("matchExpressions") or ()]
    return ",".join(text for _key, text in sorted(terms))


def _term(entry: Mapping[str, Any]) -> str:
    key, operator = entry["key"], entry["operator"]
    if operator in ("In", "NotIn"):
        return f"{key} {operator.lower()} ({','.join(sorted(entry.get('values') or ()))})"
    return str(key) if operator == "Exists" else f"!{key}"


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """One term of a field selector."""

    field: str
    equal: bool
    value: str


def parse_fields(text: str) -> tuple[FieldTerm, ...]:
    """Return the terms of a `fieldSelector` parameter; raises a 400."""
    terms = []
    for part in _FIELD.findall(text):
        for operator in ("!=", "==", "="):
            name, found, value = part.partition(operator)
            if found:
                terms.append(
                    FieldTerm(name.strip(), operator != "!=", re.sub(r"\\(.)", r"\1", value))
                )
                break
        else:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
    return tuple(terms)


_METADATA = ("metadata.name", "metadata.namespace")
_SUPPORTED: Mapping[str, tuple[str, ...]] = {
    "pods": (
        *_METADATA,
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    "nodes": ("metadata.name", "spec.unschedulable"),
    "namespaces": ("metadata.name", "status.phase"),
    "secrets": (*_METADATA, "type"),
    "replicasets.apps": (*_METADATA, "status.replicas"),
    "replicationcontrollers": (*_METADATA, "status.replicas"),
    "jobs.batch": (*_METADATA, "status.successful"),
    "resourceslices.resource.k8s.io": (*_METADATA, "spec.nodeName", "spec.driver"),
    "events": (
        *_METADATA,
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
}

_FIELDS_OF_EVENTS = {"source": ("source", "component")}


def supported_fields(qualified: str, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the fields by which a resource may be selected."""
    return (*_SUPPORTED.get(qualified, _METADATA), *extra)


def field_refusal(qualified: str, name: str, *, custom: bool) -> ApiError:
    """Return the 400 of a field that a resource is not selected by."""
    if qualified in _SUPPORTED or custom:
        return bad_request(f"field label not supported: {name}")
    only = ", ".join(f'"{known}"' for known in _METADATA)
    return bad_request(f'"{name}" is not a known field selector: only {only}')


def field_value(obj: Mapping[str, Any], name: str) -> str:
    """Return a selectable field as text, empty where it is absent.

    Booleans are false where absent.
    """
    value: Any = obj
    for step in _FIELDS_OF_EVENTS.get(name, name.split(".")):
        value = value.get(step) if isinstance(value, Mapping) else None
    if value is None:
        return "false" if name in ("spec.unschedulable", "spec.hostNetwork") else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def predicate(labels: tuple[Requirement, ...], fields: tuple[FieldTerm, ...]) -> Predicate | None:
    """Return the combined predicate, None if everything is selected."""
    if not labels and not fields:
        return None

    def selects(obj: dict[str, Any]) -> bool:
        own = obj["metadata"].get("labels") or {}
        return all(requirement.matches(own) for requirement in labels) and all(
            (field_value(obj, term.field) == term.value) is term.equal for term in fields
        )

    return selects
