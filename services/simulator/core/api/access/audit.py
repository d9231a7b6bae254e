"""The audit log: what was asked by whom, and how it ended, one event for each stage of a request.

Source: Kubernetes documentation, "Auditing"; audit.k8s.io/v1 Event.
"""

import json
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode

from services.simulator.core.api.access.attributes import Attributes
from services.simulator.core.api.access.users import User
from services.simulator.core.api.messages import Request, Response

Object = dict[str, Any]
_LASTING = ("attach", "exec", "log", "portforward", "proxy")
"""Subresources whose answers may go on for long."""

_STATUS = b'{"kind":"Status"'

Write = Callable[[Object], None]
"""Takes an event for good."""


class Level(StrEnum):
    """How much an event tells."""

    METADATA = "Metadata"
    REQUEST = "Request"
    """With the body that was sent."""

    REQUEST_RESPONSE = "RequestResponse"
    """With the body that was answered, too."""


class AuditLog:
    """Writes the events of all requests."""

    def __init__(
        self, write: Write, level: Level, now: Callable[[], datetime], ids: Callable[[], str]
    ) -> None:
        self._write = write
        self._level = level
        self._now = now
        self._ids = ids

    def begin(self, request: Request, asked: Attributes) -> "Trail":
        """Return what is to be told of a request that arrived."""
        now = _micro(self._now())
        event: Object = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": self._level.value,
            "auditID": request.headers.get("audit-id") or self._ids(),
            "stage": "",
            "requestURI": _uri(request),
            "verb": asked.verb,
            "user": {},
            "sourceIPs": [request.source] if request.source else None,
            "userAgent": request.headers.get("user-agent"),
            "objectRef": None if asked.path else _reference(asked),
            "requestReceivedTimestamp": now,
        }
        known = {key: value for key, value in event.items() if value is not None}
        sent = b"" if asked.path else request.body
        return Trail(known, sent, self._level, self._write, self._now)


class Trail:
    """The events of one request."""

    def __init__(
        self, event: Object, sent: bytes, level: Level, write: Write, now: Callable[[], datetime]
    ) -> None:
        self._event = event
        self._sent = sent
        self._level = level
        self._write = write
        self._now = now

    @property
    def identifier(self) -> str:
        """Return the audit ID of the request."""
        return str(self._event["auditID"])

    def received(self, user: User) -> None:
        """Write that somebody asks."""
        self._event["user"] = user.info()
        self._stage("RequestReceived")
        if self._sent:
            self._note_sent(_json(self._sent))

    def _note_sent(self, sent: Any) -> None:
        if self._level is not Level.METADATA:
            self._note(requestObject=sent)
        meta = sent.get("metadata") if isinstance(sent, dict) else None
        name = meta.get("name") if isinstance(meta, dict) else None
        reference = self._event["objectRef"]
        if name and "name" not in reference:
            self._note(objectRef={**reference, "name": name})

    def becomes(self, user: User, constraint: str) -> None:
        """Note as whom somebody asks, and by which narrow right."""
        narrow = {"impersonationConstraint": constraint} if constraint else None
        self._note(impersonatedUser=user.info(), authenticationMetadata=narrow)

    def decided(self, *, allowed: bool, reason: str) -> None:
        """Note what the authorizer said."""
        told = {"decision": "allow" if allowed else "forbid", "reason": reason}
        self._note(annotations={f"authorization.k8s.io/{key}": told[key] for key in told})

    def end(self, response: Response) -> None:
        """Note how a request was answered, and write that it is; a watch ends later."""
        self._note(responseStatus=_status(response))
        if self._event.get("objectRef", {}).get("subresource") in _LASTING:
            self._stage("ResponseStarted")
        if response.stream is not None:
            self._stage("ResponseStarted")
            response.stream.on_close = lambda: self._stage("ResponseComplete")
            return
        if self._level is Level.REQUEST_RESPONSE and "objectRef" in self._event:
            self._note(responseObject=_json(response.body))
        # Who could not be told from anybody has no stages, as in Kubernetes.
        self._stage("ResponseComplete" if self._event["user"] else "ResponseStarted")

    def _note(self, **facts: Any) -> None:
        """Add facts to all further events; those that are None are none."""
        self._event |= {name: value for name, value in facts.items() if value is not None}

    def _stage(self, name: str) -> None:
        self._write({**self._event, "stage": name, "stageTimestamp": _micro(self._now())})


def _reference(asked: Attributes) -> Object:
    reference = {
        "resource": asked.resource,
        "namespace": asked.namespace,
        "name": asked.name,
        "apiGroup": asked.group,
        "apiVersion": asked.version,
        "subresource": asked.subresource,
    }
    return {name: value for name, value in reference.items() if value}


def _uri(request: Request) -> str:
    pairs = [(name, value) for name, values in request.query.items() for value in values]
    return f"{request.path}?{urlencode(pairs)}" if pairs else request.path


def _status(response: Response) -> Object:
    status: Object = {"metadata": {}, "code": response.status}
    if not response.body.startswith(_STATUS):
        return status
    told = _json(response.body) or {}
    names = ("metadata", "status", "message", "reason", "details", "code")
    return status | {name: told[name] for name in names if name in told}


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _micro(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
