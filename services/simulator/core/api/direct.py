"""The API for callers in the same process: dicts in, frozen dicts out, no JSON.

One thin class over the functions of this package, with the same admission as over HTTP, so that
controllers, kubelets, the scheduler and tests need one thing in their hands.
"""

from typing import Any

from services.simulator.core.api import deletion, pods
from services.simulator.core.api.deletion import Deleted, DeleteOptions
from services.simulator.core.api.patching import engine
from services.simulator.core.api.patching.types import PatchType
from services.simulator.core.api.reading import ListOptions
from services.simulator.core.api.store import Object, Store
from services.simulator.core.api.watching import Watch


class DirectApi:
    """Reads and writes by resource name (`pods`, `deployments.apps`, `nodeclaims.karpenter.sh`).

    What is returned is frozen and shared: `thaw` (`core.api.frozen`) gives a copy to change.
    Refusals are `ApiError`s.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def revision(self) -> int:
        """Return the resourceVersion of the newest write."""
        return self._store.storage.revision

    def get(self, resource: str, name: str, namespace: str = "") -> Object:
        """Return an object; raises the 404."""
        return self._store.get(resource, name, namespace)

    def find(self, resource: str, name: str, namespace: str = "") -> Object | None:
        """Return an object, None if there is none."""
        return self._store.find(resource, name, namespace)

    def list(
        self, resource: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> tuple[Object, ...]:
        """Return the objects of a kind in key order, of one namespace or of all."""
        return self._store.list(resource, namespace, labels=labels, fields=fields)

    def watch(
        self, resource: str, namespace: str | None = None, options: ListOptions | None = None
    ) -> Watch:
        """Return a watch: `poll()` gives what is new, `wake` is called when something may be.

        Without a resourceVersion in `options` it begins with the present state as ADDED events.
        """
        return self._store.watch(resource, namespace, options)

    def create(self, resource: str, obj: Object, namespace: str = "") -> Object:
        """Store a new object; raises 404 (namespace), 409, 422."""
        return self._store.create(resource, obj, namespace).object

    def update(self, resource: str, obj: Object, *, subresource: str = "") -> Object:
        """Replace an object, or with `status` its status.

        A resourceVersion in it must be the current one (409).
        """
        return self._store.update(resource, obj, subresource=subresource).object

    def patch(
        self,
        resource: str,
        name: str,
        change: Any,
        namespace: str = "",
        *,
        subresource: str = "",
        type_: PatchType = PatchType.MERGE,
    ) -> Object:
        """Patch an object, or with `status` its status.

        A merge patch unless another type is given.
        """
        written = engine.patch(
            self._store,
            resource,
            name,
            change,
            namespace=namespace,
            type_=type_,
            subresource=subresource,
        )
        return written.object

    def delete(
        self,
        resource: str,
        name: str,
        namespace: str = "",
        options: DeleteOptions = deletion.BACKGROUND,
    ) -> Deleted:
        """Delete an object, or mark it where a finalizer or grace period keeps it.

        Raises 404, 409.
        """
        return deletion.delete(self._store, resource, name, namespace, options)

    def bind(self, name: str, namespace: str, node: str) -> None:
        """Assign a pod to a node, as a scheduler does; raises 404, 409."""
        pods.bind(
            self._store, name, namespace, {"metadata": {"name": name}, "target": {"name": node}}
        )

    def evict(self, name: str, namespace: str, options: dict[str, Any] | None = None) -> None:
        """Evict a pod if its budget allows; raises 404, 429."""
        pods.evict(self._store, name, namespace, {"deleteOptions": options or {}})
