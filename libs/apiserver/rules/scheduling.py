"""Validation of what steers scheduling: selectors, affinity, tolerations, spread, gates.

Source: Kubernetes API reference, PodSpec "Scheduling"; order and wordings as recorded from
kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import formed
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    not_allowed,
    not_supported,
    required,
    wrong,
)
from libs.apiserver.metadata import validate_labels
from libs.apiserver.rules.selectors import (
    validate_node_selector,
    validate_node_term,
    validate_selector,
)

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
Spec = Mapping[str, Any]


def validate_scheduling(spec: Spec, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with everything that says where a pod may run."""
    yield from validate_labels(spec.get("nodeSelector") or {}, f"{at}.nodeSelector")
    yield from _validate_gates(spec.get("schedulingGates") or (), f"{at}.schedulingGates")
    affinity = spec.get("affinity") or {}
    yield from _validate_node_affinity(
        affinity.get("nodeAffinity") or {}, f"{at}.affinity.nodeAffinity"
    )
    for kind in ("podAffinity", "podAntiAffinity"):
        yield from _validate_pod_affinity(affinity.get(kind) or {}, f"{at}.affinity.{kind}")
    yield from _validate_readiness(spec.get("readinessGates") or (), f"{at}.readinessGates")
    constraints = spec.get("topologySpreadConstraints") or ()
    yield from _validate_spread(constraints, f"{at}.topologySpreadConstraints")
    yield from validate_tolerations(spec.get("tolerations") or (), f"{at}.tolerations")


def _validate_readiness(gates: Sequence[Spec], at: str) -> Iterator[FieldError]:
    for index, gate in enumerate(gates):
        kind = gate.get("conditionType", "")
        yield from formed(kind, f"{at}[{index}].conditionType", names.qualified_name)


