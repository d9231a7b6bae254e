"""What may change in a pod.

Source: Kubernetes API reference, PodSpec; order and wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.apiserver.checks import between
from libs.apiserver.field_errors import FieldError, not_allowed, wrong
from libs.apiserver.types.internal import difference, internal
from services.simulator.core.api.frozen import thaw

Spec = Mapping[str, Any]
_CHANGEABLE = (
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_KINDS = ("containers", "initContainers")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PARTS = ("matchExpressions", "matchFields")
_DEADLINE = (0, 2**31 - 1)
_TOLERATED = "existing toleration can not be modified except its tolerationSeconds"


def validate_update(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    """Return which forbidden changes an update makes."""
    after, before = new["spec"], old["spec"]
    for kind in _KINDS:
        if len(after.get(kind) or ()) != len(before.get(kind) or ()):
            why = "pod updates may not add or remove containers"
            return [not_allowed(f"spec.{kind}", why)]
    found = list(_deadline_changes(after, before))
    if found and "activeDeadlineSeconds" in after:
        return found
    found += _toleration_changes(after, before)
    found += _gate_changes(after, before)
    if after == before:
        return found
    allowed = _with_allowed_undone(after, before)
    if before.get("schedulingGates"):
        found += _selector_changes(after, before)
        found += _affinity_changes(after, before)
        _undo_steering(allowed, before)
    if allowed != before:
        shown = difference("core/v1.PodSpec", before, allowed)
        found.append(not_allowed("spec", f"{_CHANGEABLE}\n{shown}"))
    return found


def _deadline_changes(new: Spec, old: Spec) -> Iterator[FieldError]:
    at = "spec.activeDeadlineSeconds"
    after, before = new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds")
    if after is None:
        if before is not None:
            yield wrong(at, None, "must not update from a positive integer to nil value")
    elif not _DEADLINE[0] <= after <= _DEADLINE[1]:
        yield wrong(at, after, between(_DEADLINE))
    elif before is not None and before < after:
        yield wrong(at, after, "must be less than or equal to previous value")


def _toleration_changes(new: Spec, old: Spec) -> Iterator[FieldError]:
    after = [_timeless(toleration) for toleration in new.get("tolerations") or ()]
    if any(_timeless(toleration) not in after for toleration in old.get("tolerations") or ()):
        yield not_allowed("spec.tolerations", _TOLERATED)


def _timeless(toleration: Spec) -> dict[str, Any]:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}


def _gate_changes(new: Spec, old: Spec) -> Iterator[FieldError]:
    known = {gate["name"] for gate in old.get("schedulingGates") or ()}
    for index, gate in enumerate(new.get("schedulingGates") or ()):
        if gate["name"] not in known:
            why = f"only deletion is allowed, but found new scheduling gate '{gate['name']}'"
            yield not_allowed(f"spec.schedulingGates[{index}].name", why)


def _with_allowed_undone(new: Spec, old: Spec) -> dict[str, Any]:
    """Return the new spec with what may change as it was."""
    spec: dict[str, Any] = thaw(new)
    for kind in _KINDS:
        for container, before in zip(spec.get(kind) or (), old.get(kind) or (), strict=True):
            container["image"] = before.get("image", "")
    for name in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        _undo(spec, old, name)
    grace = "terminationGracePeriodSeconds"
    if old.get(grace, 0) < 0 and spec.get(grace) == 1:
        spec[grace] = old[grace]
    return spec


def _undo(spec: dict[str, Any], old: Spec, name: str) -> None:
    if name in old:
        spec[name] = thaw(old[name])
    else:
        spec.pop(name, None)


def _selector_changes(new: Spec, old: Spec) -> Iterator[FieldError]:
    after, before = new.get("nodeSelector") or {}, old.get("nodeSelector") or {}
    if any(after.get(name) != value for name, value in before.items()):
        why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield wrong("spec.nodeSelector", dict(after), why)


def _affinity_changes(new: Spec, old: Spec) -> Iterator[FieldError]:
    at = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    before, after = _terms(old), _terms(new)
    if before and len(before) != len(after):
        why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        yield wrong(at, internal("[]core/v1.NodeSelectorTerm", after or None), why)
        return
    for index, term in enumerate(before):
        goes_on = all(_begins(after[index].get(name), term.get(name)) for name in _PARTS)
        if not goes_on or (not term and after[index]):
            why = "only additions are allowed (no mutations or deletions)"
            shown = internal("core/v1.NodeSelectorTerm", after[index])
            yield wrong(f"{at}[{index}]", shown, why)


def _terms(spec: Spec) -> list[Spec]:
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    return list((affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ())


def _begins(after: Any, before: Any) -> bool:
    """Tell whether a list goes on where another ended; from an empty term nothing goes on."""
    kept = list(before or ())
    return list(after or ())[: len(kept)] == kept


def _undo_steering(spec: dict[str, Any], old: Spec) -> None:
    """Take back where a pod that waits for its gates is to run."""
    _undo(spec, old, "nodeSelector")
    before = (old.get("affinity") or {}).get("nodeAffinity")
    affinity = spec.setdefault("affinity", {})
    if before is None:
        affinity.pop("nodeAffinity", None)
    else:
        affinity["nodeAffinity"] = thaw(before)
    if not affinity and not old.get("affinity"):
        del spec["affinity"]
