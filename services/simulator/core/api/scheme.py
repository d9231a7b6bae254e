"""Which kinds the API knows at all, beside those of definitions: what a body may say it is.

Source: Kubernetes' API reference; wordings as recorded from kube-apiserver 1.36.
"""

from services.simulator.core.api.access.review_kinds import REVIEWS, TOKEN_REQUEST
from services.simulator.core.api.builtin import BUILTIN
from services.simulator.core.api.errors import ApiError, bad_request
from services.simulator.core.api.resources import Resource

_PARTS = {
    ("v1", "Binding"): "core/v1.Binding",
    ("v1", "DeleteOptions"): "meta/v1.DeleteOptions",
    ("policy/v1", "Eviction"): "policy/v1.Eviction",
    ("autoscaling/v1", "Scale"): "autoscaling/v1.Scale",
}
TYPES = {
    (resource.group_version, resource.kind): resource.type
    for resource in (*BUILTIN, *REVIEWS, TOKEN_REQUEST)
} | _PARTS
"""The built-in type behind apiVersion and kind."""

_LISTS = frozenset((resource.group_version, resource.listing) for resource in BUILTIN)
_META = frozenset(("Status", "DeleteOptions", "CreateOptions", "PatchOptions", "UpdateOptions"))
_BUCKETS = {(resource.group_version, resource.kind): resource.bucket for resource in BUILTIN}
_APART = "apiextensions.k8s.io"
"""A group whose server knows nothing of the other kinds."""


def unregistered(kind: str, group_version: str) -> str:
    """Return how a kind is refused that nobody knows."""
    return (
        f'no kind "{kind}" is registered for version "{group_version}" in scheme '
        '"pkg/runtime/scheme.go:111"'
    )


def wrong_kind(resource: Resource, kind: str, group_version: str) -> ApiError:
    """Return the 400 of a body that says it is something else than a resource's objects are."""
    called, version = kind or resource.kind, group_version or resource.group_version
    if not _is_registered(called, version, resource.group):
        why = unregistered(called, version)
    elif _BUCKETS.get((version, called)) == resource.bucket:
        return bad_request(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({resource.group_version})"
        )
    else:
        # Some groups are kept as types of another one.
        package = resource.type.partition("/")[0].replace("events", "core")
        plain = version.rpartition("/")[2]
        into = f"{package}.{resource.kind}"
        why = f"converting ({plain}.{called}) to ({into}): unknown conversion"
    plain = version.rpartition("/")[2]
    return bad_request(
        f'{called} in version "{plain}" cannot be handled as a {resource.kind}: {why}'
    )


def _is_registered(kind: str, group_version: str, asked_group: str) -> bool:
    if asked_group == _APART and group_version.partition("/")[0] != _APART:
        return False
    known = (group_version, kind)
    return known in TYPES or known in _LISTS or (group_version == "v1" and kind in _META)
