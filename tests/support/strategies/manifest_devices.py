"""Devices as Kubernetes documents, those that nodes have and those that types bring, and claims."""

from hypothesis import strategies as st

from libs.domain.device import (
    CapacityPolicy,
    CounterUse,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DevicePool,
)
from tests.support.builders import amounts
from tests.support.strategies.choices import chance, pick
from tests.support.strategies.manifest_pods import NAMESPACES, ZONE, ZONES, Document

_DRIVER = "gpu.example.com"
_API = "resource.k8s.io/v1"
_GIB = 2**30
_SELECTORS = (
    'device.attributes["gpu.example.com"].model == "a"',
    'device.attributes["gpu.example.com"].?numa.orValue(0) == 1',
)


@st.composite
def devices_there(draw: st.DrawFn, nodes: tuple[str, ...]) -> tuple[Document, ...]:
    """Return classes, claims and templates of both namespaces, and what nodes have of devices."""
    selector = {"cel": {"expression": f'device.driver == "{_DRIVER}"'}}
    found = [
        _object("DeviceClass", "gpu", {"selectors": [selector]}),
        _object("DeviceClass", "any", {"selectors": []}),
    ]
    for namespace in NAMESPACES:
        template = {"spec": _claim_spec(draw)}
        found.append(_object("ResourceClaimTemplate", "t0", template, namespace=namespace))
        found.append(_object("ResourceClaim", "c0", _claim_spec(draw), namespace=namespace))
    for name in nodes:
        if chance(draw, 60):
            found += _slices(draw, name)
    if chance(draw, 25):
        found.append(_shared_pool(draw))
    return tuple(found)


def claimed(draw: st.DrawFn) -> list[Document]:
    """Return the claims of a pod."""
    return pick(
        draw,
        [{"name": "x", "resourceClaimTemplateName": "t0"}],
        [{"name": "x", "resourceClaimName": "c0"}],
    )


def device_pools(draw: st.DrawFn) -> tuple[DevicePool, ...]:
    """Return what a type brings."""
    shared, counted = chance(draw, 30), chance(draw, 20)
    memory = DeviceCapacity(
        name="memory",
        amount=40 * _GIB * 1000,
        policy=CapacityPolicy(
            default=10 * _GIB * 1000, least=5 * _GIB * 1000, step=5 * _GIB * 1000
        ),
    )
    devices = tuple(
        Device(
            name=f"d{number}",
            attributes=(
                DeviceAttribute(name="model", value=pick(draw, "a", "b")),
                DeviceAttribute(name="numa", value=pick(draw, 0, 1)),
            ),
            shared=shared,
            capacity=(memory,) if shared else (),
            counters=(CounterUse(counter_set="c", amounts=amounts(cpu="1")),) if counted else (),
        )
        for number in range(pick(draw, 1, 2, 4))
    )
    budget = (CounterUse(counter_set="c", amounts=amounts(cpu="2")),) if counted else ()
    return (DevicePool(driver=_DRIVER, pool="types", devices=devices, counters=budget),)


def _claim_spec(draw: st.DrawFn) -> Document:
    requests: list[Document] = []
    for number in range(pick(draw, 1, 1, 2)):
        name = f"r{number}"
        if chance(draw, 25):
            ways: list[Document] = [{"name": way, **_ask(draw)} for way in ("x", "y")]
            requests.append({"name": name, "firstAvailable": ways})
        else:
            requests.append({"name": name, "exactly": _ask(draw)})
    devices: Document = {"requests": requests}
    if chance(draw, 30):
        devices["constraints"] = [{"matchAttribute": f"{_DRIVER}/{pick(draw, 'model', 'numa')}"}]
    return {"devices": devices}


def _ask(draw: st.DrawFn) -> Document:
    found: Document = {"deviceClassName": pick(draw, "gpu", "gpu", "any")}
    if chance(draw, 30):
        found["selectors"] = [{"cel": {"expression": pick(draw, *_SELECTORS)}}]
    if chance(draw, 15):
        found["allocationMode"] = "All"
    else:
        found |= {"allocationMode": "ExactCount", "count": pick(draw, 1, 1, 2)}
    if chance(draw, 20):
        found["tolerations"] = [{"operator": "Exists"}]
    if chance(draw, 20):
        found["capacity"] = {"requests": {"memory": pick(draw, "3Gi", "12Gi", "30Gi")}}
    return found


def _slices(draw: st.DrawFn, node: str) -> list[Document]:
    counted = chance(draw, 20)
    pool = {"name": node, "generation": 1, "resourceSliceCount": 2 if counted else 1}
    devices = [_device(draw, number, counted=counted) for number in range(pick(draw, 1, 2, 3))]
    about = {"driver": _DRIVER, "nodeName": node, "pool": pool}
    found = [_object("ResourceSlice", f"s-{node}", {**about, "devices": devices})]
    if counted:
        budget = [{"name": "c", "counters": {"memory": {"value": "30"}}}]
        found.append(_object("ResourceSlice", f"s-{node}-c", {**about, "sharedCounters": budget}))
    return found


def _device(draw: st.DrawFn, number: int, *, counted: bool) -> Document:
    found: Document = {
        "name": f"d{number}",
        "attributes": {
            "model": {"string": pick(draw, "a", "b")},
            "numa": {"int": pick(draw, 0, 1)},
        },
    }
    if chance(draw, 30):
        policy = {"default": "10Gi", "validRange": {"min": "5Gi", "step": "5Gi"}}
        found["allowMultipleAllocations"] = True
        found["capacity"] = {"memory": {"value": "40Gi", "requestPolicy": policy}}
    if counted:
        use = {"memory": {"value": pick(draw, "10", "20")}}
        found["consumesCounters"] = [{"counterSet": "c", "counters": use}]
    if chance(draw, 15):
        found["taints"] = [{"key": "bad", "effect": "NoSchedule"}]
    return found


def _shared_pool(draw: st.DrawFn) -> Document:
    """Return devices that several nodes reach."""
    zone = {"key": ZONE, "operator": "In", "values": [pick(draw, *ZONES)]}
    reach: Document = {"allNodes": True}
    if chance(draw, 50):
        reach = {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}}
    spec = {
        "driver": "net.example.com",
        "pool": {"name": "net", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "v0"}, {"name": "v1"}],
        **reach,
    }
    return _object("ResourceSlice", "net", spec)


def _object(kind: str, name: str, spec: Document, *, namespace: str = "") -> Document:
    metadata = {"name": name, "uid": f"{kind}-{namespace}-{name}"}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": _API, "kind": kind, "metadata": metadata, "spec": spec}
