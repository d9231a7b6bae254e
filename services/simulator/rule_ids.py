"""The published numbers of Karpenter's CEL rules, by where each stands in our CRDs.

Messages are our own words and may change, so a rule is numbered by its place: kind, path within the
schema, position in `x-kubernetes-validations`. Numbers: the rules' names in the reference of
Karpenter's API, plus those that the README of the recorded verdicts adds.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from libs.domain.errors import InvalidRequest

_CLASS = {"group": ("C1",), "kind": ("C2",), "name": ("C3",)}
_POOL = "spec.template.spec"

_NUMBERS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "NodePool": {
            "spec": ("N1", "N2", "N3"),
            "spec.disruption.budgets": ("B1",),
            "spec.template.metadata.labels": ("L1", "L2", "L3"),
            f"{_POOL}.requirements": ("Q1", "Q2", "Q3"),
            f"{_POOL}.requirements[].key": ("R1", "R3", "R2", "KW"),
            f"{_POOL}.nodeClassRef": ("N4g", "N4k"),
            **{f"{_POOL}.nodeClassRef.{field}": ids for field, ids in _CLASS.items()},
        },
        "NodeClaim": {
            "spec": ("S1",),
            "spec.requirements": ("Q1", "Q2", "Q3"),
            "spec.requirements[].key": ("R1", "R3", "KW"),
            **{f"spec.nodeClassRef.{field}": ids for field, ids in _CLASS.items()},
        },
        "NodeOverlay": {
            "spec": ("P1",),
            "spec.capacity": ("K1",),
            "spec.requirements": ("Q1", "Q4", "Q2"),
            "spec.requirements[].key": ("R1", "R3"),
        },
        "CapacityBuffer": {"spec": ("A1", "A2")},
        "KWOKNodeClass": {},
    }
)

_NOT_EVALUATED = re.compile(r"Invalid value: (?P<error>.*) evaluating rule: .*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleIds:
    """Numbers of rules by (kind, place, message)."""

    by_message: Mapping[tuple[str, str, str], str]

    def identify(self, kind: str, cause: Mapping[str, str]) -> tuple[str, str, str]:
        """Return field, reason and message of a cause, with a rule's number for its words."""
        place = re.sub(r"\[[0-9]+\]", "[]", cause["field"])
        for (owner, where, message), number in self.by_message.items():
            if (owner, where) == (kind, place) and cause["message"].endswith(message):
                failed = _NOT_EVALUATED.fullmatch(cause["message"])
                error = f" not evaluated: {failed['error']}" if failed else ""
                return cause["field"], cause["reason"], f"{kind}.{number}{error}"
        return cause["field"], cause["reason"], cause["message"]


def number_rules(crds: Mapping[str, Mapping[str, Any]]) -> RuleIds:
    """Return the numbers of the rules of CRD objects, given by kind.

    Raises:
        InvalidRequest: a rule stands where none has a number.
    """
    numbers: dict[tuple[str, str, str], str] = {}
    for kind, crd in crds.items():
        for version in crd["spec"]["versions"]:
            for place, index, message in _rules(version["schema"]["openAPIV3Schema"], ""):
                known = _NUMBERS.get(kind, {}).get(place, ())
                if index >= len(known):
                    raise InvalidRequest(f"rule {index} of {kind} has no number", field=place)
                numbers[kind, place, message] = known[index]
    return RuleIds(by_message=MappingProxyType(numbers))


def _rules(schema: Mapping[str, Any], place: str) -> Iterator[tuple[str, int, str]]:
    for index, rule in enumerate(schema.get("x-kubernetes-validations", ())):
        yield place, index, rule["message"]
    for name, child in schema.get("properties", {}).items():
        yield from _rules(child, f"{place}.{name}" if place else name)
    if "items" in schema:
        yield from _rules(schema["items"], f"{place}[]")
