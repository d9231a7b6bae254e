"""Replays recorded answers of a real API server about Karpenter's resources against ours.

A line holds a request and the answer to it (schema: README of the data). Each is played against an
`ApiServer` that holds nothing but the CRDs and the object that was stored before.

Laws: one line leaves nothing behind for the next; a rule is known by where it stands in our CRDs,
not by its words, so that those may be mended freely.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from services.simulator.core.api.messages import Request, Response
from services.simulator.core.api.placement import key_of
from services.simulator.core.api.server import ApiServer
from services.simulator.rule_ids import RuleIds, number_rules

Line = Mapping[str, Any]

_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"

_LONGEST_PREFIX = 58
"""How much of a generateName is left before the five characters."""

_HIDDEN = ("uid", "creationTimestamp", "managedFields", "resourceVersion")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one line showed."""

    id: int
    op: str
    alike: bool
    """Whether ours accepts what was accepted and refuses what was refused."""
    differences: tuple[str, ...]
    """What differs, in words; none if the whole answer agrees."""

    @property
    def agrees(self) -> bool:
        """Return whether the whole answer is the same."""
        return not self.differences


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A server with one set of CRDs, and the ids of their rules."""

    server: ApiServer
    rules: RuleIds


def set_stage(server: ApiServer, crds: Mapping[str, Mapping[str, Any]]) -> Stage:
    """Install CRD objects, given by kind, on a server that has no custom resources.

    Raises:
        ApiError: the server refuses one.
        InvalidRequest: a rule has no number.
    """
    for crd in crds.values():
        server.store.create(_DEFINITIONS, json.loads(json.dumps(crd)))
    return Stage(server=server, rules=number_rules(crds))


def replay(lines: Iterable[Line], stages: Mapping[str, Stage]) -> Iterator[Result]:
    """Play each line and compare the answers.

    Args:
        lines: the decoded lines, in any order.
        stages: a server for each value of `crds`.
    """
    for line in lines:
        stage = stages[line["crds"]]
        answer, stored = _play(line, stage.server)
        yield Result(
            id=line["id"],
            op=line["op"],
            alike=(answer.status < 400) == (line["status"] < 400),
            differences=tuple(_differences(line, answer, stored, stage.rules)),
        )


def _play(line: Line, server: ApiServer) -> tuple[Response, Mapping[str, Any] | None]:
    """Return the answer and the object as it is stored then, None if there is none."""
    kind = server.store.resource(_plural(line))
    body, old = line["object"], line["old"]
    if old is not None:
        body = _put_down(line, server)
    answer = server.handle(
        Request(
            method="POST" if line["op"] == "create" else "PUT",
            path=_path(line),
            query={name: (value,) for name, value in line["query"].items()},
            headers={"content-type": "application/json"},
            body=json.dumps(body).encode(),
        )
    )
    stored = None
    for version in server.store.storage.scan(kind.bucket):
        stored = version.object
        server.store.storage.remove(kind.bucket, version.key)
    return answer, stored


def _put_down(line: Line, server: ApiServer) -> Any:
    """Store what the line says was there before; return the body with its resourceVersion."""
    kind = server.store.resource(_plural(line))
    old, mode = json.loads(json.dumps(line["old"])), line.get("resourceVersion", "current")
    name, namespace = old["metadata"]["name"], old["metadata"].get("namespace", "")
    metadata = {"uid": "00000000-0000-0000-0000-000000000001", **old["metadata"]}
    stamped = {"creationTimestamp": "2024-01-01T00:00:00Z", **metadata}
    whole = {**old, "apiVersion": kind.group_version, "kind": kind.kind, "metadata": stamped}
    key = key_of(kind, name, namespace)
    revisions = [
        server.store.storage.write(kind.bucket, key, json.loads(json.dumps(whole))).revision
        for _ in range(2)
    ]
    sent = {"current": str(revisions[1]), "stale": str(revisions[0]), "zero": "0", "bad": "abc"}
    body = line["object"]
    if mode not in sent or line["op"] == "create" or not isinstance(body, dict):
        return body
    if not isinstance(body.get("metadata"), dict):
        return body
    return {**body, "metadata": {"resourceVersion": sent[mode], **body["metadata"]}}


def _plural(line: Line) -> str:
    gvk = line["gvk"]
    ending = "es" if gvk["kind"].endswith("ss") else "s"
    return f"{gvk['kind'].lower()}{ending}.{gvk['group']}"


def _path(line: Line) -> str:
    gvk = line["gvk"]
    parts = ["/apis", gvk["group"], gvk["version"]]
    if line.get("namespace"):
        parts += ["namespaces", line["namespace"]]
    parts.append(_plural(line).partition(".")[0])
    if line["op"] != "create":
        parts.append(line["name"])
    if line["op"] in ("status", "scale"):
        parts.append(line["op"])
    return "/".join(parts)


def _differences(
    line: Line, answer: Response, stored: Mapping[str, Any] | None, rules: RuleIds
) -> Iterator[str]:
    body = json.loads(answer.body)
    if answer.status != line["status"]:
        yield f"status {answer.status}, recorded {line['status']}: {body.get('message', '')}"
        return
    if answer.status >= 400:
        yield from _refusal_differences(line, body, rules)
    else:
        yield from _object_differences(line, body, stored)
    yield from _warning_differences(line, answer, rules)


def _refusal_differences(line: Line, body: Mapping[str, Any], rules: RuleIds) -> Iterator[str]:
    if body.get("reason") != line["reason"]:
        yield f"reason {body.get('reason')}, recorded {line['reason']}"
    if not _words_compare(line):
        return
    causes = (body.get("details") or {}).get("causes", ())
    ours = {
        rules.identify(line["gvk"]["kind"], _with_hidden_suffix(line, cause)) for cause in causes
    }
    recorded = {_recorded_cause(cause) for cause in line["causes"]}
    yield from (f"cause only here: {_spell(cause)}" for cause in sorted(ours - recorded))
    yield from (f"cause only recorded: {_spell(cause)}" for cause in sorted(recorded - ours))


def _with_hidden_suffix(line: Line, cause: Mapping[str, str]) -> Mapping[str, str]:
    """Return a cause whose generated name ends in `<5>`, as the lines have it."""
    metadata = line["object"].get("metadata") if isinstance(line["object"], dict) else None
    prefix = metadata.get("generateName") if isinstance(metadata, dict) else None
    if not isinstance(prefix, str) or not prefix or cause["field"] != "metadata.name":
        return cause
    generated = re.escape(prefix[:_LONGEST_PREFIX]) + r"[a-z0-9]{5}\""
    hidden = f'{prefix[:_LONGEST_PREFIX]}<5>"'
    return {**cause, "message": re.sub(generated, lambda _: hidden, cause["message"])}


def _words_compare(line: Line) -> bool:
    """Return whether the answer's words are comparable; those of other codes name Go types."""
    return line["status"] not in (400, 409, 500)


