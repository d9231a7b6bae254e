"""The simulated cluster's core: an API server without a transport, and what runs on top of it.

    server = ApiServer(clock_now, ids, suffixes)       # core/api/server.py
    server.handle(Request(...)) -> Response       # HTTP; `Response.stream` for watches
    server.direct                             # the same over dicts, in the process:
        .get(resource, name, namespace="")             #   raises ApiError (404)
        .find(resource, name, namespace="")            #   None instead
        .list(resource, namespace=None, labels="", fields="") -> tuple of objects in key order
        .create(resource, obj, namespace="")
        .update(resource, obj, subresource="")         #   "status" replaces the status alone
        .patch(resource, name, change, namespace="", subresource="", type_=PatchType.MERGE)
        .delete(resource, name, namespace="", options=DeleteOptions(...)) -> Deleted(object, gone)
        .bind(name, namespace, node), .evict(name, namespace)
        .watch(resource, namespace=None, options=ListOptions(...)) -> Watch
        .revision                                      #   resourceVersion of the newest write
    watch.poll() -> list of WatchEvent(type, object)  # ADDED, MODIFIED, …, ERROR (410, then closed)
    watch.wake = callback                              # called by the writer when there may be news
    watch.close()

`resource` is `pods`, `deployments.apps`, `nodeclaims.karpenter.sh`. Objects that come out are
frozen (a change raises TypeError) and shared; `thaw(obj)` of `core/api/frozen.py` gives a copy to
change. Objects that go in are never kept. Refusals are `ApiError`s with `code`, `reason` and the
whole `status`.

Everything here is synchronous and knows no clock, no randomness and no event loop: those are passed
in.
"""
