"""What is wrong with a NodePool's template or a pod's node selection, which the API server let in.

Apart from the domain types because those cannot hold what is illegal: this reads Kubernetes' own
mappings and finds every problem at once, for a condition on the object, where parsing stops at the
first.

Law: any mapping out of JSON or YAML gets an answer; nothing here raises.

Source: `docs/sources.md` 1.4, A4 and B5.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libs.domain import labels as label_keys
from libs.domain.labels import label_value_problem, qualified_name_problem
from libs.domain.requirement import BOUND_OPERATORS, Operator, parse_bound
from libs.domain.taint import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, by the path of its field."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRules:
    """Which label keys users may use; a provider adds what it knows and what it keeps."""

    well_known: frozenset[str] = label_keys.WELL_KNOWN
    restricted_domains: frozenset[str] = frozenset()


CORE_RULES = KeyRules()
MOST_WEIGHT = 100
_CAPACITY_TYPES = ", ".join(sorted(label_keys.CAPACITY_TYPES))


def template_problems(
    template: Mapping[str, Any], rules: KeyRules = CORE_RULES
) -> tuple[Problem, ...]:
    """Return what is wrong with a NodePool's `spec.template`; empty if nothing is.

    Args:
        template: as Kubernetes holds it.
        rules: of the pool's provider.
    """
    path = "spec.template"
    metadata, spec = _mapping(template.get("metadata")), _mapping(template.get("spec"))
    return (
        *_label_problems(_mapping(metadata.get("labels")), f"{path}.metadata.labels", rules),
        *_taint_problems(spec, f"{path}.spec"),
        *requirement_problems(
            _items(spec.get("requirements")),
            f"{path}.spec.requirements",
            rules,
            allow_nodepool=False,
        ),
    )


def weight_problems(weight: int, replicas: int | None) -> tuple[Problem, ...]:
    """Return what is wrong with a NodePool's `spec.weight`; 0 stands for none, which is fine.

    Args:
        weight: among the pools that are tried.
        replicas: of a static pool, which is not tried.
    """
    found = []
    if weight > MOST_WEIGHT:
        found.append(f"{weight} is not within 1 to {MOST_WEIGHT}")
    if weight and replicas is not None:
        found.append("a pool with replicas may not have a weight")
    return tuple(Problem(field="spec.weight", message=one) for one in found)


def requirement_problems(
    requirements: Sequence[Any],
    path: str,
    rules: KeyRules = CORE_RULES,
    *,
    allow_nodepool: bool = True,
) -> tuple[Problem, ...]:
    """Return what is wrong with a list of requirements in Kubernetes' form.

    Args:
        requirements: mappings with key, operator, values, minValues.
        path: of the list.
        rules: which keys are allowed.
        allow_nodepool: whether the pool's own label may be asked for.
    """
    return tuple(
        problem
        for index, one in enumerate(requirements)
        for problem in _requirement_problems(
            _mapping(one), f"{path}[{index}]", rules, allow_nodepool
        )
    )


def _label_problems(labels: Mapping[str, Any], path: str, rules: KeyRules) -> Iterator[Problem]:
    for key, value in labels.items():
        field = f"{path}.{key}"
        if key == label_keys.NODEPOOL:
            yield Problem(field=field, message="the pool's own label is set by itself")
        if problem := qualified_name_problem(str(key)):
            yield Problem(field=field, message=problem)
        if problem := label_value_problem(value) if isinstance(value, str) else "not a string":
            yield Problem(field=field, message=problem)
        if label_keys.is_restricted(
            str(key), rules.restricted_domains, well_known=rules.well_known
        ):
            yield Problem(field=field, message=f"label {key!r} is restricted")


def _taint_problems(spec: Mapping[str, Any], path: str) -> Iterator[Problem]:
    seen: Counter[tuple[str, str]] = Counter()
    for name in ("taints", "startupTaints"):
        for index, taint in enumerate(map(_mapping, _items(spec.get(name)))):
            field = f"{path}.{name}[{index}]"
            key, effect = str(taint.get("key") or ""), str(taint.get("effect") or "")
            value = str(taint.get("value") or "")
            if problem := qualified_name_problem(key):
                yield Problem(field=f"{field}.key", message=problem)
            if value and (problem := qualified_name_problem(value)):
                yield Problem(field=f"{field}.value", message=problem)
            if effect and effect not in frozenset(Effect):
                yield Problem(field=f"{field}.effect", message=f"unknown effect {effect!r}")
            seen[key, effect] += 1
            if seen[key, effect] > 1:
                yield Problem(
                    field=field, message=f"taint {key}:{effect} is there twice, start-up or not"
                )


def _requirement_problems(
    one: Mapping[str, Any], path: str, rules: KeyRules, allow_nodepool: bool
) -> Iterator[Problem]:
    key = label_keys.canonical_key(str(one.get("key") or ""))
    operator = str(one.get("operator") or "")
    values = [str(value) for value in _items(one.get("values"))]
    if problem := qualified_name_problem(key):
        yield Problem(field=f"{path}.key", message=problem)
    if label_keys.is_restricted(key, rules.restricted_domains, well_known=rules.well_known):
        yield Problem(field=f"{path}.key", message=f"label {key!r} is restricted")
    if key == label_keys.NODEPOOL and not allow_nodepool:
        yield Problem(field=f"{path}.key", message="a pool may not require its own label")
    for value in values:
        if problem := label_value_problem(value):
            yield Problem(field=f"{path}.values", message=problem)
    if operator not in frozenset(Operator):
        known = ", ".join(Operator)
        yield Problem(field=f"{path}.operator", message=f"{operator!r} is not one of {known}")
        return
    if operator == Operator.IN:
        yield from _list_problems(key, values, one.get("minValues"), path)
    if operator in BOUND_OPERATORS and not _is_one_count(values):
        yield Problem(
            field=f"{path}.values", message=f"{operator} needs exactly one integer, zero or more"
        )


def _list_problems(key: str, values: list[str], least: Any, path: str) -> Iterator[Problem]:
    if not values:
        yield Problem(field=f"{path}.values", message="In needs at least one value")
        return
    needed = least if isinstance(least, int) else 0
    if len(values) < needed:
        yield Problem(
            field=f"{path}.values", message=f"{len(values)} values cannot give minValues {needed}"
        )
    if key != label_keys.CAPACITY_TYPE:
        return
    known = label_keys.CAPACITY_TYPES.intersection(values)
    if not known or len(known) < needed:
        said = [unknown_capacity_types(values)]
        if known:
            said.append(f"minValues {needed} cannot be reached with {len(known)}")
        yield Problem(field=f"{path}.values", message="; ".join(filter(None, said)))


def unknown_capacity_types(values: Iterable[str]) -> str:
    """Return in words which values of `karpenter.sh/capacity-type` nobody sells; empty if none."""
    unknown = sorted(set(values) - label_keys.CAPACITY_TYPES)
    if not unknown:
        return ""
    shown = ", ".join(map(repr, unknown))
    verb = "is" if len(unknown) == 1 else "are"
    return f"{shown} {verb} none of the values {_CAPACITY_TYPES} of {label_keys.CAPACITY_TYPE}"


def _is_one_count(values: list[str]) -> bool:
    bound = parse_bound(values[0]) if len(values) == 1 else None
    return bound is not None and bound >= 0


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
