"""Validation of roles and their bindings.

Source: Kubernetes API reference, rbac.authorization.k8s.io; wordings as recorded from
kube-apiserver 1.36.
"""

from collections.abc import Iterator
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import Stored, formed, present
from libs.apiserver.field_errors import FieldError, not_supported, required, wrong
from libs.apiserver.rules.selectors import validate_selector
from libs.apiserver.rules.workloads import is_usable

Object = dict[str, Any]
GROUP = "rbac.authorization.k8s.io"
_SUBJECTS = ("ServiceAccount", "User", "Group")


def validate_role(obj: Object) -> list[FieldError]:
    """Return what is wrong with a Role."""
    return [error for index, rule in _rules(obj) for error in _validate_rule(rule, index, True)]


def validate_cluster_role(obj: Object) -> list[FieldError]:
    """Return what is wrong with a ClusterRole."""
    found = [error for index, rule in _rules(obj) for error in _validate_rule(rule, index, False)]
    if "aggregationRule" not in obj:
        return found
    at = "aggregationRule.clusterRoleSelectors"
    selectors = obj["aggregationRule"].get("clusterRoleSelectors") or ()
    if not selectors:
        why = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        found.append(required(at, why))
    for index, selector in enumerate(selectors):
        found += validate_selector(selector, f"{at}[{index}]")
        if not is_usable(selector):
            found.append(wrong(f"{at}[{index}]", None, "invalid label selector."))
    return found


def _rules(obj: Object) -> Iterator[tuple[int, Stored]]:
    return iter(list(enumerate(obj.get("rules") or ())))


def _validate_rule(rule: Stored, index: int, namespaced: bool) -> Iterator[FieldError]:
    at, urls = f"rules[{index}]", rule.get("nonResourceURLs") or ()
    if not rule.get("verbs"):
        yield required(f"{at}.verbs", "verbs must contain at least one value")
    if urls:
        where = f"{at}.nonResourceURLs"
        if namespaced:
            yield wrong(where, urls, "namespaced rules cannot apply to non-resource URLs")
        if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            yield wrong(where, urls, why)
        return
    if not rule.get("apiGroups"):
        yield required(f"{at}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        yield required(f"{at}.resources", "resource rules must supply at least one resource")


def validate_binding(obj: Object) -> list[FieldError]:
    """Return what is wrong with a RoleBinding."""
    return list(_validate_binding(obj, ("Role", "ClusterRole"), namespaced=True))


def validate_cluster_binding(obj: Object) -> list[FieldError]:
    """Return what is wrong with a ClusterRoleBinding."""
    return list(_validate_binding(obj, ("ClusterRole",), namespaced=False))


def _validate_binding(
    obj: Object, kinds: tuple[str, ...], *, namespaced: bool
) -> Iterator[FieldError]:
    role = obj["roleRef"]
    if role.get("apiGroup", "") != GROUP:
        yield not_supported("roleRef.apiGroup", role.get("apiGroup", ""), (GROUP,))
    if role.get("kind", "") not in kinds:
        yield not_supported("roleRef.kind", role.get("kind", ""), kinds)
    if not role.get("name"):
        yield required("roleRef.name")
    else:
        yield from formed(role["name"], "roleRef.name", names.path_segment)
    for index, subject in enumerate(obj.get("subjects") or ()):
        yield from _validate_subject(subject, f"subjects[{index}]", namespaced=namespaced)


def _validate_subject(subject: Stored, at: str, *, namespaced: bool) -> Iterator[FieldError]:
    yield from present(subject, at, "name")
    kind, group = subject.get("kind", ""), subject.get("apiGroup", "")
    if kind == "ServiceAccount":
        if subject.get("name"):
            yield from formed(subject["name"], f"{at}.name", names.subdomain)
        if group:
            yield not_supported(f"{at}.apiGroup", group, ("",))
        if not namespaced:
            yield from present(subject, at, "namespace")
    elif kind in _SUBJECTS:
        if group != GROUP:
            yield not_supported(f"{at}.apiGroup", group, (GROUP,))
    else:
        yield not_supported(f"{at}.kind", kind, _SUBJECTS)


def fixed_role(new: Object, old: Stored) -> list[FieldError]:
    """Refuse another role in a binding."""
    if new["roleRef"] == old["roleRef"]:
        return []
    role = new["roleRef"]
    shown = {"APIGroup": role.get("apiGroup"), "Kind": role.get("kind"), "Name": role.get("name")}
    return [wrong("roleRef", shown, "cannot change roleRef")]
