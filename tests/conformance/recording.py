"""Ask a real API server our own questions, and write its answers as transcripts.

    python -m tests.conformance.recording FOLDER_OF_BINARIES ../data/own_transcripts.jsonl.gz

The format is that of the given transcripts (`services/simulator/transcripts.py` plays both). The
server runs with no admission plug-ins but those that are always on, as when the given ones were
recorded; every sequence leaves it as it found it. Values that differ from run to run become
placeholders; resourceVersions are numbered in their order within the sequence.
"""

import contextlib
import gzip
import json
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from services.simulator.matching import filtered
from tests.conformance.cluster import MERGE_PATCH, Answer, Cluster
from tests.conformance.placeholders import with_placeholders
from tests.conformance.questions import Question, questions
from tests.conformance.targets import CONTROLLERS, binaries

Object = dict[str, Any]

_WITHOUT = (
    *("DefaultStorageClass", "DefaultTolerationSeconds", "LimitRanger"),
    *("NodeDeclaredFeatureValidator", "PersistentVolumeClaimResize", "PodTopologyLabels"),
    *("Priority", "ResourceQuota", "RuntimeClass", "ServiceAccount"),
    *("StorageObjectInUseProtection", "TaintNodesByCondition"),
)
_SERVERS = {"core": _WITHOUT, "admission": ("ServiceAccount",), CONTROLLERS: _WITHOUT}
"""Which plug-ins a server lacks, by what is asked of it."""

_DEFINITIONS = "/customresourcedefinitions/"
_POLL_SECONDS = 0.05
_REFERENCE = re.compile(r"\$\{(\d+)\.([\w.]+)\}")


def main(assets: str, output: str) -> None:
    """Record every question."""
    asked = list(questions())
    lines: dict[str, Object] = {}
    for server in _SERVERS:
        lines |= _recorded(Path(assets), server, [one for one in asked if _server(one) == server])
    with open(output, "wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        for question in asked:
            file.write(json.dumps(lines[question.id], separators=(",", ":")).encode() + b"\n")


def _server(question: Question) -> str:
    special = [name for name in question.needs if name in _SERVERS and name != "core"]
    return special[0] if special else "core"


def _recorded(assets: Path, server: str, asked: Sequence[Question]) -> dict[str, Object]:
    """Return the sequences of the questions for one server."""
    argument = f"--disable-admission-plugins={','.join(_SERVERS[server])}"
    followers = [server] if server == CONTROLLERS else []
    with (
        tempfile.TemporaryDirectory() as folder,
        binaries(Path(folder), assets, (argument,), followers) as target,
    ):
        cluster = Cluster(target)
        lines = {question.id: record(cluster, question) for question in asked}
        cluster.close()
    return lines


def record(cluster: Cluster, question: Question) -> Object:
    """Return the sequence of one question with the server's answers."""
    answers: list[Answer] = []
    made: list[str] = []
    steps = []
    for step in question.steps:
        asked = _resolved(step, answers)
        answer, expected = _taken(cluster, asked)
        answers.append(answer)
        steps.append({**asked, **expected})
        if answer.status == 201:
            made += _places(asked, answer)
    _clean(cluster, made)
    return {
        "id": question.id,
        "title": question.title,
        "area": question.area,
        "needs": list(question.needs),
        **({"managedFields": True} if question.managed_fields else {}),
        "steps": with_placeholders(steps, managed_fields=question.managed_fields),
    }


def _taken(cluster: Cluster, step: Object) -> tuple[Answer, Object]:
    """Take one step; return the answer and what the step is to expect."""
    if "control" in step:
        time.sleep(float(step["control"].removeprefix("sleep ")))
        return Answer(status=0, headers={}, body=None), {}
    if "watch" in step:
        return _watched(cluster, step["watch"])
    answer = _ask(cluster, step)
    while "until" in step and not holds(step["until"], answer):
        time.sleep(_POLL_SECONDS)
        answer = _ask(cluster, step)
    return answer, {"expect": _expected(answer, step.get("filter"))}


def _watched(cluster: Cluster, watch: Object) -> tuple[Answer, Object]:
    query = {"watch": "true", "timeoutSeconds": "1", **watch.get("query", {})}
    answer = cluster.send("GET", watch["path"], query=query)
    if answer.status != 200:
        refused = {"expect": [], "expectStatus": answer.status, "expectBody": answer.body}
        return answer, refused
    body = answer.body or []
    return answer, {"expect": body if isinstance(body, list) else [body]}


def holds(until: Object, answer: Answer) -> bool:
    """Tell whether an answer is what its step waits for: a status, fields, a true condition."""
    if answer.status != until.get("status", 200):
        return False
    wanted = until.get("condition")
    conditions = (answer.body.get("status") or {}).get("conditions") or () if wanted else ()
    true = {one["type"] for one in conditions if one["status"] == "True"}
    fields = until.get("fields", {})
    same = all(_found(answer.body, path) == value for path, value in fields.items())
    return same and (wanted is None or wanted in true)


def _found(body: Any, path: str) -> Any:
    for name in path.split("."):
        if name == "#":
            body = len(body or ())
        else:
            body = body.get(name) if isinstance(body, dict) else None
    return body


def _ask(cluster: Cluster, step: Object) -> Answer:
    headers = {"User-Agent": "transcript/1", **step.get("headers", {})}
    if "accept" in step:
        headers["Accept"] = step["accept"]
    if "body" in step:
        headers["Content-Type"] = step.get("contentType", "application/json")
    query = step.get("query")
    return cluster.send(
        step["method"], step["path"], step.get("body"), headers=headers, query=query
    )


def _resolved(value: Any, answers: list[Answer]) -> Any:
    """Return a step with `${0.metadata.uid}` replaced by what that step's answer holds there."""
    if isinstance(value, dict):
        return {name: _resolved(member, answers) for name, member in value.items()}
    if isinstance(value, list):
        return [_resolved(item, answers) for item in value]
    if isinstance(value, str):
        return _REFERENCE.sub(lambda found: _read(answers[int(found[1])].body, found[2]), value)
    return value


def _read(body: Any, path: str) -> str:
    for name in path.split("."):
        body = body[int(name)] if isinstance(body, list) else body[name]
    return str(body)


def _expected(answer: Answer, kept: Object | None) -> Object:
    body = answer.body
    if isinstance(body, str):
        with contextlib.suppress(ValueError):
            body = json.loads(body)
    if kept is not None and isinstance(body, dict):
        body = filtered(body, kept)
    headers = {}
    if warning := answer.headers.get("warning"):
        headers["Warning"] = [
            f"299 {text}" for text in warning.removeprefix("299 ").split(", 299 ")
        ]
    return {"status": answer.status, **({"headers": headers} if headers else {}), "body": body}


def _places(step: Object, answer: Answer) -> list[str]:
    """Return the path of what a step created."""
    if not isinstance(answer.body, dict) or "dryRun" in step.get("query", {}):
        return []
    if step["method"] == "PATCH":
        return [step["path"]]
    name = (answer.body.get("metadata") or {}).get("name")
    return [f"{step['path']}/{name}"] if name else []


def _clean(cluster: Cluster, made: list[str]) -> None:
    for path in reversed(made):
        if cluster.get(path).status == 200:
            cluster.patch(path, {"metadata": {"finalizers": None}}, MERGE_PATCH)
            cluster.delete(path, gracePeriodSeconds=0, propagationPolicy="Background")
            if _DEFINITIONS in path:
                cluster.until_gone(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
