"""A pod's preferences: made hard, and given up one by one.

Apart because kube-scheduler's filters know no preferences: the reference asks them about a pod that
demands what it only prefers, then about one that demands less, and at last about the pod itself.

Source: `docs/sources.md` D10 (the order), A2.4 (of preferred node terms only the heaviest counts).
Alternatives of a required node affinity are not given up one by one: the filters take any of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from libs.domain.solution import PreferencePolicy
from libs.oracle.node_selectors import required_of
from libs.oracle.objects import KubeObject, spec_of

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A pod and what it insists on at this point."""

    pod: KubeObject
    avoids_soft_taints: bool
    """Whether it keeps off nodes with a PreferNoSchedule taint that it does not tolerate."""


def wishes(pod: KubeObject, policy: PreferencePolicy) -> Iterator[Wish]:
    """Yield the pod from its most to its least demanding form, which is itself."""
    left = _preferences(pod) if policy is PreferencePolicy.RESPECT else _NO_PREFERENCES
    yield Wish(pod=_hardened(pod, left), avoids_soft_taints=True)
    for name in ("podAffinity", "podAntiAffinity", "nodeAffinity", "spread"):
        while left[name]:
            left = {**left, name: left[name][1:]}
            yield Wish(pod=_hardened(pod, left), avoids_soft_taints=True)
    yield Wish(pod=pod, avoids_soft_taints=False)


def node_terms(pod: KubeObject) -> list[KubeObject]:
    """Return every term of the pod's node affinity, preferred ones too."""
    affinity = (spec_of(pod).get("affinity") or {}).get("nodeAffinity") or {}
    required = (required_of(spec_of(pod)) or {}).get("nodeSelectorTerms") or ()
    return [*required, *(one["preference"] for one in affinity.get(_PREFERRED) or ())]


_NO_PREFERENCES: Mapping[str, list[Any]] = {
    "podAffinity": [],
    "podAntiAffinity": [],
    "nodeAffinity": [],
    "spread": [],
}


def _preferences(pod: KubeObject) -> dict[str, list[Any]]:
    """Return what can be given up, by kind, the heaviest first."""
    affinity = spec_of(pod).get("affinity") or {}
    found = {
        name: sorted(
            (affinity.get(name) or {}).get(_PREFERRED) or (), key=lambda one: -one["weight"]
        )
        for name in ("podAffinity", "podAntiAffinity", "nodeAffinity")
    }
    constraints = spec_of(pod).get("topologySpreadConstraints") or ()
    found["spread"] = [one for one in constraints if one["whenUnsatisfiable"] == "ScheduleAnyway"]
    return found


def _hardened(pod: KubeObject, kept: Mapping[str, list[Any]]) -> KubeObject:
    """Return the pod with the preferences that it keeps as requirements, the others left out."""
    if not any(kept.values()):
        return pod
    spec = spec_of(pod)
    affinity = {**(spec.get("affinity") or {})}
    for name in ("podAffinity", "podAntiAffinity"):
        if kept[name]:
            own = affinity.get(name) or {}
            terms = [one["podAffinityTerm"] for one in kept[name]]
            affinity[name] = {**own, _REQUIRED: [*(own.get(_REQUIRED) or ()), *terms]}
    if kept["nodeAffinity"]:
        affinity["nodeAffinity"] = {
            _REQUIRED: _with_term(spec, kept["nodeAffinity"][0]["preference"])
        }
    spread = [
        one
        for one in spec.get("topologySpreadConstraints") or ()
        if one["whenUnsatisfiable"] != "ScheduleAnyway"
    ]
    spread += [{**one, "whenUnsatisfiable": "DoNotSchedule"} for one in kept["spread"]]
    return {**pod, "spec": {**spec, "affinity": affinity, "topologySpreadConstraints": spread}}


def _with_term(spec: KubeObject, added: KubeObject) -> KubeObject:
    required = (required_of(spec) or {}).get("nodeSelectorTerms") or [{}]
    terms = [
        {
            name: [*(term.get(name) or ()), *(added.get(name) or ())]
            for name in ("matchExpressions", "matchFields")
        }
        for term in required
    ]
    return {"nodeSelectorTerms": terms}
