"""ControllerRevisions: the templates that a StatefulSet or DaemonSet has had, each with a name.

Apart from both because they keep them alike. A template is known by its content, not by how its
name was computed: so pods of a cluster that was loaded from a dump are not taken for old ones.
Laws: the present template has exactly one revision, and its number is the highest.

Source: Kubernetes documentation, "StatefulSets: Rollbacks", "DaemonSet: Rolling Update".
"""

from collections.abc import Container, Mapping
from typing import Any

from services.simulator.core.api.frozen import thaw
from services.simulator.core.client import Client, controller_uid
from services.simulator.core.controllers import pods
from services.simulator.core.objects import Object, is_deleting, labels_of, owner_reference

REVISIONS = "controllerrevisions.apps"
DAEMON_HASH = "controller-revision-hash"
_SET_HASH = "controller.kubernetes.io/hash"
_GENERATION = "deprecated.daemonset.template.generation"
_PATCH = "$patch"


class Revisions:
    """The revisions of all owners."""

    def __init__(self, client: Client) -> None:
        self._api = client.api
        self._owned = client.index(REVISIONS, controller_uid)

    def present(self, owner: Object) -> Object:
        """Return the revision of an owner's present template, which is stored if it is new."""
        known = self._owned.of(owner["metadata"]["uid"])
        newest = max((one["revision"] for one in known), default=0)
        wanted = _plain(owner["spec"]["template"])
        for one in known:
            if _plain(_template(one)) == wanted:
                if one["revision"] == newest or is_deleting(owner):
                    return one
                return self._api.update(REVISIONS, {**one, "revision": newest + 1})
        made = named(owner, pods.hash_of(owner["spec"]["template"]), newest + 1)
        return made if is_deleting(owner) else self._api.create(REVISIONS, made)

    def of(self, owner: Object) -> dict[str, Object]:
        """Return the revisions of an owner by name."""
        known = self._owned.of(owner["metadata"]["uid"])
        return {one["metadata"]["name"]: one for one in known}

    def forget_old(self, owner: Object, used: Container[str]) -> None:
        """Delete the oldest revisions beyond the history limit that no pod is of.

        Args:
            owner: whose.
            used: names, or hashes, that pods have.
        """
        known = sorted(self._owned.of(owner["metadata"]["uid"]), key=lambda one: one["revision"])
        idle = [
            one
            for one in known[:-1]
            if one["metadata"]["name"] not in used and hash_of(one) not in used
        ]
        limit = owner["spec"].get("revisionHistoryLimit", 10)
        for one in idle[: max(0, len(idle) - limit)]:
            meta = one["metadata"]
            self._api.delete(REVISIONS, meta["name"], meta["namespace"])


def hash_of(revision: Mapping[str, Any]) -> str:
    """Return what a revision's name has after its owner's."""
    labels = labels_of(revision)
    return labels.get(DAEMON_HASH) or labels.get(_SET_HASH) or ""


def template_of(revision: Mapping[str, Any]) -> Object:
    """Return the template that a revision keeps."""
    template: Object = thaw(_template(revision))
    template.pop(_PATCH, None)
    return template


def named(owner: Object, digest: str, number: int) -> Object:
    """Return a new revision of an owner's present template, by the hash that it is to have."""
    meta, template = owner["metadata"], owner["spec"]["template"]
    is_daemon = owner["kind"] == "DaemonSet"
    labels = {**(template["metadata"].get("labels") or {})}
    labels[DAEMON_HASH if is_daemon else _SET_HASH] = digest
    metadata: Object = {
        "name": f"{meta['name']}-{digest}",
        "namespace": meta["namespace"],
        "labels": labels,
        "ownerReferences": [owner_reference(owner)],
    }
    if is_daemon:
        metadata["annotations"] = {_GENERATION: str(meta["generation"])}
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": metadata,
        "data": {"spec": {"template": {_PATCH: "replace", **thaw(template)}}},
        "revision": number,
    }


def _template(revision: Mapping[str, Any]) -> Mapping[str, Any]:
    spec = (revision.get("data") or {}).get("spec") or {}
    template: Mapping[str, Any] = spec.get("template") or {}
    return template


def _plain(value: Any) -> Any:
    """Return a value without what may be there or not: nulls, and how it is to be patched in."""
    if isinstance(value, Mapping):
        plain = {key: _plain(one) for key, one in value.items() if key != _PATCH}
        return {key: one for key, one in plain.items() if one is not None}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
