"""What a look at an object asks for: writes with their preconditions, questions, events, counts.

Apart because every part of the state machine speaks in these values, and one executor at the edge
carries them out.

Law: every write names what it was decided on: a resource version where it replaces a list, a uid
where it deletes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from libs.kube.api import MERGE_PATCH, Resource
from services.lifecycle.core.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A patch of one object; the resource version is put into it when it is sent."""

    resource: Resource
    name: str
    resource_version: str
    body: Mapping[str, Any]
    subresource: str = ""
    content_type: str = MERGE_PATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """A deletion; one whose uid is another's by now counts as done."""

    resource: Resource
    name: str
    uid: str
    namespace: str = ""
    grace_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evict:
    """An eviction, which budgets of pods may refuse for now."""

    namespace: str
    name: str
    uid: str
    node: str
    reason: str


Write = Patch | Delete | Evict


class Ask(StrEnum):
    """What only the cloud can answer or do; the answer comes with the next look."""

    LAUNCH = "launch"
    PRESENCE = "presence"
    """Whether the instance still is there."""
    END = "end"
    """End the instance."""
    RESOLVE = "resolve"
    """Resolve the node class."""
    RELEASE = "release"
    """Free what resolving the node class made."""


class Series(StrEnum):
    """Counters of the reference that steps count in."""

    CLAIMS_CREATED = "karpenter_nodeclaims_created_total"
    CLAIMS_DISRUPTED = "karpenter_nodeclaims_disrupted_total"
    CLAIMS_TERMINATED = "karpenter_nodeclaims_terminated_total"
    NODES_CREATED = "karpenter_nodes_created_total"
    NODES_TERMINATED = "karpenter_nodes_terminated_total"
    NODES_DRAINED = "karpenter_nodes_drained_total"


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """One more in a series; the labels are in the series' order."""

    series: Series
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is to be done now; with nothing to write and nothing to ask the object is at rest."""

    writes: tuple[Write, ...] = ()
    """In order; the first that fails ends the step."""
    ask: Ask | None = None
    events: tuple[Event, ...] = ()
    """Published once the writes succeeded."""
    counts: tuple[Count, ...] = ()
    """Counted once the writes succeeded."""
    check_after: timedelta | None = None
    """Look again then, even if nothing changes; None: only on a change."""
    failed: bool = False
    """True where the same is to be tried again with backoff."""


AT_REST = Step()


def soonest(*spans: timedelta | None) -> timedelta | None:
    """Return the shortest span that is set."""
    return min((span for span in spans if span is not None), default=None)
