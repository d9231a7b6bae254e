"""Endpoints and EndpointSlices of services: the pods that they select, ready or not.

Source: Kubernetes documentation, "Service: EndpointSlices, Endpoints".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.client import Client
from services.simulator.core.controllers import pods
from services.simulator.core.controllers.controller import Controller, itself
from services.simulator.core.feed import Change
from services.simulator.core.objects import (
    Object,
    has_ended,
    is_deleting,
    key_of,
    labels_of,
    owner_reference,
    split_key,
    stamp,
)

SERVICES = "services"
SLICES = "endpointslices.discovery.k8s.io"
ENDPOINTS = "endpoints"

_SERVICE = "kubernetes.io/service-name"
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_MANAGER = "endpointslice-controller.k8s.io"
_HEADLESS = "service.kubernetes.io/headless"
_TRIGGERED = "endpoints.kubernetes.io/last-change-trigger-time"
_ENDPOINTS_MANAGED_BY = "endpoints.kubernetes.io/managed-by"
_ENDPOINTS_MANAGER = "endpoint-controller"
_MOST = 100
_PAUSE = timedelta(seconds=1)
_RETRY = timedelta(seconds=10)


def endpoint_slice_controller(client: Client) -> Controller:
    """Return the controller of the endpoints of services."""
    api = client.api
    services = client.index(SERVICES, _namespace)
    slices = client.index(SLICES, _service_key)

    def reconcile(key: str, now: datetime) -> datetime | None:
        namespace, name = split_key(key)
        service = api.find(SERVICES, name, namespace)
        if service is None:
            _forget_endpoints(client, namespace, name)  # slices have an owner, and are garbage
            return None
        if is_deleting(service) or not service["spec"].get("selector"):
            return None
        selector = ",".join(f"{k}={v}" for k, v in sorted(service["spec"]["selector"].items()))
        chosen = [
            pod
            for pod in api.list("pods", namespace, labels=selector)
            if pod["status"].get("podIP") and not has_ended(pod)
        ]
        placed = [pod for pod in chosen if _is_placed(client, service, pod)]
        view = _View(client, service, placed, now)
        view.keep_slices(slices.of(key))
        view.keep_endpoints(chosen)
        return now + _RETRY if len(placed) < len(chosen) else None

    def selecting(pod: Object) -> Iterable[str]:
        labels = labels_of(pod)
        for service in services.of(pod["metadata"]["namespace"]):
            selector = service["spec"].get("selector")
            if selector and selector.items() <= labels.items():
                yield key_of(service)

    def its_service(obj: Object) -> Iterable[str]:
        key = _service_key(obj)
        return (key,) if key else ()

    def pause(_key: str) -> timedelta:
        return _PAUSE

    sources = {SERVICES: itself, "pods": selecting, SLICES: its_service}
    matters = {"pods": _is_seen}
    return Controller("endpointslice", client, sources, reconcile, matters=matters, pause=pause)


def _namespace(obj: Object) -> str | None:
    return str(obj["metadata"]["namespace"])


def _is_placed(client: Client, service: Object, pod: Object) -> bool:
    """Tell whether a pod's node is there, without which it is in no slice."""
    if service["spec"].get("publishNotReadyAddresses"):
        return True
    return client.api.find("nodes", pod["spec"].get("nodeName") or "") is not None


def _forget_endpoints(client: Client, namespace: str, name: str) -> None:
    known = client.api.find(ENDPOINTS, name, namespace)
    if known is not None and labels_of(known).get(_ENDPOINTS_MANAGED_BY) == _ENDPOINTS_MANAGER:
        client.api.delete(ENDPOINTS, name, namespace)


def _service_key(obj: Object) -> str | None:
    labels = labels_of(obj)
    if labels.get(_MANAGED_BY) != _MANAGER or _SERVICE not in labels:
        return None
    return f"{obj['metadata']['namespace']}/{labels[_SERVICE]}"


def _is_seen(change: Change) -> bool:
    """Tell whether a change of a pod shows in the endpoints of a service."""
    if change.old is None or change.new is None:
        return True
    return _shown(change.old) != _shown(change.new)


