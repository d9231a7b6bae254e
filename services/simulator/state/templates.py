"""Names for templates of sets whose ControllerRevisions are not in the input.

Who lists pods and workloads alone leaves them out; without them every pod of a StatefulSet or
DaemonSet would be taken for one of an old template, and be replaced. What the revision was called,
a StatefulSet's status says, and the pods of a DaemonSet.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from services.simulator.core.api.store import Object, Store
from services.simulator.core.controllers.revisions import DAEMON_HASH, REVISIONS, named
from services.simulator.core.objects import controller_of, labels_of

_SETS = ("statefulsets.apps", "daemonsets.apps")


def missing_revisions(store: Store) -> Iterator[Object]:
    """Yield a ControllerRevision for each set that has none, and says how it was called."""
    known = {_owner(one) for one in store.list(REVISIONS)}
    hashes = _newest_hashes(store)
    for resource in _SETS:
        for owner in store.list(resource):
            uid, status = owner["metadata"]["uid"], owner.get("status") or {}
            name = str(status.get("updateRevision") or "")
            digest = name.removeprefix(f"{owner['metadata']['name']}-") or hashes.get(uid, "")
            if uid not in known and digest:
                yield named(owner, digest, 1)


def _newest_hashes(store: Store) -> Mapping[str, str]:
    """Return by owner what its youngest pod has for its revision's hash."""
    found: dict[str, tuple[str, str]] = {}
    for pod in store.list("pods"):
        digest = labels_of(pod).get(DAEMON_HASH)
        if digest and (owner := _owner(pod)):
            born = pod["metadata"]["creationTimestamp"], digest
            found[owner] = max(found.get(owner, born), born)
    return {owner: digest for owner, (_, digest) in found.items()}


def _owner(obj: Mapping[str, Any]) -> str:
    owner = controller_of(obj)
    return str(owner["uid"]) if owner is not None else ""