def _validate_gates(gates: Sequence[Spec], at: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name", "")
        yield from (wrong(f"{at}[{index}]", name, why) for why in names.qualified_name(name))
        if name in seen:
            yield duplicate(f"{at}[{index}]", name)
        seen.add(name)


def _validate_node_affinity(affinity: Spec, at: str) -> Iterator[FieldError]:
    if (selector := affinity.get(_REQUIRED)) is not None:
        yield from validate_node_selector(selector, f"{at}.{_REQUIRED}")
    for index, preferred in enumerate(affinity.get(_PREFERRED) or ()):
        where = f"{at}.{_PREFERRED}[{index}]"
        yield from _validate_weight(preferred, where)
        term = preferred.get("preference") or {}
        yield from validate_node_term(term, f"{where}.preference", preferred=True)


def _validate_weight(preferred: Spec, at: str) -> Iterator[FieldError]:
    if not 1 <= preferred.get("weight", 0) <= 100:
        yield wrong(f"{at}.weight", preferred.get("weight", 0), "must be in the range 1-100")


def _validate_pod_affinity(affinity: Spec, at: str) -> Iterator[FieldError]:
    for index, term in enumerate(affinity.get(_REQUIRED) or ()):
        yield from _validate_pod_term(term, f"{at}.{_REQUIRED}[{index}]")
    for index, preferred in enumerate(affinity.get(_PREFERRED) or ()):
        where = f"{at}.{_PREFERRED}[{index}]"
        yield from _validate_weight(preferred, where)
        yield from _validate_pod_term(
            preferred.get("podAffinityTerm") or {}, f"{where}.podAffinityTerm"
        )


def _validate_pod_term(term: Spec, at: str) -> Iterator[FieldError]:
    yield from validate_selector(term.get("labelSelector"), f"{at}.labelSelector")
    yield from validate_selector(term.get("namespaceSelector"), f"{at}.namespaceSelector")
    for name in term.get("namespaces") or ():
        yield from (wrong(f"{at}.namespace", name, why) for why in names.label(name))
    yield from _validate_label_keys(term, at, term.get("labelSelector"))
    key = term.get("topologyKey", "")
    if not key:
        yield required(f"{at}.topologyKey", "can not be empty")
    yield from formed(key, f"{at}.topologyKey", names.qualified_name)


def _validate_label_keys(holder: Spec, at: str, selector: Spec | None) -> Iterator[FieldError]:
    """Yield what is wrong with keys whose values come from the pod itself."""
    own, others = holder.get("matchLabelKeys") or (), holder.get("mismatchLabelKeys") or ()
    for name, keys in (("matchLabelKeys", own), ("mismatchLabelKeys", others)):
        if keys and selector is None:
            yield not_allowed(f"{at}.{name}", "must not be specified when labelSelector is not set")
            continue
        for index, key in enumerate(keys):
            yield from formed(key, f"{at}.{name}[{index}]", names.qualified_name)
    yield from _named_twice(own, at, selector or {})
    for index, key in enumerate(own):
        if key in others:
            why = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield wrong(f"{at}.matchLabelKeys[{index}]", key, why)


def _named_twice(own: Sequence[str], at: str, selector: Spec) -> Iterator[FieldError]:
    seen = set(selector.get("matchLabels") or ())
    for entry in selector.get("matchExpressions") or ():
        key = entry.get("key", "")
        if key in seen and key in own:
            why = "exists in both matchLabelKeys and labelSelector"
            yield wrong(f"{at}[{len(own) - 1 - own[::-1].index(key)}]", key, why)
        seen.add(key)


def _validate_spread(constraints: Sequence[Spec], at: str) -> Iterator[FieldError]:
    kinds = [(one.get("topologyKey", ""), one.get("whenUnsatisfiable", "")) for one in constraints]
    for index, constraint in enumerate(constraints):
        where = f"{at}[{index}]"
        if constraint.get("maxSkew", 0) <= 0:
            yield wrong(
                f"{where}.maxSkew", constraint.get("maxSkew", 0), "must be greater than zero"
            )
        key = constraint.get("topologyKey", "")
        if not key:
            yield required(f"{where}.topologyKey", "can not be empty")
        action = constraint.get("whenUnsatisfiable", "")
        if action not in ("DoNotSchedule", "ScheduleAnyway"):
            yield not_supported(
                f"{where}.whenUnsatisfiable", action, ("DoNotSchedule", "ScheduleAnyway")
            )
        if (key, action) in kinds[index + 1 :]:
            yield duplicate(f"{where}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}")
        yield from _validate_min_domains(constraint, where)
        for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if constraint.get(policy, "Honor") not in ("Honor", "Ignore"):
                yield not_supported(f"{where}.{policy}", constraint[policy], ("Honor", "Ignore"))
        yield from _validate_label_keys(constraint, where, constraint.get("labelSelector"))
        yield from validate_selector(constraint.get("labelSelector"), f"{where}.labelSelector")


def _validate_min_domains(constraint: Spec, at: str) -> Iterator[FieldError]:
    least = constraint.get("minDomains")
    if least is None:
        return
    if least <= 0:
        yield wrong(f"{at}.minDomains", least, "must be greater than zero")
    if constraint.get("whenUnsatisfiable") != "DoNotSchedule":
        yield wrong(
            f"{at}.minDomains",
            least,
            "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "
            f"{constraint.get('whenUnsatisfiable')}",
        )


def validate_tolerations(tolerations: Sequence[Spec], at: str) -> Iterator[FieldError]:
    """Yield what is wrong with tolerations."""
    for index, toleration in enumerate(tolerations):
        yield from _validate_toleration(toleration, f"{at}[{index}]")


def _validate_toleration(toleration: Spec, at: str) -> Iterator[FieldError]:
    key, operator = toleration.get("key", ""), toleration.get("operator", "")
    value, effect = toleration.get("value", ""), toleration.get("effect", "")
    if key:
        yield from (wrong(f"{at}.key", key, why) for why in names.qualified_name(key))
    if not key and operator != "Exists":
        why = (
            "operator must be Exists when `key` is empty, "
            'which means "match all values and all keys"'
        )
        yield wrong(f"{at}.operator", operator, why)
    if "tolerationSeconds" in toleration and effect != "NoExecute":
        yield wrong(
            f"{at}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"
        )
    if operator in ("Equal", ""):
        if explained := names.label_value(value):
            yield wrong(f"{at}.operator", value, ";".join(explained))
    elif operator == "Exists":
        if value:
            yield wrong(f"{at}.operator", value, "value must be empty when `operator` is 'Exists'")
    else:
        known = ("Equal", "Exists", *(("Lt", "Gt") if operator in ("Lt", "Gt") else ()))
        yield not_supported(f"{at}.operator", operator, known)
    if effect and effect not in EFFECTS:
        yield not_supported(f"{at}.effect", effect, EFFECTS)
