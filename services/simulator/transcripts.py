"""Replay recorded conversations with a real API server against the simulator, and say what differs.

The format is that of `apiserver_transcripts.jsonl`: sequences of requests and watches with the
answers of a kube-apiserver. Each sequence gets a cluster of its own, with the admission plug-ins
and controllers that it says it needs.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from uuid import UUID

from services.simulator.core.api.access.gate import Access
from services.simulator.core.api.access.users import ADMIN
from services.simulator.core.api.messages import Request, Response, Stream
from services.simulator.core.api.plugins.admission import ALL_PLUGINS, NO_PLUGINS
from services.simulator.core.api.server import ApiServer
from services.simulator.core.client import Client
from services.simulator.core.controllers.garbage import Garbage
from services.simulator.core.controllers.manager import controller_manager
from services.simulator.core.part import Part
from services.simulator.http import warning_header
from services.simulator.matching import Bindings, filtered

Step = dict[str, Any]
_ROUNDS = 25
"""How often a request is repeated, and how often controllers run in between, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of one sequence."""

    id: str
    differences: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Tell whether the simulator answered as recorded."""
        return not self.differences


def replay(lines: Iterable[str | bytes]) -> Iterator[Result]:
    """Play each line against a cluster of its own."""
    for line in lines:
        sequence = json.loads(line)
        differences = _Player(sequence).play()
        yield Result(id=sequence["id"], differences=tuple(differences))


