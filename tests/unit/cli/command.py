"""Runs commands in this process, on files that a test writes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from cli.main import app

_RUNNER = CliRunner()
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop", "uid": "web-uid"},
    "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]},
}
NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
}
CLASS = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
POOL: dict[str, Any] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "pool"},
    "spec": {"template": {"spec": {"nodeClassRef": CLASS}}},
}

OFFERING: dict[str, Any] = {
    "Price": 0.5,
    "Requirements": [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]},
    ],
}
TYPE: dict[str, Any] = {
    "name": "small",
    "architecture": "amd64",
    "operatingSystems": ["linux"],
    "resources": {"cpu": "4", "memory": "8Gi"},
    "offerings": [OFFERING],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    code: int
    out: str
    err: str


def joiner(*arguments: object, stdin: bytes | None = None) -> Outcome:
    """Run the command; whatever it does not catch is raised here."""
    result = _RUNNER.invoke(app, [str(one) for one in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(code=result.exit_code, out=result.stdout, err=result.stderr)


def with_members(document: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return a copy with members set by path, `__` between its parts."""
    copy: dict[str, Any] = json.loads(json.dumps(document))
    for path, value in members.items():
        *parents, last = path.split("__")
        target = copy
        for parent in parents:
            target = target.setdefault(parent, {})
        target[last] = value
    return copy


def written(folder: Path, *objects: object, name: str = "in.json") -> Path:
    """Write objects as a List, text or bytes as they are."""
    path = folder / name
    match objects:
        case (bytes() as data,):
            path.write_bytes(data)
        case (str() as text,):
            path.write_text(text, encoding="utf-8")
        case _:
            found = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
            path.write_text(json.dumps(found), encoding="utf-8")
    return path
