"""From what is to change, as it was typed, to edits of a snapshot.

They are made in an order in which none takes away what another one names: prices, nodes, workloads,
last what is gone for good.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from typer import BadParameter

from cli.options import WhatIf
from cli.ranges import within
from libs.domain.errors import InvalidRequest
from libs.domain.price_change import LEAST_DELTA_PPM, MOST_DELTA_PPM
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
from services.solver.core.simulating.draft import MOST_ADDED
from services.solver.core.simulating.edited import edited, outdone
from services.solver.core.simulating.owners import is_same_owner

_ADD_NODE = re.compile(
    r"(?P<nodepool>[^=]+)=(?P<instance_type>[^/:]+)/(?P<zone>[^/:]+)/(?P<capacity_type>[^/:]+)"
    r"(:(?P<count>[+-]?[0-9]+))?"
)
_SCALE = re.compile(r"(?P<workload>[^=]+)=(?P<replicas>[+-]?[0-9]+)")
_PRICE = re.compile(
    r"((?P<selector>[^:]*):)?(?P<percent>[+-]?[0-9]{1,32}(\.[0-9]{1,32})?(e[+-]?[0-9]{1,3})?)%",
    re.I,
)
_PPM_PER_PERCENT = 10_000
_LEAST_PERCENT = LEAST_DELTA_PPM // _PPM_PER_PERCENT
_MOST_PERCENT = MOST_DELTA_PPM // _PPM_PER_PERCENT
_ADDED_UP = frozenset({"prices", "add_nodes"})
"""Of what saying it twice says more."""
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

    Prices that are changed twice compound, and nodes that are added twice are two; of a workload
    the last number counts; anything else that is said twice happens once.

    Raises:
        InvalidRequest: a text cannot be read, or names what is not there; names the option.
    """
    _check_workloads(what_if)
    read = [(what_if.where(field, text), edit) for field, text, edit in _edits(what_if)]
    late = outdone([edit for _, edit in read])
    for index, (where, edit) in enumerate(read):
        if index not in late:
            try:
                snapshot = edited(snapshot, [edit])
            except InvalidRequest as error:
                raise InvalidRequest(error.detail, field=where) from None
    return snapshot


def _edits(what_if: WhatIf) -> Iterator[tuple[str, str, Edit]]:
    """Yield field, text and meaning of each change."""
    seen = set()
    for field, text in what_if.texts():
        parse = _PARSERS.get(field)
        if parse is None or (field, text) in seen:
            continue
        if field not in _ADDED_UP:
            seen.add((field, text))
        try:
            yield field, text, parse(text)
        except InvalidRequest as error:
            raise InvalidRequest(error.detail, field=what_if.where(field, text)) from None


def _check_workloads(what_if: WhatIf) -> None:
    """Refuse a workload that is to have some pods and to be gone.

    Raises:
        InvalidRequest: there is one.
    """
    scaled = [(one, text) for text in what_if.scale if (one := _readable(text)) is not None]
    for text in what_if.remove_workloads:
        for one, other in scaled:
            if is_same_owner(one, _scaled(text, 0)):
                raise InvalidRequest(
                    f"{what_if.where('scale', other)} is about the same workload; give one of them",
                    field=what_if.where("remove_workloads", text),
                )


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
        named = [
            one
            for one in wanted
            if (metadata.get("namespace"), metadata["name"]) == (one.namespace, one.name)
            and one.kind in ("", kind)
        ]
        if named:
            yield {**document, "spec": {**spec, "replicas": named[-1].replicas}}


def _readable(text: str) -> ScaleOwner | None:
    try:
        return _scale(text)
    except InvalidRequest:
        return None


def _price(text: str) -> Edit:
    found = _PRICE.fullmatch(text)
    if found is None:
        raise InvalidRequest("write zone=Z,type=T,capacity-type=C:+10%, or less before the colon")
    percent = Decimal(found["percent"])
    if percent < _LEAST_PERCENT:
        raise InvalidRequest("no more than 100 % less")
    if percent > _MOST_PERCENT:
        raise InvalidRequest(f"no more than {_MOST_PERCENT:,} % more")
    selected: dict[str, str] = {}
    for part in filter(None, (found["selector"] or "").split(",")):
        key, _, value = part.partition("=")
        if key not in _PRICE_KEYS or not value:
            known = ", ".join(_PRICE_KEYS)
            raise InvalidRequest(f"{part!r} selects nothing; there are {known}, each with a value")
        if key in selected:
            raise InvalidRequest(f"{key} is there twice; write one --price for each")
        selected[key] = value
    ppm = int(percent * _PPM_PER_PERCENT)
    if percent and not ppm:
        raise InvalidRequest(f"{found['percent']} % is less than prices are told apart by")
    return EditOfferings(
        zone=selected.get("zone", ""),
        capacity_type=selected.get("capacity-type", ""),
        instance_type=selected.get("type", ""),
        price_delta_ppm=ppm,
    )


def _add_node(text: str) -> Edit:
    found = _ADD_NODE.fullmatch(text)
    if found is None:
        raise InvalidRequest("write POOL=TYPE/ZONE/CAPACITY-TYPE, or with :N behind it for N nodes")
    return AddNodes(
        nodepool=found["nodepool"],
        instance_type=found["instance_type"],
        zone=found["zone"],
        capacity_type=found["capacity_type"],
        count=_count(found["count"] or "1", 1),
    )


def _scale(text: str) -> ScaleOwner:
    found = _SCALE.fullmatch(text)
    if found is None:
        raise InvalidRequest("write NS/NAME=N, or NS/KIND/NAME=N")
    return _scaled(found["workload"], _count(found["replicas"], 0))


def _count(digits: str, least: int) -> int:
    """Return how many nodes or pods there are to be."""
    try:
        return within(digits, least, MOST_ADDED)
    except BadParameter as error:
        raise InvalidRequest(error.message) from None


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
