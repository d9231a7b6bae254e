"""What a pod asks for as a whole: its containers together, its start, what it says of itself.

Source: Kubernetes documentation, "Sidecar Containers": resource sharing; "Resource Management":
pod-level resources.
"""

from collections.abc import Mapping
from typing import Any

from libs.domain import quantity_text

Amounts = dict[str, str]

_OF_PODS = ("cpu", "memory")


def pod_totals(spec: Mapping[str, Any], side: str) -> Amounts:
    """Return requests or limits of a pod, without its overhead.

    Args:
        spec: of the pod.
        side: `requests` or `limits`.
    """
    totals: Amounts = {}
    for container in spec.get("containers") or ():
        add(totals, container["resources"].get(side) or {})
    running: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        asked = container["resources"].get(side) or {}
        if container.get("restartPolicy") == "Always":
            add(totals, asked)
            add(running, asked)
            _raise_to(peak, running)
        else:
            start = dict(running)
            add(start, asked)
            _raise_to(peak, start)
    _raise_to(totals, peak)
    own = (spec.get("resources") or {}).get(side) or {}
    return totals | {
        name: amount
        for name, amount in own.items()
        if name in _OF_PODS or name.startswith("hugepages-")
    }


def add(totals: Amounts, amounts: Mapping[str, str]) -> None:
    """Add amounts to totals, in place."""
    for name, amount in amounts.items():
        totals[name] = quantity_text.total(totals.get(name, "0"), amount)


def _raise_to(totals: Amounts, amounts: Mapping[str, str]) -> None:
    for name, amount in amounts.items():
        if quantity_text.value(amount) > quantity_text.value(totals.get(name, "0")):
            totals[name] = amount