class _Player:
    """One sequence against one cluster."""

    def __init__(self, sequence: dict[str, Any]) -> None:
        self._steps: list[Step] = sequence["steps"]
        self._bindings = Bindings(compare_managed_fields=bool(sequence.get("managedFields")))
        self._now = datetime(2030, 1, 1, tzinfo=UTC)
        self._made = 0
        self._token = "right" if "auth" in sequence["needs"] else ""
        self._server = ApiServer(
            lambda: self._now,
            self._next_uid,
            self._next_suffix,
            plugins=ALL_PLUGINS if "admission" in sequence["needs"] else NO_PLUGINS,
            access=Access(tokens={self._token: ADMIN} if self._token else {}),
        )
        with_controllers = "controllers" in sequence["needs"]
        self._controllers = _controllers(self._server) if with_controllers else ()
        self._watches: dict[str, Stream] = {}
        self._run_controllers()  # what every cluster has was there before the recording began

    def play(self) -> list[str]:
        """Return the differences of the first step that has any."""
        for number, step in enumerate(self._steps):
            found = self._step(step)
            if found:
                return [f"step {number}: {difference}" for difference in found]
        return []

    def _next_uid(self) -> str:
        self._made += 1
        return str(UUID(int=self._made))

    def _next_suffix(self) -> str:
        self._made += 1
        return f"{self._made:05d}"

    def _step(self, step: Step) -> list[str]:
        if "control" in step:
            return self._control(step["control"])
        if "watch" in step:
            return self._watch(step)
        if "watchOpen" in step:
            answer = self._open(step["watchOpen"])
            if answer.stream is None:
                return [f"watch refused: {answer.status}"]
            self._watches[step["watchOpen"]["name"]] = answer.stream
            return []
        if "watchRead" in step:
            return self._events(self._watches[step["watchRead"]["name"]], step["expect"])
        return self._request(step)

    def _control(self, control: str) -> list[str]:
        verb, _, amount = control.partition(" ")
        if verb == "compact":
            self._server.store.storage.compact()
        elif verb == "forget":
            self._server.store.storage.forget()
        else:
            self._now += timedelta(seconds=float(amount or 0))
            self._run_controllers()
        return []

    def _run_controllers(self) -> None:
        """Step every controller until nothing more is written."""
        for _round in range(_ROUNDS):
            if not self._step_controllers():
                return

    def _step_controllers(self) -> bool:
        """Step every controller once; return whether anything was written."""
        before = self._server.direct.revision
        for controller in self._controllers:
            controller.step(self._now)
        return self._server.direct.revision != before

    def _request(self, step: Step) -> list[str]:
        for _round in range(_ROUNDS if "until" in step else 1):
            answer = self._send(step)
            if "until" not in step or _holds(step["until"], answer):
                break
            if not self._step_controllers():  # who polls sees what is half done
                self._now += timedelta(seconds=1)
        expected = step["expect"]
        differences = []
        if answer.status != expected["status"]:
            differences.append(f"status {answer.status}, recorded {expected['status']}")
        differences += self._compare_headers(expected.get("headers", {}), answer)
        if expected.get("body") is not None:
            body = _body(answer)
            if "filter" in step and isinstance(body, dict):
                body = filtered(body, step["filter"])
            differences += self._bindings.compare(expected["body"], body, "")
        return differences

    def _compare_headers(self, expected: dict[str, Any], answer: Response) -> list[str]:
        found: dict[str, Any] = dict(answer.headers)
        if answer.warnings:
            found["Warning"] = [warning_header(text) for text in answer.warnings]
        if "Content-Type" in expected:
            found["Content-Type"] = answer.content_type
        return self._bindings.compare(expected, found, "headers")

    def _send(self, step: Step) -> Response:
        query = self._bindings.fill(step.get("query") or {})
        headers = {name.lower(): value for name, value in (step.get("headers") or {}).items()}
        headers.setdefault("user-agent", "transcript/1")
        if self._token:
            headers.setdefault("authorization", f"Bearer {self._token}")
        if accept := step.get("accept"):
            headers["accept"] = accept
        body = b""
        if "body" in step:
            filled = self._bindings.fill(step["body"])
            body = filled.encode() if isinstance(filled, str) else json.dumps(filled).encode()
            headers["content-type"] = step.get("contentType", "application/json")
        return self._server.handle(
            Request(
                method=step["method"],
                path=quote(self._bindings.fill(step["path"]), safe="/%:@!$&'()*+,;=~-._"),
                query={name: (str(value),) for name, value in query.items()},
                headers=headers,
                body=body,
            )
        )

    def _open(self, watch: Step) -> Response:
        query = dict(watch.get("query") or {})
        if "/watch/" not in watch["path"]:
            query.setdefault("watch", "true")
        return self._send({"method": "GET", **watch, "query": query})

    def _watch(self, step: Step) -> list[str]:
        answer = self._open(step["watch"])
        if answer.stream is None:
            expected = step.get("expectStatus")
            if answer.status != expected:
                return [f"status {answer.status}, recorded {expected}"]
            if step.get("expectBody") is None:
                return []
            return self._bindings.compare(step["expectBody"], _body(answer), "")
        if "expectStatus" in step:
            return [f"watch accepted, recorded status {step['expectStatus']}"]
        differences = self._events(answer.stream, step["expect"])
        answer.stream.close()
        return differences

    def _events(self, stream: Stream, expected: list[Any]) -> list[str]:
        self._run_controllers()
        events = [json.loads(line) for line in stream.poll().splitlines()]
        return self._bindings.compare(expected, events, "events")


def _controllers(server: ApiServer) -> tuple[Part, ...]:
    """Return the controllers that ran when sequences that need them were recorded."""
    client = Client(server.direct)
    return (*controller_manager(client, server.store.resources), Garbage(server.store))


def _body(answer: Response) -> Any:
    if answer.content_type.startswith("application/json"):
        return json.loads(answer.body)
    return answer.body.decode()


def _holds(until: Step, answer: Response) -> bool:
    if "status" in until and answer.status != until["status"]:
        return False
    body = _body(answer)
    for path, wanted in (until.get("fields") or {}).items():
        value: Any = body
        for name in path.split("."):
            if name == "#":
                value = len(value or ())
            else:
                value = value.get(name) if isinstance(value, dict) else None
        if value != wanted:
            return False
    if condition := until.get("condition"):
        found = (body.get("status") or {}).get("conditions") or () if isinstance(body, dict) else ()
        return any(entry["type"] == condition and entry["status"] == "True" for entry in found)
    return True
