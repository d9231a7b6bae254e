"""The production trace of Alibaba (openb, 2023) as Kubernetes objects.

Every pod waits: what the trace says of its fate is left out. A share of a GPU (milli-GPU) is one
GPU here. The trace's own machines become cordoned Nodes, so that a plan has to buy for every pod;
`ready` machines take pods, too. Seconds of the trace count from an arbitrary day, 2023-01-01.
"""

import csv
import uuid
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TextIO

from cli.options import Machines
from libs.domain.errors import InvalidRequest

GPU_MODEL = "openb.joiner.io/gpu-model"
NAMESPACE = "openb"
_GPU = "nvidia.com/gpu"
_START = datetime(2023, 1, 1, tzinfo=UTC)
_MOST_DIGITS = 12
_POD_COLUMNS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_spec", "qos", "creation_time")
_NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
_PODS_PER_NODE = 110


def pods(lines: TextIO, source: str) -> Iterator[dict[str, Any]]:
    """Yield a pending Pod per row.

    Raises:
        InvalidRequest: a column is missing or a value is no number; names file, line and column.
    """
    for place, row in _rows(lines, source, _POD_COLUMNS):
        created = _START + timedelta(seconds=_number(row, "creation_time", place))
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": row["name"],
                "namespace": NAMESPACE,
                "uid": _uid("pod", row["name"]),
                "creationTimestamp": f"{created:%Y-%m-%dT%H:%M:%SZ}",
                "labels": {"openb.joiner.io/qos": row["qos"]},
            },
            "spec": _pod_spec(row, place),
            "status": {
                "phase": "Pending",
                "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
                ],
            },
        }


def nodes(lines: TextIO, source: str, machines: Machines) -> Iterator[dict[str, Any]]:
    """Yield a Node per row, cordoned or ready.

    Raises:
        InvalidRequest: a column is missing or a value is no number; names file, line and column.
    """
    for place, row in _rows(lines, source, _NODE_COLUMNS):
        resources = _resources(row, "gpu", place) | {"pods": str(_PODS_PER_NODE)}
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": row["sn"],
                "uid": _uid("node", row["sn"]),
                "creationTimestamp": f"{_START:%Y-%m-%dT%H:%M:%SZ}",
                "labels": {
                    "kubernetes.io/hostname": row["sn"],
                    "kubernetes.io/arch": "amd64",
                    "kubernetes.io/os": "linux",
                    **({GPU_MODEL: row["model"]} if row["model"] else {}),
                },
            },
            "spec": {"unschedulable": True} if machines is Machines.CORDONED else {},
            "status": {
                "capacity": resources,
                "allocatable": resources,
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }


def as_list(objects: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the List that kubectl would print."""
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}


def _pod_spec(row: Mapping[str, str], place: str) -> dict[str, Any]:
    resources = _resources(row, "num_gpu", place)
    spec: dict[str, Any] = {
        "containers": [
            {
                "name": "main",
                "image": "openb",
                "resources": {
                    "requests": resources,
                    "limits": {key: amount for key, amount in resources.items() if key == _GPU},
                },
            }
        ]
    }
    models = sorted(set(filter(None, row["gpu_spec"].split("|"))))
    if models:
        expression = {"key": GPU_MODEL, "operator": "In", "values": models}
        term = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        spec["affinity"] = {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}
        }
    return spec


def _resources(row: Mapping[str, str], gpu_column: str, place: str) -> dict[str, str]:
    gpus = _number(row, gpu_column, place)
    return {
        "cpu": f"{_number(row, 'cpu_milli', place)}m",
        "memory": f"{_number(row, 'memory_mib', place)}Mi",
        **({_GPU: str(gpus)} if gpus else {}),
    }


def _rows(
    lines: TextIO, source: str, columns: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, str]]]:
    reader = csv.DictReader(lines)
    try:
        yield from _checked(reader, source, columns)
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"not text in UTF-8: {error.reason}", field=source) from None
    except csv.Error as error:
        raise InvalidRequest(f"not CSV: {error}", field=source) from None


def _checked(
    reader: "csv.DictReader[str]", source: str, columns: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, str]]]:
    missing = [name for name in columns if name not in (reader.fieldnames or ())]
    if missing:
        raise InvalidRequest(f"columns are missing: {', '.join(missing)}", field=source)
    for row in reader:
        place = f"{source}:{reader.line_num}"
        if any(row[name] is None for name in columns):
            raise InvalidRequest("the row is shorter than the header", field=place)
        if not row[columns[0]]:
            raise InvalidRequest(f"a value is needed in column {columns[0]}", field=place)
        yield place, row


def _number(row: Mapping[str, str], column: str, place: str) -> int:
    text = row[column]
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise InvalidRequest(f"column {column}: {text!r:.40} is not a whole number", field=place)
    return int(text)


def _uid(kind: str, name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{kind}.{name}.openb"))
