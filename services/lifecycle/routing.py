"""Which objects are to be looked at when one changes."""

from collections.abc import Callable, Iterable, Iterator

from libs.kube import api
from libs.kube.convert.nodepool import nodepool_class
from libs.kube.objects.karpenter import NodeClaim, NodeClass
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod
from services.lifecycle.adapters.cache import Cache, Change
from services.lifecycle.core import evictable
from services.lifecycle.core.commands import command_of
from services.lifecycle.loop import Key, Kind


def keys_of(change: Change, cache: Cache) -> Iterable[Key]:
    """Return what a change concerns; pods concern the claim of their node."""
    objects = tuple(one for one in (change.before, change.after) if one is not None)
    if change.resource == api.NODE_POOLS:
        return [Key(Kind.POOL, one.metadata.name) for one in objects[-1:]]
    keys: set[Key] = set()
    for one in objects:
        match one:
            case NodeClaim():
                keys.update(_of_claim(one))
            case Node():
                keys.update(_of_node(one, cache))
            case Pod():
                keys.update(_of_pod_node(one.spec.node_name, cache))
            case NodeClass():
                keys.update(_of_class(one, cache))
    return sorted(keys, key=lambda key: (key.kind, key.name))


def every_key(cache: Cache) -> Iterator[Key]:
    """Yield everything that there is to look at."""
    for claim in cache.claims():
        yield from _of_claim(claim)
    for node in cache.nodes():
        yield Key(Kind.NODE, node.metadata.name)
    for pool in cache.pools():
        yield Key(Kind.POOL, pool.metadata.name)


def pod_event_node(change: Change) -> str:
    """Return the node on which a pod was bound, ended or began to leave; empty for others.

    Source: `docs/sources.md` F7; pods of DaemonSets do not count.
    """
    before, after = change.before, change.after
    pod = after if after is not None else before
    if not isinstance(pod, Pod) or not pod.spec.node_name or evictable.is_daemon(pod):
        return ""
    if not isinstance(before, Pod) or after is None:
        return pod.spec.node_name
    happened = (
        not before.spec.node_name,
        evictable.is_terminal(pod) and not evictable.is_terminal(before),
        pod.metadata.deletion_timestamp is not None and before.metadata.deletion_timestamp is None,
    )
    return pod.spec.node_name if any(happened) else ""


class Router:
    """Hands changes on to the queue; before the first full list of everything to nobody."""

    def __init__(self) -> None:
        self._cache: Cache | None = None
        self._add: Callable[[Key], None] = _nobody
        self._pod_changed: Callable[[str], None] = _nobody

    def begin(
        self, cache: Cache, add: Callable[[Key], None], pod_changed: Callable[[str], None]
    ) -> None:
        """Hand on from now on, and have everything looked at once."""
        self._cache, self._add, self._pod_changed = cache, add, pod_changed
        for key in every_key(cache):
            add(key)

    def end(self) -> None:
        """Hand nothing on any more."""
        self._cache, self._add, self._pod_changed = None, _nobody, _nobody

    def enqueue(self, key: Key) -> None:
        """Have one object looked at, if anybody looks at all."""
        self._add(key)

    def changed(self, change: Change) -> None:
        """Take a change."""
        if self._cache is None:
            return
        node = pod_event_node(change)
        if node:
            self._pod_changed(node)
        if node or not isinstance(change.after, Pod):
            for key in keys_of(change, self._cache):
                self._add(key)


def _nobody(_: object) -> None:
    """Take what nobody wants."""


def _of_claim(claim: NodeClaim) -> Iterator[Key]:
    yield Key(Kind.CLAIM, claim.metadata.name)
    command = command_of(claim)
    if command is not None:
        yield Key(Kind.COMMAND, command.id)


def _of_node(node: Node, cache: Cache) -> Iterator[Key]:
    yield Key(Kind.NODE, node.metadata.name)
    claim = cache.claim_of(node)
    if claim is not None:
        yield Key(Kind.CLAIM, claim.metadata.name)


def _of_pod_node(name: str, cache: Cache) -> Iterator[Key]:
    node = cache.node(name)
    if node is not None:
        yield from _of_node(node, cache)


def _of_class(node_class: NodeClass, cache: Cache) -> Iterator[Key]:
    yield Key(Kind.NODE_CLASS, node_class.metadata.name, node_class.group)
    for pool in cache.pools():
        reference = nodepool_class(pool)
        if (reference.group, reference.name) == (node_class.group, node_class.metadata.name):
            yield Key(Kind.POOL, pool.metadata.name)
