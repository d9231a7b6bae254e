"""What an API server would say of objects out of files: refusals, unknown fields, versions.

Apart from `documents`, which only reads: an object may be legible here, where few fields count, and
yet be one that no API server lets in. Live objects never come here: a server has let them in.

Laws:
    - Each distinct content is judged once; what tells replicas apart is metadata.
    - A kind whose schema is not known here is not judged.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from libs.apiserver import objects
from libs.apiserver.field_errors import FieldError
from libs.apiserver.objects import FINE, Judgement
from libs.apiserver.rules import pod_groups
from libs.apiserver.types.walking import UnknownField
from libs.domain.errors import InvalidRequest
from libs.kube.crd_files import known_crds

_CUSTOM = ("autoscaling.x-k8s.io", "karpenter.kwok.sh", "karpenter.sh")
"""Groups that our CRDs define."""
_POD_GROUPS = {
    ("scheduling.k8s.io", "PodGroup"): pod_groups.validate,
    ("scheduling.x-k8s.io", "PodGroup"): pod_groups.validate_of_plugins,
}
_BY_NAME = frozenset({"PriorityClass"})
"""Kinds of which what is allowed depends on the name."""
_LONGEST = 600
"""Characters of a message; the API server's longest own words have 400."""
_TOLD = 3
"""Most errors that one message tells."""
_KARPENTER = "karpenter.sh"
_MOVED = (
    "; what else changed: spec.disruption.expireAfter is spec.template.spec.expireAfter, "
    "spec.template.spec.kubelet belongs to the node class, nodeClassRef has group instead of "
    "apiVersion, consolidationPolicy WhenUnderutilized is WhenEmptyOrUnderutilized"
)


class Judge:
    """Judges objects, and remembers what it has seen."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, bytes], Judgement] = {}

    def of(self, document: Mapping[str, Any]) -> Judgement:
        """Return what would be refused of an object, and what would be dropped.

        Args:
            document: plain JSON values, without nulls.

        Raises:
            InvalidRequest: it is nested too deeply.
        """
        api_version, kind = document["apiVersion"], document["kind"]
        try:
            about = objects.judge_metadata(document.get("metadata", {}), kind)
            content = self._content(api_version, kind, document)
        except RecursionError:
            raise InvalidRequest("is nested too deeply") from None
        if about == FINE:
            return content
        return Judgement(
            errors=(*about.errors, *content.errors), unknown=(*about.unknown, *content.unknown)
        )

    def _content(self, api_version: str, kind: str, document: Mapping[str, Any]) -> Judgement:
        # What a status says, controllers have written; of a node it is what a file is about.
        apart = ("metadata",) if kind == "Node" else ("metadata", "status")
        content = {name: value for name, value in document.items() if name not in apart}
        if kind in _BY_NAME:
            content["metadata"] = {"name": document.get("metadata", {}).get("name", "")}
        try:
            key = api_version, kind, msgspec.json.encode(content)
        except (OverflowError, TypeError, ValueError):  # no JSON of any API server
            return _judged(api_version, kind, content)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _judged(api_version, kind, content)
        return found


def refusal(errors: tuple[FieldError, ...]) -> InvalidRequest | None:
    """Return the errors as one, with the field of the first; None if there are none."""
    if not errors:
        return None
    first, *others = errors
    more = [f"{one.field}: {short(one.message)}" for one in others[: _TOLD - 1]]
    hidden = len(others) - len(more)
    detail = "; ".join((short(first.message), *more))
    return InvalidRequest(f"{detail} (and {hidden} more)" if hidden else detail, field=first.field)


def short(text: str) -> str:
    """Return a text in one line that people can read, whatever it quotes."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return shown if shown.isprintable() else shown.encode("unicode_escape").decode()


def check_version(api_version: str, kind: str) -> None:
    """Refuse a version of Karpenter's kinds that is not read.

    Raises:
        InvalidRequest: the version is unknown; the message says what to do.
    """
    group, _, version = api_version.rpartition("/")
    if group != _KARPENTER or (crd := known_crds().get((group, kind))) is None:
        return
    if version not in crd.versions:
        served = " or ".join(f"{group}/{name}" for name in crd.versions)
        moved = _MOVED if version == "v1beta1" else ""
        raise InvalidRequest(
            f"{api_version} is not read; write the object as {served}{moved}", field="apiVersion"
        )


def read_as(api_version: str, kind: str) -> str:
    """Return the API version as which another one is read, empty if it is that."""
    group, _, version = api_version.rpartition("/")
    crd = known_crds().get((group, kind)) if group in _CUSTOM else None
    if crd is not None:
        known = list(crd.versions)
        return "" if version in known else f"{group}/{known[0]}"
    stable = f"{group}/v1".removeprefix("/")
    if api_version == stable or not objects.builtin_type(stable, kind):
        return ""
    return stable


def unknown_notes(found: Iterable[tuple[str, UnknownField]]) -> list[str]:
    """Return what is to be said of unknown fields.

    Args:
        found: what to call the object, and the field.
    """
    named: dict[tuple[str, str], list[str]] = {}
    for shown, field in found:
        kind = shown.partition(' "')[0]
        named.setdefault((kind, _told(field)), []).append(shown)
    notes = []
    for (_, told), those in named.items():
        more = f" and {len(those) - 1} more" if len(those) > 1 else ""
        notes.append(f"{those[0]}{more}: {told}")
    return notes


def _told(field: UnknownField) -> str:
    meant = f"; did you mean {field.meant}?" if field.meant else ""
    return f"unknown field {field.path}, which is passed over{meant}"


def _judged(api_version: str, kind: str, content: dict[str, Any]) -> Judgement:
    if type_ := objects.builtin_type(api_version, kind):
        return objects.judge(type_, content)
    group, _, version = api_version.rpartition("/")
    if rules := _POD_GROUPS.get((group, kind)):
        return Judgement(errors=tuple(rules(content)))
    crd = known_crds().get((group, kind)) if group in _CUSTOM else None
    if crd is None or version not in crd.versions:
        return FINE
    return objects.judge_custom(crd.versions[version], content)