def _shown(pod: Object) -> tuple[Any, ...]:
    return (
        labels_of(pod),
        pod["status"].get("podIP"),
        pods.is_ready(pod),
        is_deleting(pod),
        has_ended(pod),
        pod["spec"].get("nodeName"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Port:
    name: str
    protocol: str
    number: int
    application: str | None

    def entry(self) -> Object:
        """Return the port as slices have it."""
        more = {"appProtocol": self.application} if self.application else {}
        return {"name": self.name, "port": self.number, "protocol": self.protocol, **more}


class _View:
    """The endpoints of one service at one instant."""

    def __init__(
        self, client: Client, service: Object, chosen: Sequence[Object], now: datetime
    ) -> None:
        self._client = client
        self._service = service
        self._now = now
        self._by_ports = _by_ports(service, chosen)

    # Slices

    def keep_slices(self, present: Sequence[Object]) -> None:
        """Make, change and delete slices until they say what there is."""
        wanted = [
            self._slice(ports, group[first : first + _MOST])
            for ports, group in self._by_ports.items()
            for first in range(0, max(len(group), 1), _MOST)
        ]
        free = list(present)
        for body in wanted:
            same = next((one for one in free if (one.get("ports") or None) == body["ports"]), None)
            known = same or (free[0] if free else None)
            if known is None:
                self._client.api.create(SLICES, body)
                continue
            free.remove(known)
            self._change(known, body)
        for one in free:
            meta = one["metadata"]
            options = DeleteOptions(uid=meta["uid"])
            self._client.api.delete(SLICES, meta["name"], meta["namespace"], options)

    def _slice(self, ports: Sequence[_Port], group: Sequence[Object]) -> Object:
        meta = self._service["metadata"]
        labels = {**labels_of(self._service), _SERVICE: meta["name"], _MANAGED_BY: _MANAGER}
        if self._service["spec"].get("clusterIP") == "None":
            labels[_HEADLESS] = ""
        return {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "generateName": f"{meta['name']}-",
                "namespace": meta["namespace"],
                "labels": labels,
                "annotations": {_TRIGGERED: stamp(self._now)},
                "ownerReferences": [owner_reference(self._service)],
            },
            "addressType": "IPv4",
            "endpoints": [self._endpoint(pod) for pod in group] or None,
            "ports": [port.entry() for port in ports] or None,
        }

    def _change(self, known: Object, body: Object) -> None:
        told = (known.get("endpoints") or None, known.get("ports") or None, labels_of(known))
        if told == (body["endpoints"], body["ports"], body["metadata"]["labels"]):
            return
        metadata = {
            **known["metadata"],
            "labels": body["metadata"]["labels"],
            "annotations": body["metadata"]["annotations"],
        }
        changed = {**known, "metadata": metadata}
        self._client.api.update(
            SLICES, {**changed, "endpoints": body["endpoints"], "ports": body["ports"]}
        )

    def _endpoint(self, pod: Object) -> Object:
        early = bool(self._service["spec"].get("publishNotReadyAddresses"))
        ready, leaving = pods.is_ready(pod) or early, is_deleting(pod)
        node = self._client.api.find("nodes", pod["spec"].get("nodeName") or "")
        zone = labels_of(node).get("topology.kubernetes.io/zone") if node is not None else None
        endpoint: Object = {
            "addresses": [pod["status"]["podIP"]],
            "conditions": {
                "ready": ready and (early or not leaving),
                "serving": ready,
                "terminating": leaving,
            },
            "targetRef": _reference(pod),
        }
        if host := pod["spec"].get("nodeName"):
            endpoint["nodeName"] = host
        if zone:
            endpoint["zone"] = zone
        name = pod["spec"].get("hostname")
        if name and pod["spec"].get("subdomain") == self._service["metadata"]["name"]:
            endpoint["hostname"] = name
        return endpoint

    # Endpoints

    def keep_endpoints(self, chosen: Sequence[Object]) -> None:
        """Make or change the old form of it all, wherever the pods are."""
        meta = self._service["metadata"]
        subsets = [
            subset
            for ports, group in _by_ports(self._service, chosen).items()
            if (subset := self._subset(ports, group)) is not None
        ]
        labels = {**labels_of(self._service), _ENDPOINTS_MANAGED_BY: _ENDPOINTS_MANAGER}
        if self._service["spec"].get("clusterIP") == "None":
            labels[_HEADLESS] = ""
        known = self._client.api.find(ENDPOINTS, meta["name"], meta["namespace"])
        annotations = {_TRIGGERED: stamp(self._now)}
        if known is None:
            body = {
                "metadata": {
                    "name": meta["name"],
                    "namespace": meta["namespace"],
                    "labels": labels,
                    "annotations": annotations,
                },
                "subsets": subsets,
            }
            self._client.api.create(ENDPOINTS, body)
        elif (known.get("subsets") or []) != subsets or labels_of(known) != labels:
            metadata = {**known["metadata"], "labels": labels, "annotations": annotations}
            self._client.api.update(ENDPOINTS, {**known, "metadata": metadata, "subsets": subsets})

    def _subset(self, ports: Sequence[_Port], group: Sequence[Object]) -> Object | None:
        early = bool(self._service["spec"].get("publishNotReadyAddresses"))
        sides: dict[str, list[Object]] = {"addresses": [], "notReadyAddresses": []}
        for pod in group:
            if is_deleting(pod):
                continue
            ready = early or pods.is_ready(pod)
            address: Object = {"ip": pod["status"]["podIP"], "targetRef": _reference(pod)}
            if host := pod["spec"].get("nodeName"):
                address["nodeName"] = host
            sides["addresses" if ready else "notReadyAddresses"].append(address)
        told: Object = {side: listed for side, listed in sides.items() if listed}
        if not told:
            return None
        entries = [port.entry() for port in ports]
        for entry in entries:
            if not entry["name"]:
                del entry["name"]
        return {**told, **({"ports": entries} if entries else {})}


def _reference(pod: Object) -> Object:
    meta = pod["metadata"]
    return {
        "kind": "Pod",
        "name": meta["name"],
        "namespace": meta["namespace"],
        "uid": meta["uid"],
    }


def _by_ports(service: Object, chosen: Sequence[Object]) -> dict[tuple[_Port, ...], list[Object]]:
    """Return the pods by the ports that the service has with them; one group at least."""
    found: dict[tuple[_Port, ...], list[Object]] = {}
    for pod in chosen:
        found.setdefault(_ports(service, pod), []).append(pod)
    return found or {(): []}


def _ports(service: Object, pod: Object) -> tuple[_Port, ...]:
    """Return the ports of a service as one of its pods has them."""
    found = []
    for port in service["spec"].get("ports") or ():
        number = _number(port, pod)
        if number is not None:
            found.append(
                _Port(
                    name=port.get("name", ""),
                    protocol=port.get("protocol", "TCP"),
                    number=number,
                    application=port.get("appProtocol"),
                )
            )
    return tuple(found)


def _number(port: Mapping[str, Any], pod: Object) -> int | None:
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target
    for container in pod["spec"]["containers"]:
        for entry in container.get("ports") or ():
            if entry.get("name") == target and entry.get("protocol", "TCP") == port["protocol"]:
                return int(entry["containerPort"])
    return None
