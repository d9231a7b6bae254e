"""Lease objects: the store for leader election, and a look at another component's lease.

A rival's lease is fresh while the calendar says that it has not run out. That compares two
machines' clocks, which election never does; here an error of some seconds only means that Joiner
begins or stops to act some seconds late, and a rival that runs renews every few.
"""

from datetime import UTC, datetime, timedelta

from libs.domain.errors import NotFound
from libs.kube import documents
from libs.kube.api import LEASES, KubeApi
from libs.kube.objects import policy
from libs.kube.objects.decoding import decode_list, from_document
from libs.runtime.lease import Lease

KARPENTER_LEASE = "karpenter-leader-election"

_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
_NEVER = datetime.fromtimestamp(0, UTC)


class KubeLeaseStore:
    """One Lease object; keeps the laws of `libs.runtime.lease.LeaseStore`.

    But for one: Kubernetes lets an update make a Lease that somebody deleted, so `update` does that
    instead of raising NotFound. Still only one candidate gets it.
    """

    def __init__(self, api: KubeApi, namespace: str, name: str) -> None:
        self._api = api
        self._target = documents.Target(LEASES, name, namespace)

    async def get(self) -> Lease | None:
        """Return the record, `None` if there is none."""
        try:
            return _decode(await documents.get(self._api, self._target))
        except NotFound:
            return None

    async def create(self, lease: Lease) -> Lease:
        """Store the first record; raises AlreadyExists."""
        return _decode(await documents.create(self._api, LEASES, self._document(lease)))

    async def update(self, lease: Lease) -> Lease:
        """Replace the record; raises StaleRevision if it has changed."""
        return _decode(await documents.update(self._api, self._target, self._document(lease)))

    def _document(self, lease: Lease) -> documents.Document:
        metadata = {"name": self._target.name, "namespace": self._target.namespace}
        if lease.resource_version:
            metadata["resourceVersion"] = lease.resource_version
        return {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": metadata,
            "spec": {
                "holderIdentity": lease.holder,
                "leaseDurationSeconds": max(1, round(lease.duration.total_seconds())),
                "acquireTime": lease.acquired_at.astimezone(UTC).strftime(_TIME),
                "renewTime": lease.renewed_at.astimezone(UTC).strftime(_TIME),
                "leaseTransitions": lease.transitions,
            },
        }


async def fresh_lease(api: KubeApi, name: str, now: datetime) -> str:
    """Return `namespace/name` of a lease of that name that is held now, empty if there is none.

    The lease is looked for in every namespace: nobody knows where a rival was installed.
    """
    query = {"fieldSelector": f"metadata.name={name}"}
    found = decode_list(await api.request("GET", LEASES.path(), query=query), policy.Lease)
    for lease in found.items:
        if _is_fresh(lease, now):
            return f"{lease.metadata.namespace}/{lease.metadata.name}"
    return ""


def _is_fresh(lease: policy.Lease, now: datetime) -> bool:
    spec = lease.spec
    if not spec.holder_identity or spec.renew_time is None:
        return False
    return now < spec.renew_time + timedelta(seconds=spec.lease_duration_seconds)


def _decode(document: documents.Document) -> Lease:
    stored = from_document(document, policy.Lease)
    return Lease(
        holder=stored.spec.holder_identity,
        duration=timedelta(seconds=stored.spec.lease_duration_seconds),
        acquired_at=stored.spec.acquire_time or _NEVER,
        renewed_at=stored.spec.renew_time or _NEVER,
        transitions=stored.spec.lease_transitions,
        resource_version=stored.metadata.resource_version,
    )
