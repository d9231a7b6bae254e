"""From the short form of devices, and of claims to them, to Kubernetes objects."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.scenarios.words import checked, merged, requirement

Object = dict[str, Any]
Short = Mapping[str, Any]

_OBJECT = ("name", "metadata", "spec", "status")
_CLASS = {*_OBJECT, "selectors"}
_TEMPLATE = {*_OBJECT, "requests", "constraints"}
_CLAIM = {*_TEMPLATE, "held", "at", "for"}
_SLICE = {
    *("driver", "pool", "node", "at", "devices", "counters", "generation", "of"),
    *("metadata", "spec"),
}


def device_class(short: str | Short) -> Object:
    """Return the class of the devices of the driver `NAME.example.com`, or by other selectors."""
    whole = {"name": short} if isinstance(short, str) else short
    checked(whole, _CLASS)
    own = [f'device.driver == "{whole["name"]}.example.com"']
    made = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": whole["name"]},
        "spec": {"selectors": _selectors(whole.get("selectors", own))},
    }
    return _finished(made, whole)


def device_template(short: Short) -> Object:
    """Return the template of a claim that each pod has for itself."""
    checked(short, _TEMPLATE)
    made = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": short["name"], "namespace": "default"},
        "spec": {"spec": _claimed(short)},
    }
    return _finished(made, short)


def device_claim(short: Short) -> Object:
    """Return a claim; it is allocated where it holds something."""
    checked(short, _CLAIM)
    made: Object = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": short["name"], "namespace": "default"},
        "spec": _claimed(short),
    }
    if "held" in short:
        allocation: Object = {"devices": {"results": [_result(one) for one in short["held"]]}}
        if "at" in short:
            allocation["nodeSelector"] = _nodes(short["at"])
        made["status"] = {
            "allocation": allocation,
            "reservedFor": [
                {"resource": "pods", "name": name, "uid": f"default/{name}"}
                for name in short.get("for", ())
            ],
        }
    return _finished(made, short)


def resource_slices(shorts: Iterable[Short]) -> Iterator[Object]:
    """Yield the slices; each pool has as many of a generation as are listed, unless one says."""
    specs = [(short, slice_spec(short, short.get("node", "network"))) for short in shorts]
    counts = Counter(_edition(spec) for _, spec in specs)
    for number, (short, spec) in enumerate(specs):
        spec["pool"]["resourceSliceCount"] = short.get("of", counts[_edition(spec)])
        made = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"slice-{number}"},
            "spec": spec,
        }
        yield _finished(made, short)


def slice_spec(short: Short, pool: str) -> Object:
    """Return what a slice says, of a pool of this name unless it names another.

    It is a node's, or of nodes with some labels, or else of all.
    """
    checked(short, _SLICE)
    spec: Object = {
        "driver": short.get("driver", "gpu.example.com"),
        "pool": {"name": short.get("pool", pool), "generation": short.get("generation", 1)},
    }
    if "node" in short:
        spec["nodeName"] = short["node"]
    elif "at" in short:
        spec["nodeSelector"] = _nodes(short["at"])
    else:
        spec["allNodes"] = True
    if "counters" in short:
        spec["sharedCounters"] = [
            {"name": name, "counters": _values(counters)}
            for name, counters in short["counters"].items()
        ]
    if "devices" in short:
        spec["devices"] = [_device(one) for one in short["devices"]]
    return spec


def device_id(text: str) -> dict[str, str]:
    """Return `driver/pool/device` as fields."""
    driver, pool, device = text.split("/")
    return {"driver": driver, "pool": pool, "device": device}


def _edition(spec: Object) -> tuple[str, str, int]:
    return spec["driver"], spec["pool"]["name"], spec["pool"]["generation"]


def _device(short: str | Short) -> Object:
    """Return a device; `takes` says what it takes of which set of counters."""
    if isinstance(short, str):
        return {"name": short}
    made = {key: value for key, value in short.items() if key != "takes"}
    if "capacity" in made:
        made["capacity"] = {
            name: one if isinstance(one, Mapping) else {"value": str(one)}
            for name, one in made["capacity"].items()
        }
    if "takes" in short:
        made["consumesCounters"] = [
            {"counterSet": name, "counters": _values(counters)}
            for name, counters in short["takes"].items()
        ]
    return made


def _values(amounts: Short) -> Object:
    return {name: {"value": str(amount)} for name, amount in amounts.items()}


def _claimed(short: Short) -> Object:
    requests = [_request(one) for one in short["requests"]]
    return {"devices": {"requests": requests, "constraints": list(short.get("constraints", ()))}}


def _request(short: str | Short) -> Object:
    """Return a request: by its class alone, or with how many and which, or several ways."""
    whole: Short = {"class": short} if isinstance(short, str) else short
    if "firstAvailable" in whole:
        ways = [_way(one) for one in whole["firstAvailable"]]
        return {"name": whole["name"], "firstAvailable": ways}
    made = _way(whole)
    return {"name": made.pop("name"), "exactly": made}


def _way(short: Short) -> Object:
    made = {"name": short["class"], "deviceClassName": short["class"]}
    made |= {key: value for key, value in short.items() if key != "class"}
    if "selectors" in made:
        made["selectors"] = _selectors(made["selectors"])
    return made


def _result(short: str | Short) -> Object:
    """Return what the request `gpu` got: `driver/pool/device`, or that as `device` and more."""
    if isinstance(short, str):
        return {"request": "gpu", **device_id(short)}
    return {"request": "gpu", **short, **device_id(short["device"])}


def _selectors(expressions: Iterable[str]) -> list[Object]:
    return [{"cel": {"expression": one}} for one in expressions]


def _nodes(short: str | Iterable[str]) -> Object:
    """Return the selector of the node of this name, or of nodes that meet requirements."""
    if isinstance(short, str):
        only = {"key": "metadata.name", "operator": "In", "values": [short]}
        return {"nodeSelectorTerms": [{"matchFields": [only]}]}
    return {"nodeSelectorTerms": [{"matchExpressions": [requirement(one) for one in short]}]}


def _finished(made: Object, short: Short) -> Object:
    return merged(made, {key: short[key] for key in ("metadata", "spec", "status") if key in short})
