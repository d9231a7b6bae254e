"""What an API server would say of an object as it stands in a file.

Apart from `rules` because files hold what was never sent: what is absent is not yet written, and is
no fault, where planning has a meaning for its absence. What is there and wrong, is.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from libs.apiserver import metadata, names
from libs.apiserver.checks import not_negative
from libs.apiserver.crd import pruning
from libs.apiserver.crd.admission import CompiledVersion
from libs.apiserver.crd.validation import NO_FIELD
from libs.apiserver.field_errors import FieldError, duplicate, not_supported
from libs.apiserver.rules import (
    budgets,
    claims,
    nodes,
    persistent_volumes,
    pods,
    podspec,
    priorities,
    storage,
    workloads,
)
from libs.apiserver.types import codec, table, walking
from libs.apiserver.types.mismatch import Mismatch
from libs.apiserver.types.walking import UnknownField

Object = dict[str, Any]
Rules = Callable[[Object], Iterable[FieldError]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What an API server would refuse of an object, and what it would drop with a warning."""

    errors: tuple[FieldError, ...] = ()
    unknown: tuple[UnknownField, ...] = ()


FINE = Judgement()


def builtin_type(api_version: str, kind: str) -> str:
    """Return the name of a built-in type, empty where there is none of that version."""
    group, _, version = api_version.rpartition("/")
    package = group.partition(".")[0] if "." in group and _is_ours(group) else group
    name = f"{package or 'core'}/{version}.{kind}"
    return name if table.struct_of(name) and "." not in package else ""


def _is_ours(group: str) -> bool:
    return group.endswith(".k8s.io") and not group.endswith(".x-k8s.io")


def judge(type_: str, document: Object) -> Judgement:
    """Return what is wrong with an object of a built-in type; of its metadata only the name counts.

    Args:
        type_: as `builtin_type` names it.
        document: plain JSON values; not changed.
    """
    content = {name: document[name] for name in document if name not in _ENVELOPE}
    unknown = tuple(walking.unknown_fields(type_, content))
    try:
        obj = codec.decode(type_, {**content, "metadata": _name_of(document)}, codec.Decoding())
    except Mismatch as mismatch:
        return Judgement(errors=(_mismatch(mismatch),), unknown=unknown)
    choices = list(walking.choices(type_, obj))
    errors = [one for one in _RULES.get(type_, _no_rules)(obj) if not _is_no_fault(one)]
    # Where a feature gate opens a value, its type declares it: files tell nothing of gates.
    declared = {one.path for one in choices if one.is_valid and _GATED.fullmatch(one.path)}
    errors = [one for one in errors if one.field not in declared or one.reason != _REFUSED]
    named = {one.field for one in errors}
    errors += [
        not_supported(one.path, one.value, one.choices)
        for one in choices
        if not one.is_valid and one.path not in named
    ]
    return Judgement(errors=tuple(errors), unknown=unknown)


def _name_of(document: Object) -> Object:
    """Return metadata with the name alone, empty where none is told."""
    name = (document.get("metadata") or {}).get("name")
    return {"name": name} if name else {}


def judge_custom(version: CompiledVersion, document: Object) -> Judgement:
    """Return what is wrong with a custom object; its metadata is not looked at.

    Args:
        version: the version that the object says it has.
        document: plain JSON values; not changed.
    """
    bare = {**document, "metadata": {}}
    prepared, paths = version.prepare(bare)
    unknown = tuple(
        UnknownField(path=path, known=pruning.known_beside(version.schema, path)) for path in paths
    )
    written = _written_out(prepared, _ABSENT.get(version.kind, {}))
    causes = version.judge(written, None).causes
    errors = tuple(one for one in causes if one.field != NO_FIELD and not _is_empty(one))
    return Judgement(errors=errors, unknown=unknown)


def judge_metadata(found: Mapping[str, Any], kind: str) -> Judgement:
    """Return what is wrong with the name, labels and annotations of an object."""
    unknown = tuple(walking.unknown_fields(table.OBJECT_META, found, "metadata"))
    sent = {name: found[name] for name in ("name", "labels", "annotations") if found.get(name)}
    check = names.label if kind == "Namespace" else names.subdomain
    errors = metadata.validate(sent, check, namespaced=False, custom=False)
    kept = tuple(one for one in errors if not _is_no_fault(one))
    return Judgement(errors=kept, unknown=unknown)


_ENVELOPE = ("apiVersion", "kind", "metadata")
_REFUSED = "FieldValueNotSupported"
_GATED = re.compile(r".*\.(tolerations\[\d+\]\.operator|restartPolicyRules\[\d+\]\.action)")
"""Fields some of whose values only a feature gate opens."""
_ALLOWED_BY_GATES = re.compile(r".*\bhostNetwork: Forbidden: when `hostUsers` is false")
"""Refusals that a feature gate takes back: nodes declare it, and pods are kept to those."""
_NEEDED = re.compile(
    r".*\.(topologyKey|nodeSelectorTerms|values|key|operator|effect)"
    r"|spec\.(containers|resources\[storage\]|source)"
)
"""Fields without which what stands around them means nothing."""


