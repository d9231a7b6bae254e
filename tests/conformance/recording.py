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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.conformance.cluster import MERGE_PATCH, Answer, Cluster
from tests.conformance.questions import Question, questions
from tests.conformance.targets import binaries

Object = dict[str, Any]

_WITHOUT = (
    *("DefaultStorageClass", "DefaultTolerationSeconds", "LimitRanger"),
    *("NodeDeclaredFeatureValidator", "PersistentVolumeClaimResize", "PodTopologyLabels"),
    *("Priority", "ResourceQuota", "RuntimeClass", "ServiceAccount"),
    *("StorageObjectInUseProtection", "TaintNodesByCondition"),
)
_REFERENCE = re.compile(r"\$\{(\d+)\.([\w.]+)\}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_AGE = re.compile(r"(?:\d+[smhd])+")
_ALLOCATED = re.compile(r"10\.0\.0\.\d+")
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_VERSION = re.compile(r'(resourceVersion\\?":\\?")(\d+)')
_KEPT_OF_PREFIX = 58
_AGES = ("Age", "Last Seen", "First Seen", "Duration")


def main(assets: str, output: str) -> None:
    """Record every question."""
    bare = f"--disable-admission-plugins={','.join(_WITHOUT)}"
    with (
        tempfile.TemporaryDirectory() as folder,
        binaries(Path(folder), Path(assets), (bare,), bare=True) as target,
        open(output, "wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file,
    ):
        cluster = Cluster(target)
        for question in questions():
            line = json.dumps(record(cluster, question), separators=(",", ":"))
            file.write(line.encode() + b"\n")
        cluster.close()


def record(cluster: Cluster, question: Question) -> Object:
    """Return the sequence of one question with the server's answers."""
    answers: list[Answer] = []
    made: list[str] = []
    steps = []
    for step in question.steps:
        asked = _resolved(step, answers)
        answer = _ask(cluster, asked)
        answers.append(answer)
        steps.append({**asked, "expect": _expected(answer)})
        if answer.status == 201:
            made += _places(asked, answer)
    _clean(cluster, made)
    return {
        "id": question.id,
        "title": question.title,
        "area": question.area,
        "needs": ["core"],
        **({"managedFields": True} if question.managed_fields else {}),
        "steps": _with_placeholders(steps, managed_fields=question.managed_fields),
    }


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
        body = body[name]
    return str(body)


def _expected(answer: Answer) -> Object:
    body = answer.body
    if isinstance(body, str):
        with contextlib.suppress(ValueError):
            body = json.loads(body)
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


def _with_placeholders(steps: list[Object], *, managed_fields: bool) -> Any:
    """Return the steps with every value that is another in each run replaced by its stand-in."""
    left_out = ("selfLink",) if managed_fields else ("selfLink", "managedFields")
    found: dict[str, str] = {}
    revisions = sorted({int(value) for value in _values(steps, "resourceVersion")})
    answers = json.dumps([step["expect"] for step in steps])
    uids = [uid for uid in dict.fromkeys(_UID.findall(answers)) if not uid.startswith("00000000")]
    found |= {uid: f"$uid{number}" for number, uid in enumerate(uids, 1)}
    tokens = dict.fromkeys(_values(steps, "continue"))
    found |= {token: f"$continue{number}" for number, token in enumerate(tokens, 1)}
    for number, (prefix, name) in enumerate(dict.fromkeys(_generated(steps)), 1):
        found[name] = f"{prefix}$gen{number}"
    numbered = {str(one): f"$rv{number}" for number, one in enumerate(revisions, 1)}

    def text(value: str, name: str) -> str:
        if name == "resourceVersion":
            return numbered.get(value, value)
        for known, stand_in in found.items():
            value = value.replace(known, stand_in)
        value = _VERSION.sub(lambda one: one[1] + numbered.get(one[2], one[2]), value)
        value = _TIME.sub(lambda one: "$time" if _is_recent(one[0]) else one[0], value)
        return (
            "$any" if name in ("clusterIP", "clusterIPs") and _ALLOCATED.fullmatch(value) else value
        )

    return [
        {
            **_mapped(step, text, ()),
            "expect": _mapped(_without_ages(step["expect"]), text, left_out),
        }
        for step in steps
    ]


def _mapped(
    value: Any, text: Callable[[str, str], str], left_out: tuple[str, ...], at: str = ""
) -> Any:
    if isinstance(value, dict):
        return {
            name: _mapped(member, text, left_out, name)
            for name, member in value.items()
            if name not in left_out and name != "expect"
        }
    if isinstance(value, list):
        return [_mapped(item, text, left_out, at) for item in value]
    return text(value, at) if isinstance(value, str) else value


def _without_ages(expected: Object) -> Object:
    """Replace the cells of a table that tell how long ago something was; leave out its prose."""
    body = expected["body"]
    if not isinstance(body, dict) or body.get("kind") != "Table":
        return expected
    columns = [column["name"] for column in body["columnDefinitions"]]
    rows = []
    for row in body["rows"] or ():
        cells = [
            "$age" if name in _AGES and isinstance(cell, str) and _AGE.fullmatch(cell) else cell
            for name, cell in zip(columns, row["cells"], strict=True)
        ]
        rows.append({**row, "cells": cells})
    shown = [
        {name: value for name, value in column.items() if name != "description"}
        for column in body["columnDefinitions"]
    ]
    return {**expected, "body": {**body, "columnDefinitions": shown, "rows": rows}}


def _values(value: Any, name: str) -> Iterator[str]:
    """Yield the texts under a name in answers, in their order; of versions only numbers."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key == name and isinstance(member, str):
                if name != "resourceVersion" or (member.isdigit() and len(member) > 1):
                    yield member
            elif key not in ("body",) or "method" not in value:
                yield from _values(member, name)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item, name)


def _generated(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        prefix, name = value.get("generateName"), value.get("name", "")
        if prefix and "uid" in value and name.startswith(prefix[:_KEPT_OF_PREFIX]):
            yield prefix[:_KEPT_OF_PREFIX], name
        for member in value.values():
            yield from _generated(member)
    elif isinstance(value, list):
        for item in value:
            yield from _generated(item)


def _is_recent(text: str) -> bool:
    """Tell a server's own times from those in questions, which lie before 2026-06."""
    return text >= "2026-06"


if __name__ == "__main__":
    main(*sys.argv[1:])
