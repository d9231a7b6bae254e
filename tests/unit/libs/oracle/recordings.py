"""The recorded verdicts of a real kube-scheduler, kept in `tests/data`."""

import lzma
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parents[3] / "data" / "kube_scheduler_verdicts.jsonl.xz"

_KINDS = {
    "nodes": ("v1", "Node"),
    "namespaces": ("v1", "Namespace"),
    "pods": ("v1", "Pod"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "pvs": ("v1", "PersistentVolume"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "csiNodes": ("storage.k8s.io/v1", "CSINode"),
    "runtimeClasses": ("node.k8s.io/v1", "RuntimeClass"),
}


def recorded_lines(*, start: int = 0, every: int = 1) -> Iterator[str]:
    with lzma.open(_FILE, "rt", encoding="utf-8") as lines:
        yield from islice(lines, start, None, every)


def documents_of(recording: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the objects of a recording as Kubernetes lists them, the pending pod last."""
    objects = [
        {"apiVersion": version, "kind": kind, **one}
        for name, (version, kind) in _KINDS.items()
        for one in recording.get(name) or ()
    ]
    return [*objects, {"apiVersion": "v1", "kind": "Pod", **recording["pending"]}]
