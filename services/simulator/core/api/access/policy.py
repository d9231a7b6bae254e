"""What rules of roles mean: which requests a rule allows, and whether rules cover other rules.

Source: Kubernetes documentation, "Using RBAC Authorization": referring to resources, privilege
escalation prevention.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from services.simulator.core.api.access.attributes import Attributes

Rule = Mapping[str, Any]
"""A PolicyRule as it stands in a role."""

EVERYTHING: tuple[Rule, ...] = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)
_PARTS = (
    ("apiGroups", "APIGroups"),
    ("resources", "Resources"),
    ("nonResourceURLs", "NonResourceURLs"),
    ("resourceNames", "ResourceNames"),
    ("verbs", "Verbs"),
)


def allows(rule: Rule, asked: Attributes) -> bool:
    """Tell whether a rule allows a request, its name aside (`resourceNames` is the caller's)."""
    if not _has(rule.get("verbs"), asked.verb):
        return False
    if asked.path:
        return any(_url_covers(url, asked.path) for url in rule.get("nonResourceURLs") or ())
    return _has(rule.get("apiGroups"), asked.group) and _covers_resource(
        rule.get("resources") or (), asked.combined
    )


def _has(choices: Iterable[str] | None, one: str) -> bool:
    return choices is not None and ("*" in choices or one in choices)


def _covers_resource(resources: Sequence[str], wanted: str) -> bool:
    if "*" in resources or wanted in resources:
        return True
    _, slash, subresource = wanted.partition("/")
    return bool(slash) and f"*/{subresource}" in resources


def _url_covers(owned: str, wanted: str) -> bool:
    return owned == wanted or (owned.endswith("*") and wanted.startswith(owned.rstrip("*")))


def uncovered(owned: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """Return what of `wanted` no owned rule grants, in rules of one verb on one thing."""
    return [
        single
        for rule in wanted
        for single in _singles(rule)
        if not any(_covers(own, single) for own in owned)
    ]


def _singles(rule: Rule) -> Iterator[Rule]:
    verbs, names = rule.get("verbs") or (), rule.get("resourceNames") or ()
    for group in rule.get("apiGroups") or ():
        for resource in rule.get("resources") or ():
            for verb in verbs:
                single = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                yield from ({**single, "resourceNames": [name]} for name in names)
                if not names:
                    yield single
    for url in rule.get("nonResourceURLs") or ():
        for verb in verbs:
            yield {"nonResourceURLs": [url], "verbs": [verb]}


def _covers(own: Rule, single: Rule) -> bool:
    if not _has(own.get("verbs"), single["verbs"][0]):
        return False
    if "nonResourceURLs" in single:
        url = single["nonResourceURLs"][0]
        return any(_url_covers(owned, url) for owned in own.get("nonResourceURLs") or ())
    names = own.get("resourceNames")
    return (
        _has(own.get("apiGroups"), single["apiGroups"][0])
        and _covers_resource(own.get("resources") or (), single["resources"][0])
        and (not names or ("resourceNames" in single and single["resourceNames"][0] in names))
    )


def described(singles: Iterable[Rule]) -> list[str]:
    """Return rules of one verb each as refusals show them: verbs on one resource together."""
    lines: list[str] = []
    together: dict[tuple[str, ...], dict[str, Any]] = {}
    for rule in singles:
        if "nonResourceURLs" in rule:
            lines.append(_shown(rule))
            continue
        subject = (rule["apiGroups"][0], rule["resources"][0], *rule.get("resourceNames", ()))
        if subject in together:
            together[subject]["verbs"] += rule["verbs"]
        else:
            together[subject] = {**rule, "verbs": list(rule["verbs"])}
    return sorted({*lines, *map(_shown, together.values())})


def _shown(rule: Rule) -> str:
    parts = [f"{title}:{quoted(rule[name])}" for name, title in _PARTS if rule.get(name)]
    return "{" + ", ".join(parts) + "}"


def quoted(texts: Iterable[str]) -> str:
    """Return a list of texts as Go prints it quoted."""
    return "[" + " ".join(json.dumps(text, ensure_ascii=False) for text in texts) + "]"
