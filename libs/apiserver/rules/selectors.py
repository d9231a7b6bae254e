"""Validation of selectors: of labels, of nodes, of topologies.

Source: Kubernetes API reference, LabelSelector, NodeSelector, TopologySelectorTerm; order and
wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import Stored, formed
from libs.apiserver.field_errors import FieldError, duplicate, not_allowed, required, wrong
from libs.apiserver.metadata import validate_labels
from libs.apiserver.types import codec

_UNKNOWN = "not a valid selector operator"
_MISSING = "must be specified when `operator` is 'In' or 'NotIn'"
_NEEDLESS = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
_SINGLE = "must be specified single value when `operator` is 'Lt' or 'Gt'"
_ONE_NAME = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"


def validate_selector(selector: Stored | None, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with a label selector."""
    if selector is None:
        return
    yield from validate_labels(selector.get("matchLabels") or {}, f"{at}.matchLabels")
    for index, entry in enumerate(selector.get("matchExpressions") or ()):
        where = f"{at}.matchExpressions[{index}]"
        yield from _validate_operator(entry, where)
        yield from formed(entry.get("key", ""), f"{where}.key", names.qualified_name)
        yield from _validate_values(entry, where)


def shown_selector(selector: Stored | None) -> Any:
    """Return a selector as refusals show it."""
    return codec.ordered("meta/v1.LabelSelector", selector)


def _validate_operator(entry: Stored, at: str, *, compares: bool = False) -> Iterator[FieldError]:
    operator, values = entry.get("operator", ""), entry.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{at}.values", _MISSING)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield not_allowed(f"{at}.values", _NEEDLESS)
    elif compares and operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield required(f"{at}.values", _SINGLE)
    else:
        yield wrong(f"{at}.operator", operator, _UNKNOWN)


def _validate_values(entry: Stored, at: str) -> Iterator[FieldError]:
    for index, value in enumerate(entry.get("values") or ()):
        yield from formed(value, f"{at}.values[{index}]", names.label_value)


def validate_node_selector(selector: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with a node selector."""
    terms = selector.get("nodeSelectorTerms") or ()
    if not terms:
        yield required(f"{at}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms):
        yield from validate_node_term(term, f"{at}.nodeSelectorTerms[{index}]")


def validate_node_term(term: Stored, at: str, *, preferred: bool = False) -> Iterator[FieldError]:
    """Yield what is wrong with a term; preferred ones may hold values that no label has."""
    for index, entry in enumerate(term.get("matchExpressions") or ()):
        where = f"{at}.matchExpressions[{index}]"
        yield from _validate_operator(entry, where, compares=True)
        yield from formed(entry.get("key", ""), f"{where}.key", names.qualified_name)
        if not preferred:
            yield from _validate_values(entry, where)
    for index, entry in enumerate(term.get("matchFields") or ()):
        yield from _validate_field(entry, f"{at}.matchFields[{index}]")


def _validate_field(entry: Stored, at: str) -> Iterator[FieldError]:
    values = entry.get("values") or ()
    if entry.get("operator", "") not in ("In", "NotIn"):
        yield wrong(f"{at}.operator", entry.get("operator", ""), _UNKNOWN)
    elif len(values) != 1:
        yield required(f"{at}.values", _ONE_NAME)
    if entry.get("key") != "metadata.name":
        yield wrong(f"{at}.key", entry.get("key", ""), "not a valid field selector key")
        return
    for index, value in enumerate(values):
        yield from formed(value, f"{at}.values[{index}]", names.subdomain)


def validate_topology_terms(terms: Sequence[Stored], at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the topologies in which volumes may be made."""
    # One without expressions is as good as those that are not there yet.
    before: list[Stored] = [{}]
    for index, term in enumerate(terms):
        where, held = f"{at}[{index}]", {}
        for number, entry in enumerate(term.get("matchLabelExpressions") or ()):
            place = f"{where}.matchLabelExpressions[{number}]"
            yield from _validate_topology(entry, place)
            if entry.get("key", "") in held:
                yield duplicate(f"{place}.key", entry.get("key", ""))
            held[entry.get("key", "")] = frozenset(entry.get("values") or ())
        if held in before:
            yield duplicate(f"{where}.matchLabelExpressions", "")
        before.append(held)


def _validate_topology(entry: Stored, at: str) -> Iterator[FieldError]:
    values = entry.get("values") or ()
    if not values:
        yield required(f"{at}.values")
    for index, value in enumerate(values):
        if value in values[:index]:
            yield duplicate(f"{at}.values[{index}]", value)
    yield from formed(entry.get("key", ""), f"{at}.key", names.qualified_name)