def _is_empty(error: FieldError) -> bool:
    """Tell whether a text is wrong only in that it is empty: in a file that is none at all."""
    return error.message.startswith('Invalid value: "": ') and "should match" in error.message


def _is_no_fault(error: FieldError) -> bool:
    if _ALLOWED_BY_GATES.fullmatch(f"{error.field}: {error.message}"):
        return True
    if error.reason == "FieldValueDuplicate":
        return error.message == duplicate("", "").message
    if error.message.startswith(("Invalid value: null", "Unsupported value: null")):
        return True
    if error.field == "spec.template.metadata.labels":
        return error.message.startswith("Invalid value: {}")
    return error.reason == "FieldValueRequired" and not _NEEDED.fullmatch(error.field)


def _mismatch(mismatch: Mismatch) -> FieldError:
    words = mismatch.detail or f"expected {mismatch.wanted}, got {mismatch.found}"
    return FieldError("FieldValueTypeInvalid", words, ".".join(mismatch.path))


def _no_rules(_obj: Object) -> Iterable[FieldError]:
    return ()


def _pod(obj: Object) -> Iterable[FieldError]:
    podspec.default_pod(obj["spec"])
    return pods.validate_pod(obj)


def _node(obj: Object) -> Iterable[FieldError]:
    for one in nodes.validate(obj):
        # The API server takes taints to be metadata; whoever mends the file finds them in the spec.
        yield replace(one, field=re.sub(r"^metadata\.taints", "spec.taints", one.field))


def _pod_template(obj: Object) -> Iterable[FieldError]:
    podspec.default_template(obj["template"])
    return workloads.validate_pod_template(obj)


def _controller(obj: Object) -> Iterable[FieldError]:
    yield from _templated(obj)
    if obj["spec"].get("template"):
        yield from workloads.always_on(obj["spec"]["template"], "ReplicaSet")


def _job(obj: Object) -> Iterable[FieldError]:
    template = obj["spec"].get("template")
    if template:
        template["spec"].setdefault("restartPolicy", "Never")
        if template["spec"]["restartPolicy"] == "Always":
            at = "spec.template.spec.restartPolicy"
            yield not_supported(at, "Always", ("OnFailure", "Never"))
    counts = ("parallelism", "completions", "backoffLimit", "activeDeadlineSeconds")
    yield from not_negative(obj["spec"], "spec", *counts)
    yield from _templated(obj)


def _templated(obj: Object) -> Iterable[FieldError]:
    spec = obj["spec"]
    yield from not_negative(spec, "spec", "replicas")
    if spec.get("template"):
        podspec.default_template(spec["template"])
        yield from workloads.validate_selected_template(spec)


def _claim(obj: Object) -> Iterable[FieldError]:
    claims.settle_sources(obj["spec"])
    return claims.validate(obj)


def _storage_class(obj: Object) -> Iterable[FieldError]:
    storage.default_class(obj)
    return storage.validate_class(obj)


_RULES: Mapping[str, Rules] = MappingProxyType(
    {
        "core/v1.Node": _node,
        "core/v1.PersistentVolume": persistent_volumes.validate,
        "core/v1.PersistentVolumeClaim": _claim,
        "core/v1.Pod": _pod,
        "core/v1.PodTemplate": _pod_template,
        "core/v1.ReplicationController": _controller,
        "apps/v1.DaemonSet": _controller,
        "apps/v1.Deployment": _controller,
        "apps/v1.ReplicaSet": _controller,
        "apps/v1.StatefulSet": _controller,
        "batch/v1.Job": _job,
        "policy/v1.PodDisruptionBudget": budgets.validate,
        "scheduling/v1.PriorityClass": priorities.validate,
        "storage/v1.StorageClass": _storage_class,
        "storage/v1.VolumeAttachment": storage.validate_attachment,
    }
)
"""Rules by type; all others have closed sets of values alone."""

_CLASS_REF = {"group": "example.com", "kind": "NodeClass", "name": "default"}
_CLAIM_SPEC = {"requirements": (), "nodeClassRef": _CLASS_REF}
_ABSENT: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "NodeClaim": {"spec": _CLAIM_SPEC},
        "NodePool": {"spec": {"template": {"spec": _CLAIM_SPEC}}},
    }
)
"""Stands for what a custom object must have and a file may leave out, by kind."""


def _written_out(value: Any, absent: Any) -> Any:
    """Return a value with the members that it does not have."""
    if not isinstance(absent, Mapping):
        return list(absent) if value is None and isinstance(absent, tuple) else value
    if value is None:
        value = {}
    if not isinstance(value, dict):
        return value
    added = {
        name: _written_out(value.get(name), inner)
        if not isinstance(inner, str)
        else value.get(name, inner)
        for name, inner in absent.items()
    }
    return {**value, **added}
