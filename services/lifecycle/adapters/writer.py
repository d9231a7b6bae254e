"""`Writer`: carries out the writes of a step and lets the cache see each answer at once."""

import contextlib
import json
import logging
from datetime import timedelta
from typing import Any

from libs.domain.errors import (
    AlreadyExists,
    JoinerError,
    NotFound,
    StaleRevision,
    Unavailable,
)
from libs.kube import documents
from libs.kube.api import MERGE_PATCH, NODE_CLAIMS, KubeApi
from libs.kube.documents import Target
from libs.kube.events import Event as RecordedEvent
from libs.kube.events import EventRecorder, EventType, Involved
from libs.runtime.backoff import BackoffPolicy
from libs.runtime.clock import Clock
from services.lifecycle.adapters.cache import Cache
from services.lifecycle.adapters.retries import Retries
from services.lifecycle.core import events
from services.lifecycle.core.step import Delete, Evict, Patch, Step, Write
from services.lifecycle.metrics import Metrics

logger = logging.getLogger(__name__)

_EVICTION_BACKOFF = BackoffPolicy(first=timedelta(milliseconds=200), cap=timedelta(seconds=10))


class Writer:
    """The one place where lifecycle changes Kubernetes."""

    def __init__(
        self, api: KubeApi, cache: Cache, recorder: EventRecorder, metrics: Metrics, clock: Clock
    ) -> None:
        self._api = api
        self._cache = cache
        self._recorder = recorder
        self._metrics = metrics
        self._evictions = Retries(_EVICTION_BACKOFF, clock)
        self._unsettled: set[str] = set()
        """Names of claims of which it is not known whether they were created."""

    async def carry_out(self, step: Step) -> bool:
        """Carry out a step and publish what it tells; return whether the cache knows the outcome.

        A deletion and an eviction are known only when the informers tell of them.

        Raises:
            StaleRevision: an object is not what was decided on; look again.
        """
        known = True
        for write in step.writes:
            known = await self._write(write) and known
        for event in step.events:
            self.publish(event)
        for count in step.counts:
            self._metrics.count(count)
        return known

    async def create_claim(self, manifest: dict[str, Any]) -> documents.Document:
        """Create a NodeClaim; raises AlreadyExists.

        Where no answer comes, because it got lost or nobody waits for it any longer, the claim
        counts as unsettled.
        """
        name = manifest["metadata"]["name"]
        self._unsettled.add(name)
        try:
            created = await documents.create(self._api, NODE_CLAIMS, manifest)
        except JoinerError as error:
            if not isinstance(error, Unavailable | AlreadyExists):
                self._unsettled.discard(name)
            raise
        self._unsettled.discard(name)
        self._cache.note(NODE_CLAIMS, created)
        logger.info("created nodeclaim", extra={"nodeclaim": created["metadata"]["name"]})
        return created

    async def stored_claim(self, name: str) -> documents.Document:
        """Read a claim as it is stored now; raises NotFound."""
        try:
            found = await documents.get(self._api, Target(NODE_CLAIMS, name))
        except NotFound:
            self._unsettled.discard(name)
            raise
        self._unsettled.discard(name)
        self._cache.note(NODE_CLAIMS, found)
        return found

    async def settle_claims(self) -> None:
        """Find out whether unsettled claims were created; the cache knows those that were.

        Raises:
            Unavailable: it cannot be found out now.
        """
        for name in sorted(self._unsettled):
            with contextlib.suppress(NotFound):
                await self.stored_claim(name)

    async def evict(self, eviction: Evict) -> None:
        """Evict one pod.

        Raises:
            Unavailable: a budget refuses; NotFound, StaleRevision: the pod is gone.
        """
        pod = documents.pod_target(eviction.namespace, eviction.name)
        code = "200"
        try:
            await documents.evict(self._api, pod, uid=eviction.uid)
        except Unavailable:
            code = "429"
            raise
        except (NotFound, StaleRevision) as error:
            code = "404" if isinstance(error, NotFound) else "409"
            raise
        finally:
            self._metrics.eviction_requests.labels(code).inc()
        self._metrics.pods_drained.labels(eviction.reason).inc()
        subject = events.Subject(
            resource=pod.resource,
            namespace=eviction.namespace,
            name=eviction.name,
            uid=eviction.uid,
        )
        self.publish(events.evicted(subject, eviction.reason))

    def publish(self, event: events.Event) -> None:
        """Write an event soon, once per window."""
        subject = event.subject
        about = Involved(
            resource=subject.resource,
            namespace=subject.namespace,
            name=subject.name,
            uid=subject.uid,
        )
        self._recorder.record(
            RecordedEvent(
                about=about,
                type=EventType.WARNING if event.warns else EventType.NORMAL,
                reason=event.reason.value,
                message=event.message,
                dedupe=event.dedupe,
                window=event.window,
            )
        )

    async def _write(self, write: Write) -> bool:
        match write:
            case Patch():
                await self._patch(write)
                return True
            case Delete():
                await self._delete(write)
            case Evict():
                await self._evict_in_turn(write)
        return False

    async def _patch(self, patch: Patch) -> None:
        metadata = {**patch.body.get("metadata", {}), "resourceVersion": patch.resource_version}
        body = {**patch.body, "metadata": metadata}
        target = Target(patch.resource, patch.name)
        try:
            answer = await self._send_patch(patch, target, body)
        except NotFound:
            self._cache.forget(patch.resource, patch.name, "")
            raise StaleRevision(f'{patch.resource.kind} "{patch.name}" is gone') from None
        self._cache.note(patch.resource, answer)
        logger.debug("patched", extra={"kind": patch.resource.kind, "object": patch.name})

    async def _send_patch(
        self, patch: Patch, target: Target, body: dict[str, Any]
    ) -> documents.Document:
        if patch.content_type == MERGE_PATCH:
            return await documents.merge_patch(
                self._api, target, body, subresource=patch.subresource
            )
        answer: documents.Document = json.loads(
            await self._api.request(
                "PATCH",
                target.path(patch.subresource),
                body=json.dumps(body).encode(),
                content_type=patch.content_type,
            )
        )
        return answer

    async def _delete(self, deletion: Delete) -> None:
        target = Target(deletion.resource, deletion.name, deletion.namespace)
        seconds = deletion.grace_seconds
        grace = None if seconds is None else timedelta(seconds=seconds)
        try:
            await documents.delete(self._api, target, uid=deletion.uid, grace=grace)
        except (NotFound, StaleRevision):
            self._cache.forget(
                deletion.resource, deletion.name, deletion.uid, namespace=deletion.namespace
            )
            return
        kind = deletion.resource.kind
        logger.info("deleted", extra={"kind": kind, "object": deletion.name})

    async def _evict_in_turn(self, eviction: Evict) -> None:
        if self._evictions.left(eviction.uid):
            return
        try:
            await self.evict(eviction)
        except Unavailable as error:
            self._evictions.failed(eviction.uid)
            logger.debug("eviction refused", extra={"pod": eviction.name, "error": str(error)})
        except (NotFound, StaleRevision):
            self._evictions.forget(eviction.uid)
        else:
            self._evictions.forget(eviction.uid)
