"""Validation of what keeps pods of a template running, and what may not change in it.

Source: Kubernetes API reference, Deployment and its kin; order and wordings as recorded from
kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import (
    NOT_NEGATIVE,
    Stored,
    formed,
    formed_if_present,
    not_negative,
    present,
)
from libs.apiserver.field_errors import (
    FieldError,
    not_allowed,
    not_supported,
    required,
    wrong,
)
from libs.apiserver.labels import selects_labels
from libs.apiserver.metadata import IMMUTABLE, validate_annotations, validate_labels
from libs.apiserver.rules import claims, pods
from libs.apiserver.rules.selectors import shown_selector, validate_selector

Object = dict[str, Any]
_MISMATCH = "`selector` does not match template `labels`"
_CLAIM_POLICIES = ("Retain", "Delete")
_SET_FIXED = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
    "'minReadySeconds' are forbidden"
)
_SET_CHANGEABLE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def validate_deployment(obj: Object) -> list[FieldError]:
    """Return what is wrong with a Deployment."""
    spec = obj["spec"]
    found = [*not_negative(spec, "spec", "replicas"), *_validate_selected(spec, "deployment")]
    found += _validate_strategy(spec["strategy"])
    found += not_negative(spec, "spec", "minReadySeconds", "revisionHistoryLimit")
    found += not_negative(spec, "spec", "progressDeadlineSeconds")
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= spec.get("minReadySeconds", 0):
        why = "must be greater than minReadySeconds"
        found.append(wrong("spec.progressDeadlineSeconds", deadline, why))
    return found


def validate_replica_set(obj: Object) -> list[FieldError]:
    """Return what is wrong with a ReplicaSet."""
    spec = obj["spec"]
    found = list(not_negative(spec, "spec", "replicas", "minReadySeconds"))
    # It is the Deployment that Kubernetes names, here too.
    return [*found, *_validate_selected(spec, "deployment")]


def validate_replication_controller(obj: Object) -> list[FieldError]:
    """Return what is wrong with a ReplicationController."""
    spec = obj["spec"]
    found = [
        *not_negative(spec, "spec", "minReadySeconds"),
        *present(spec, "spec", "selector"),
        *not_negative(spec, "spec", "replicas"),
    ]
    template = spec.get("template")
    if template is None:
        return [*found, required("spec.template")]
    selector, labels = spec.get("selector") or {}, template["metadata"].get("labels") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        found.append(_mismatch(template))
    found += pods.validate_template(template, "spec.template")
    return [*found, *always_on(template, "ReplicationController")]


def validate_daemon_set(obj: Object) -> list[FieldError]:
    """Return what is wrong with a DaemonSet."""
    spec = obj["spec"]
    selector, template = spec.get("selector"), spec["template"]
    found = list(validate_selector(selector, "spec.selector"))
    if is_usable(selector) and not _selects(selector, template):
        found.append(_mismatch(template))
    found += _not_empty(selector, "daemonset")
    found += pods.validate_template(template, "spec.template")
    found += always_on(template, "DaemonSet")
    found += not_negative(spec, "spec", "minReadySeconds")
    found += _validate_daemon_updates(spec["updateStrategy"])
    return [*found, *not_negative(spec, "spec", "revisionHistoryLimit")]


def validate_stateful_set(obj: Object) -> list[FieldError]:
    """Return what is wrong with a StatefulSet."""
    spec = obj["spec"]
    found = list(_validate_management(spec))
    policy = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for name in ("whenDeleted", "whenScaled"):
        if policy.get(name, "Retain") not in _CLAIM_POLICIES:
            at = f"spec.persistentVolumeClaimRetentionPolicy.{name}"
            found.append(not_supported(at, policy[name], _CLAIM_POLICIES))
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        found += claims.validate_spec(claim["spec"], f"spec.volumeClaimTemplates[{index}].spec")
    found += not_negative(spec, "spec", "replicas", "minReadySeconds")
    found += not_negative(spec.get("ordinals") or {}, "spec.ordinals", "start")
    found += formed_if_present(spec, "spec", "serviceName", names.label)
    found += _validate_set_template(spec)
    if spec["template"]["spec"].get("restartPolicy") != "Always":
        policy_name = spec["template"]["spec"].get("restartPolicy", "")
        at = "spec.template.spec.restartPolicy"
        found.append(not_supported(at, policy_name, ("Always",)))
    return [*found, *_no_deadline(spec["template"], "StatefulSet")]


def _validate_set_template(spec: Stored) -> Iterator[FieldError]:
    selector, template = spec.get("selector"), spec["template"]
    if selector is None:
        yield required("spec.selector")
    yield from validate_selector(selector, "spec.selector")
    yield from _not_empty(selector, "statefulset")
    if not is_usable(selector):
        yield wrong("spec.selector", shown_selector(selector), "")
        return
    if not _selects(selector, template):
        yield _mismatch(template)
    yield from pods.validate_template(_with_claims(spec), "spec.template")
    meta = template["metadata"]
    yield from validate_labels(meta.get("labels") or {}, "spec.template.labels")
    yield from validate_annotations(meta.get("annotations") or {}, "spec.template.annotations")


def _with_claims(spec: Stored) -> Stored:
    """Return the template as its pods will be: with the claims of the set, and names of its own."""
    template, claimed = spec["template"], spec.get("volumeClaimTemplates") or ()
    made_names = [claim["metadata"].get("name", "") for claim in claimed]
    made = [
        {"name": name, "persistentVolumeClaim": {"claimName": name}}
        for name in dict.fromkeys(made_names)
    ]
    taken = {volume["name"] for volume in made}
    kept = [one for one in template["spec"].get("volumes") or () if one.get("name") not in taken]
    own = {
        name: value
        for name, value in template["spec"].items()
        if name not in ("hostname", "subdomain")
    }
    return {**template, "spec": {**own, "volumes": [*made, *kept]}}


def validate_pod_template(obj: Object) -> list[FieldError]:
    """Return what is wrong with a PodTemplate."""
    return list(pods.validate_template(obj["template"], "template"))


def validate_selected_template(spec: Stored) -> Iterator[FieldError]:
    """Yield what is wrong with the template of any controller, its claims with it."""
    selector, template = spec.get("selector"), spec["template"]
    if selector and "matchLabels" not in selector and "matchExpressions" not in selector:
        selector = {"matchLabels": selector}
    if selector and not _selects(selector, template):
        yield _mismatch(template)
    yield from pods.validate_template(_with_claims(spec), "spec.template")


def fixed_selector(new: Object, old: Stored) -> list[FieldError]:
    """Return the refusal of a changed selector."""
    if new["spec"].get("selector") != old["spec"].get("selector"):
        return [wrong("spec.selector", new["spec"].get("selector"), IMMUTABLE)]
    return []


def fixed_set(new: Object, old: Stored) -> list[FieldError]:
    """Return the refusal of a change to a StatefulSet beyond what it can act upon."""
    kept = {name: new["spec"].get(name) for name in _SET_CHANGEABLE}
    before = {name: value for name, value in old["spec"].items() if name not in kept}
    after = {name: value for name, value in new["spec"].items() if name not in kept}
    return [] if before == after else [not_allowed("spec", _SET_FIXED)]


def _validate_selected(spec: Stored, kind: str) -> Iterator[FieldError]:
    selector, template = spec.get("selector"), spec.get("template")
    if selector is None:
        yield required("spec.selector")
    yield from validate_selector(selector, "spec.selector")
    yield from _not_empty(selector, kind)
    if not is_usable(selector):
        yield wrong("spec.selector", shown_selector(selector), "invalid label selector")
    elif template is not None:
        if not _selects(selector, template):
            yield _mismatch(template)
        yield from pods.validate_template(template, "spec.template")
        yield from always_on(template, "ReplicaSet")


def _not_empty(selector: Stored | None, kind: str) -> Iterator[FieldError]:
    if selector is not None and not _size(selector):
        yield wrong("spec.selector", selector, f"empty selector is invalid for {kind}")


def _size(selector: Stored) -> int:
    return len(selector.get("matchLabels") or ()) + len(selector.get("matchExpressions") or ())


def is_usable(selector: Stored | None) -> bool:
    """Tell whether a selector can be asked at all."""
    return selector is None or not any(validate_selector(selector, ""))


def _selects(selector: Stored | None, template: Stored) -> bool:
    if selector is None:
        return False
    return selects_labels(selector)(template["metadata"].get("labels") or {})


def _mismatch(template: Stored) -> FieldError:
    labels = template["metadata"].get("labels")
    return wrong("spec.template.metadata.labels", labels, _MISMATCH)


def always_on(template: Stored, kind: str) -> Iterator[FieldError]:
    """Yield what ends the pods of a controller that would start them again."""
    policy = template["spec"].get("restartPolicy", "")
    if policy != "Always":
        yield not_supported("spec.template.spec.restartPolicy", policy, ("Always",))
    yield from _no_deadline(template, kind)


def _no_deadline(template: Stored, kind: str) -> Iterator[FieldError]:
    if "activeDeadlineSeconds" in template["spec"]:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        yield not_allowed("spec.template.spec.activeDeadlineSeconds", why)


def _validate_strategy(strategy: Stored) -> Iterator[FieldError]:
    at = "spec.strategy"
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            why = "may not be specified when strategy `type` is 'Recreate'"
            yield not_allowed(f"{at}.rollingUpdate", why)
    elif kind != "RollingUpdate":
        shown = {"Type": kind, "RollingUpdate": _internal_rolling(rolling)}
        yield not_supported(at, shown, ("Recreate", "RollingUpdate"))
    elif rolling is not None:
        where = f"{at}.rollingUpdate"
        for name in ("maxUnavailable", "maxSurge"):
            yield from validate_share(rolling.get(name, 0), f"{where}.{name}")
        if not any(_amount(rolling.get(name, 0)) for name in ("maxUnavailable", "maxSurge")):
            why = "may not be 0 when `maxSurge` is 0"
            yield wrong(f"{where}.maxUnavailable", rolling.get("maxUnavailable", 0), why)
        yield from at_most_all(rolling.get("maxUnavailable", 0), f"{where}.maxUnavailable")


def _internal_rolling(rolling: Stored | None) -> Mapping[str, Any] | None:
    if rolling is None:
        return None
    return {
        "MaxUnavailable": rolling.get("maxUnavailable"),
        "MaxSurge": rolling.get("maxSurge"),
    }


def _validate_daemon_updates(strategy: Stored) -> Iterator[FieldError]:
    at, kind = "spec.updateStrategy", strategy.get("type")
    if kind == "OnDelete":
        return
    rolling = strategy.get("rollingUpdate")
    if kind != "RollingUpdate":
        shown = {"Type": kind, "RollingUpdate": _internal_rolling(rolling)}
        yield not_supported(at, shown, ("RollingUpdate", "OnDelete"))
        return
    where, shares = f"{at}.rollingUpdate", rolling or {}
    for check in (validate_share, at_most_all):
        for name in ("maxUnavailable", "maxSurge"):
            yield from check(shares.get(name, 0), f"{where}.{name}")
    gone, more = _amount(shares.get("maxUnavailable", 0)), _amount(shares.get("maxSurge", 0))
    if gone and more:
        why = "may not be set when maxUnavailable is non-zero"
        yield wrong(f"{where}.maxSurge", shares.get("maxSurge"), why)
    elif not gone and not more:
        yield required(f"{where}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _validate_management(spec: Stored) -> Iterator[FieldError]:
    management = spec.get("podManagementPolicy", "")
    if management not in ("OrderedReady", "Parallel"):
        why = "must be 'OrderedReady' or 'Parallel'"
        yield wrong("spec.podManagementPolicy", management, why)
    strategy, at = spec["updateStrategy"], "spec.updateStrategy"
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind not in ("RollingUpdate", "OnDelete"):
        shown = {"Type": kind, "RollingUpdate": _internal_set_rolling(rolling)}
        yield wrong(at, shown, "must be 'RollingUpdate' or 'OnDelete'")
    elif rolling is not None and kind == "OnDelete":
        why = "only allowed for updateStrategy 'RollingUpdate'"
        yield wrong(f"{at}.rollingUpdate", _internal_set_rolling(rolling), why)
    elif rolling is not None:
        where = f"{at}.rollingUpdate"
        yield from not_negative(rolling, where, "partition")
        if "maxUnavailable" in rolling:
            share, where = rolling["maxUnavailable"], f"{where}.maxUnavailable"
            yield from validate_share(share, where)
            if not _amount(share):
                yield wrong(where, share, "cannot be 0")
            yield from at_most_all(share, where)


def _internal_set_rolling(rolling: Stored | None) -> Mapping[str, Any] | None:
    if rolling is None:
        return None
    return {
        "Partition": rolling.get("partition", 0),
        "MaxUnavailable": rolling.get("maxUnavailable"),
    }


def validate_share(share: int | str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with a number or percentage."""
    if isinstance(share, str):
        yield from formed(share, at, names.percent)
    elif share < 0:
        yield wrong(at, share, NOT_NEGATIVE)


def at_most_all(share: int | str, at: str) -> Iterator[FieldError]:
    """Yield a percentage of more than all."""
    if isinstance(share, str) and _amount(share) > 100 and not names.percent(share):
        yield wrong(at, share, "must not be greater than 100%")


def _amount(share: int | str) -> int:
    """Return the number or, of a percentage, its number; of other texts what Go reads of them."""
    if isinstance(share, int):
        return share
    text = share.removesuffix("%") if not names.percent(share) else share
    return int(text) if text.lstrip("+-").isdigit() else 0
