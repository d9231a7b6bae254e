"""Plans over nodes, types and pods with GPUs that are claimed."""

from typing import Any

from libs.domain import labels as label_keys
from libs.domain.device import DeviceClaim, DevicePool
from libs.domain.plan import Plan
from libs.domain.pod import PodShape
from libs.domain.solution import SolveOptions
from tests.support.builders import a_catalogue, a_shape, a_type, pods, require
from tests.unit.services.solver.core.asking import plan_of
from tests.unit.services.solver.core.devices.pools import CLASSES, a_claim, a_device, a_pool

OPEN = SolveOptions(feature_gates={"DynamicResources": True})
ZONE_B = (require((label_keys.ZONE, "In", ["zone-b"])),)


def gpus_of(node: str, count: int, **fields: Any) -> DevicePool:
    devices = [a_device(f"gpu-{index}") for index in range(count)]
    return a_pool(*devices, pool=node, node_name=node, **fields)


def a_gpu_type(name: str, gpus: int, price: int, **fields: Any) -> Any:
    own = [a_pool(*(a_device(f"gpu-{index}") for index in range(gpus)))] if gpus else []
    return a_type(name, price=price, device_pools=tuple(own), **fields)


def claiming(*claims: DeviceClaim, number: int = 1, **fields: Any) -> PodShape:
    return a_shape(number, device_claims=claims or (a_claim(),), **fields)


def plan_with(*pools: DevicePool, gates: SolveOptions = OPEN, **snapshot: Any) -> Plan:
    snapshot.setdefault("shapes", [claiming()])
    snapshot.setdefault("pods", pods(1))
    classes = list(CLASSES.values())
    return plan_of(gates, device_pools=pools, device_classes=classes, **snapshot)


CATALOGUE = a_catalogue(
    a_gpu_type("plain", 0, 10), a_gpu_type("one", 1, 20), a_gpu_type("two", 2, 30)
)
FEW: dict[str, Any] = {"catalogues": [a_catalogue(a_gpu_type("plain", 0, 10))]}
