"""From what is to change, as it was typed, to edits of a snapshot.

They are made in an order in which none takes away what another one names: prices, nodes, workloads,
last what is gone for good.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from cli.options import WhatIf
from libs.domain.errors import InvalidRequest
from libs.domain.scenario import (
    AddNodes,
    CordonNodes,
    Edit,
    EditOfferings,
    RemoveNodePool,
    RemoveNodes,
    RemoveOverlay,
    ScaleOwner,
)
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.simulating.edited import edited

_ADD_NODE = re.compile(
    r"(?P<nodepool>[^=]+)=(?P<instance_type>[^/:]+)/(?P<zone>[^/:]+)/(?P<capacity_type>[^/:]+)"
    r"(:(?P<count>\d{1,9}))?"
)
_SCALE = re.compile(r"(?P<workload>[^=]+)=(?P<replicas>\d{1,9})")
_PRICE = re.compile(r"((?P<selector>[^:]*):)?(?P<percent>[+-]?\d{1,9}(\.\d{1,4})?)%")
_PPM_PER_PERCENT = 10_000
_PRICE_KEYS = ("zone", "type", "capacity-type")
_KINDS = {
    "deploy": "Deployment",
    "deployment": "Deployment",
    "ds": "DaemonSet",
    "daemonset": "DaemonSet",
    "job": "Job",
    "rc": "ReplicationController",
    "replicationcontroller": "ReplicationController",
    "rs": "ReplicaSet",
    "replicaset": "ReplicaSet",
    "statefulset": "StatefulSet",
    "sts": "StatefulSet",
}


def changed(snapshot: ClusterSnapshot, what_if: WhatIf) -> ClusterSnapshot:
    """Return the snapshot after all changes that need no file.

    Raises:
        InvalidRequest: a text cannot be read, or names what is not there; names the option.
    """
    for field, text in what_if.texts():
        parse = _PARSERS.get(field)
        if parse is not None:
            try:
                snapshot = edited(snapshot, [parse(text)])
            except InvalidRequest as error:
                raise InvalidRequest(error.detail, field=what_if.where(field, text)) from None
    return snapshot


def awakened(
    documents: Iterable[tuple[str, Mapping[str, Any]]], what_if: WhatIf
) -> Iterator[Mapping[str, Any]]:
    """Yield the workloads that sleep, with no replica to copy, as they are once scaled.

    Args:
        documents: kind and plain form of the objects of a cluster.
        what_if: what is to change; texts that cannot be read are left to `changed`.
    """
    wanted = [one for one in map(_readable, what_if.scale) if one is not None]
    for kind, document in documents if wanted else ():
        spec, metadata = document.get("spec") or {}, document["metadata"]
        if kind not in _KINDS.values() or spec.get("replicas") != 0:
            continue
        for one in wanted:
            named = (metadata.get("namespace"), metadata["name"]) == (one.namespace, one.name)
            if named and one.kind in ("", kind):
                yield {**document, "spec": {**spec, "replicas": one.replicas}}


def _readable(text: str) -> ScaleOwner | None:
    try:
        return _scale(text)
    except InvalidRequest:
        return None


def _price(text: str) -> Edit:
    found = _PRICE.fullmatch(text)
    if found is None:
        raise InvalidRequest("write zone=Z,type=T,capacity-type=C:+10%, or less before the colon")
    selected: dict[str, str] = {}
    for part in filter(None, (found["selector"] or "").split(",")):
        key, _, value = part.partition("=")
        if key not in _PRICE_KEYS or not value:
            known = ", ".join(_PRICE_KEYS)
            raise InvalidRequest(f"{part!r} selects nothing; there are {known}, each with a value")
        selected[key] = value
    ppm = int(Decimal(found["percent"]) * _PPM_PER_PERCENT)
    return EditOfferings(
        zone=selected.get("zone", ""),
        capacity_type=selected.get("capacity-type", ""),
        instance_type=selected.get("type", ""),
        price_delta_ppm=ppm,
    )


def _add_node(text: str) -> Edit:
    found = _ADD_NODE.fullmatch(text)
    count = int(found["count"] or 1) if found else 0
    if found is None or not count:
        raise InvalidRequest("write POOL=TYPE/ZONE/CAPACITY-TYPE, or with :N behind it for N nodes")
    return AddNodes(
        nodepool=found["nodepool"],
        instance_type=found["instance_type"],
        zone=found["zone"],
        capacity_type=found["capacity_type"],
        count=count,
    )


def _scale(text: str) -> ScaleOwner:
    found = _SCALE.fullmatch(text)
    if found is None:
        raise InvalidRequest("write NS/NAME=N, or NS/KIND/NAME=N")
    return _scaled(found["workload"], int(found["replicas"]))


def _remove_workload(text: str) -> Edit:
    return _scaled(text, 0)


def _scaled(workload: str, replicas: int) -> ScaleOwner:
    parts = workload.split("/")
    if not all(parts) or len(parts) > len(("namespace", "kind", "name")):
        raise InvalidRequest(f"{workload!r} names no workload; write NS/NAME or NS/KIND/NAME")
    *before, name = parts
    kind = before[1] if len(before) > 1 else ""
    return ScaleOwner(
        namespace=before[0] if before else "default",
        kind=_KINDS.get(kind.lower(), kind),
        name=name,
        replicas=replicas,
    )


_PARSERS: Mapping[str, Callable[[str], Edit]] = {
    "remove_overlays": lambda text: RemoveOverlay(name=text),
    "prices": _price,
    "remove_nodes": lambda text: RemoveNodes(names=(text,)),
    "cordon_nodes": lambda text: CordonNodes(names=(text,)),
    "add_nodes": _add_node,
    "scale": _scale,
    "remove_workloads": _remove_workload,
    "without_instance_types": lambda text: EditOfferings(instance_type=text, available=False),
    "without_zones": lambda text: EditOfferings(zone=text, available=False),
    "without_capacity_types": lambda text: EditOfferings(capacity_type=text, available=False),
    "remove_pools": lambda text: RemoveNodePool(name=text),
}