def _recorded_cause(cause: Mapping[str, str]) -> tuple[str, str, str]:
    if "rule" not in cause:
        return cause["field"], cause["reason"], cause["message"]
    error = f" not evaluated: {cause['notEvaluated']}" if "notEvaluated" in cause else ""
    return cause["field"], cause["reason"], cause["rule"] + error


def _spell(cause: tuple[str, ...]) -> str:
    return " | ".join(cause)


def _object_differences(
    line: Line, body: Mapping[str, Any], stored: Mapping[str, Any] | None
) -> Iterator[str]:
    if "scale" in line:
        ours = {name: body.get(name) for name in line["scale"]}
        if ours != line["scale"]:
            yield f"scale {ours}, recorded {line['scale']}"
    persisted = line.get("persisted", True)
    shown = stored if persisted else body
    if shown is None:
        yield "nothing was stored"
        return
    ours = _visible(shown, line["stored"])
    if _spelled(ours) != _spelled(line["stored"]):
        yield f"object {_spelled(ours)}, recorded {_spelled(line['stored'])}"


def _visible(obj: Mapping[str, Any], recorded: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _HIDDEN}
    if "nameLength" in recorded["metadata"]:
        metadata["nameLength"] = len(metadata.pop("name"))
    parts = {name: obj[name] for name in ("spec", "status") if name in obj}
    return {"metadata": metadata, **parts}


def _spelled(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


_WARNING = re.compile(r"(?P<field>[^\s:]+): (?P<message>.*)", re.DOTALL)


def _warning_differences(line: Line, answer: Response, rules: RuleIds) -> Iterator[str]:
    ours = {_own_warning(text, line["gvk"]["kind"], rules) for text in answer.warnings}
    recorded = {
        f"{warning['field']}: {warning['rule']}" if "rule" in warning else warning["message"]
        for warning in line.get("warnings", ())
    }
    if ours != recorded:
        yield f"warnings {sorted(ours)}, recorded {sorted(recorded)}"


def _own_warning(text: str, kind: str, rules: RuleIds) -> str:
    found = _WARNING.fullmatch(text)
    if found is None:
        return text
    cause = {"reason": "", **found.groupdict()}
    field, _, what = rules.identify(kind, cause)
    return text if what == cause["message"] else f"{field}: {what}"
