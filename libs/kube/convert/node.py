"""A node as planning sees it: the Node joined with its claim.

Apart because until a node is registered and initialized its claim knows better, field by field.

Source: `docs/sources.md` J3 and J4.
"""

from datetime import UTC, datetime

from libs.domain.do_not_disrupt import node_is_protected
from libs.domain.errors import InvalidRequest
from libs.domain.labels import HOSTNAME, INITIALIZED, REGISTERED, canonical_labels
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.pod import VolumeAttachCount
from libs.domain.resources import Resources
from libs.domain.taint import Effect, Taint, is_ephemeral
from libs.kube.convert.migration import migrated_labels
from libs.kube.convert.selectors import sorted_pairs
from libs.kube.objects import node as objects
from libs.kube.objects.metadata import Taint as TaintObject
from libs.kube.objects.storage import CsiNode

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The creation of objects out of files that do not say."""


def node_view(
    node: objects.Node,
    claim: NodeClaim | None,
    csi: CsiNode | None,
    *,
    leaving: bool = False,
    nominated_until: datetime | None = None,
) -> Node:
    """Return the effective view of a node.

    Args:
        node: the node.
        claim: its claim; None for a node that nobody manages, which is registered and initialized.
        csi: what it can attach; None as long as no driver has registered.
        leaving: whether it is going by its claim or its command.
        nominated_until: end of its last nomination.

    Raises:
        InvalidRequest: a taint or quantity that is not legal.
    """
    labels = node.metadata.labels
    registered = claim is None or labels.get(REGISTERED) == "true"
    initialized = claim is None or labels.get(INITIALIZED) == "true"
    capacity = Resources.from_allocatable(node.status.capacity, field="status.capacity")
    allocatable = capacity
    if node.status.allocatable:
        # Where it is missing the API server takes the capacity.
        allocatable = Resources.from_allocatable(
            node.status.allocatable, field="status.allocatable"
        )
    if claim is not None and not initialized:
        capacity = _filled(capacity, claim.capacity)
        allocatable = _filled(allocatable, claim.allocatable)
    annotations = dict(claim.annotations) if claim is not None else {}
    return Node(
        name=node.metadata.name,
        uid=node.metadata.uid or node.metadata.name,
        provider_id=node.spec.provider_id,
        nodeclaim=claim.name if claim is not None else "",
        labels=_labels(node, claim if not registered else None),
        taints=_taints(node, claim, registered=registered, initialized=initialized),
        unschedulable=node.spec.unschedulable,
        capacity=capacity,
        allocatable=allocatable,
        ready=is_ready(node),
        registered=registered,
        initialized=initialized,
        do_not_disrupt=node_is_protected(node.metadata.annotations)
        or node_is_protected(annotations),
        leaving=leaving or node.metadata.deletion_timestamp is not None,
        volume_limits=volume_limits(csi),
        migrated_labels=migrated_labels(csi) if initialized else (),
        declared_features=tuple(sorted(set(node.status.declared_features))),
        created_at=node.metadata.creation_timestamp or EPOCH,
        nominated_until=nominated_until,
    )


def is_ready(node: objects.Node) -> bool:
    """Tell whether the node is Ready; one that no kubelet reports on, out of a file, counts so."""
    return all(one.status == "True" for one in node.status.conditions if one.type == "Ready")


def taints(given: tuple[TaintObject, ...], path: str) -> tuple[Taint, ...]:
    """Return the taints, sorted, each once.

    Raises:
        InvalidRequest: no key, or an effect that there is not.
    """
    found = set()
    for index, one in enumerate(given):
        try:
            effect = Effect(one.effect)
        except ValueError:
            known = ", ".join(Effect)
            raise InvalidRequest(
                f"unknown effect {one.effect!r}, not one of {known}",
                field=f"{path}[{index}].effect",
            ) from None
        if not one.key:
            raise InvalidRequest("a taint needs a key", field=f"{path}[{index}].key")
        found.add(Taint(key=one.key, value=one.value, effect=effect))
    return tuple(sorted(found))


def volume_limits(csi: CsiNode | None) -> tuple[VolumeAttachCount, ...]:
    """Return the most volumes per driver; drivers without a limit are left out."""
    if csi is None:
        return ()
    return tuple(
        VolumeAttachCount(driver=driver.name, count=count)
        for driver in sorted(csi.spec.drivers, key=lambda one: one.name)
        if (count := driver.allocatable.count) is not None and count >= 0 and driver.name
    )


def _labels(node: objects.Node, claim: NodeClaim | None) -> tuple[tuple[str, str], ...]:
    own = node.metadata.labels
    if claim is None:
        return sorted_pairs(canonical_labels(own))
    hostname = own.get(HOSTNAME, node.metadata.name)
    return sorted_pairs({HOSTNAME: hostname, **dict(claim.labels)})


def _taints(
    node: objects.Node, claim: NodeClaim | None, *, registered: bool, initialized: bool
) -> tuple[Taint, ...]:
    present = taints(node.spec.taints, "spec.taints")
    if claim is None or initialized:
        return present
    passing = {(one.key, one.effect) for one in claim.startup_taints}
    return tuple(
        one
        for one in (present if registered else claim.taints)
        if (one.key, one.effect) not in passing and not is_ephemeral(one)
    )


def _filled(reported: Resources, promised: Resources) -> Resources:
    """Return what the node reports, with what it does not report yet from its claim."""
    return Resources({**dict(promised.items()), **{name: n for name, n in reported.items() if n}})
