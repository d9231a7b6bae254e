"""What each pod and node uses at an instant, as the metrics API and autoscalers are told.

A rule of the book says it, which scripts write; else an annotation, `simulator.joiner.io/cpu-usage`
and `memory-usage` for all containers of a pod, `CONTAINER.simulator.joiner.io/cpu-usage` for one;
else containers use half of what they request. Cpu is throttled at the limit, memory ends there. A
trace that cannot be read is as if it were not there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from libs.domain import quantity_text
from libs.domain.errors import InvalidRequest
from services.simulator.core.client import Client, controller_uid, node_name
from services.simulator.core.objects import Object, is_true, labels_of, read_stamp
from services.simulator.core.usage import trace
from services.simulator.core.usage.trace import Moment, Trace

ROOT = "simulator.joiner.io"
RESOURCES = ("cpu", "memory")

_SILENT = {"cpu": trace.parse("10m"), "memory": trace.parse("32Mi")}
_USUAL = trace.parse("50%")
_OF_THE_SYSTEM = {"cpu": 0.05, "memory": float(400 * 2**20)}


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRule:
    """What the containers of some pods use; empty where nothing is said."""

    namespace: str = ""
    """Empty: any."""
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    cpu: str = ""
    memory: str = ""

    def matches(self, pod: Mapping[str, Any]) -> bool:
        """Tell whether the rule is about a pod."""
        right_place = self.namespace in ("", pod["metadata"]["namespace"])
        return right_place and self.labels.items() <= labels_of(pod).items()


class UsageBook:
    """The rules in force, the last that matches first; replaced as a whole by whoever scripts."""

    def __init__(self, rules: tuple[UsageRule, ...] = ()) -> None:
        self.rules = rules

    def of(self, pod: Mapping[str, Any], resource: str) -> str:
        """Return the trace of a pod's containers, empty if no rule has one."""
        texts = (
            rule.cpu if resource == "cpu" else rule.memory
            for rule in reversed(self.rules)
            if rule.matches(pod)
        )
        return next((text for text in texts if text), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a container or node uses: cores and bytes."""

    cpu: float
    memory: float


class Meter:
    """Measures pods and nodes."""

    def __init__(self, client: Client, book: UsageBook) -> None:
        self._client = client
        self._book = book
        self._siblings = client.index("pods", controller_uid)
        self._on_node = client.index("pods", node_name)

    def pod(self, pod: Object, now: datetime) -> dict[str, Usage] | None:
        """Return the usage of a pod's running containers; None of a pod that does not run."""
        if pod["status"].get("phase") != "Running":
            return None
        began = dict(_running(pod))
        sharers = self._sharers(pod)
        spec = pod["spec"]
        return {
            container["name"]: self._of(pod, container, began[container["name"]], sharers, now)
            for container in (*(spec.get("initContainers") or ()), *spec["containers"])
            if container["name"] in began
        }

    def node(self, name: str, now: datetime) -> Usage:
        """Return the usage of a node: of its pods and of its own programs."""
        usages = [
            usage for pod in self._on_node.of(name) for usage in (self.pod(pod, now) or {}).values()
        ]
        return Usage(
            cpu=_OF_THE_SYSTEM["cpu"] + sum(usage.cpu for usage in usages),
            memory=_OF_THE_SYSTEM["memory"] + sum(usage.memory for usage in usages),
        )

    def _sharers(self, pod: Object) -> int:
        owner = controller_uid(pod)
        if owner is None:
            return 1
        return sum(is_true(one, "Ready") for one in self._siblings.of(owner))

    def _of(
        self, pod: Object, container: Object, began: datetime, sharers: int, now: datetime
    ) -> Usage:
        amounts = {}
        for resource in RESOURCES:
            request, limit = _asked(container, resource)
            moment = Moment(
                now=now,
                age=(now - began).total_seconds(),
                request=request,
                sharers=sharers,
                name=f"{pod['metadata']['uid']}/{container['name']}",
            )
            used = self._trace(pod, container["name"], resource, request)(moment)
            amounts[resource] = used if limit is None else min(used, limit)
        return Usage(**amounts)

    def _trace(self, pod: Object, container: str, resource: str, request: float) -> Trace:
        annotations = pod["metadata"].get("annotations") or {}
        texts = (
            self._book.of(pod, resource),
            annotations.get(f"{container}.{ROOT}/{resource}-usage", ""),
            annotations.get(f"{ROOT}/{resource}-usage", ""),
        )
        for text in texts:
            if text and (found := _readable(text)) is not None:
                return found
        return _USUAL if request else _SILENT[resource]


def _readable(text: str) -> Trace | None:
    try:
        return trace.parse(text)
    except InvalidRequest:
        return None


def _running(pod: Object) -> Iterator[tuple[str, datetime]]:
    for kind in ("initContainerStatuses", "containerStatuses"):
        for entry in pod["status"].get(kind) or ():
            if running := (entry.get("state") or {}).get("running"):
                yield entry["name"], read_stamp(running.get("startedAt"))


def _asked(container: Object, resource: str) -> tuple[float, float | None]:
    """Return request and limit of a container; no request is zero."""
    resources = container.get("resources") or {}
    request = (resources.get("requests") or {}).get(resource)
    limit = (resources.get("limits") or {}).get(resource)
    return (
        float(quantity_text.value(request)) if request else 0.0,
        float(quantity_text.value(limit)) if limit else None,
    )
