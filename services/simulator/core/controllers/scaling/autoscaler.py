"""The controller of HorizontalPodAutoscalers, every fifteen seconds for each.

It reads what pods use from the meter; other metrics than those of resources there are none.

Source: Kubernetes documentation, "Horizontal Pod Autoscaling".
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from libs.domain import quantity_text
from libs.domain.errors import InvalidRequest, JoinerError
from services.simulator.core.api import scale
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.store import Store
from services.simulator.core.api.writing import DEFAULTS
from services.simulator.core.client import Client
from services.simulator.core.controllers import pods
from services.simulator.core.controllers.scaling import pace
from services.simulator.core.controllers.scaling.pace import History, Limits
from services.simulator.core.controllers.scaling.proposal import (
    Proposal,
    Sample,
    Target,
    Tolerance,
    counts,
    is_ready_for,
    propose,
)
from services.simulator.core.events import Note
from services.simulator.core.objects import Object, is_deleting, split_key, stamp, with_condition
from services.simulator.core.part import Outcome, Refusal
from services.simulator.core.timetable import Timetable
from services.simulator.core.usage.meter import Meter

AUTOSCALERS = "horizontalpodautoscalers.autoscaling"

_PERIOD = timedelta(seconds=15)
_COMPONENT = "horizontal-pod-autoscaler"
_FAILED = {
    "Resource": "FailedGetResourceMetric",
    "ContainerResource": "FailedGetContainerResourceMetric",
    "Pods": "FailedGetPodsMetric",
    "Object": "FailedGetObjectMetric",
    "External": "FailedGetExternalMetric",
}


class HorizontalAutoscaler:
    """Scales what HorizontalPodAutoscalers point at."""

    name = "horizontalpodautoscaling"

    def __init__(self, client: Client, store: Store, meter: Meter) -> None:
        self._client = client
        self._store = store
        self._meter = meter
        self._autoscalers = client.subscribe(AUTOSCALERS)
        self._due: Timetable[str] = Timetable()
        self._histories: dict[str, History] = {}

    def step(self, now: datetime) -> Outcome:
        """Look at the autoscalers whose time has come."""
        for change in self._autoscalers.changes():
            if change.new is None:
                self._due.drop(change.key)
                self._histories.pop(change.key, None)
            elif change.key not in self._histories:
                self._histories[change.key] = History()
                self._due.put(change.key, now + _PERIOD)
        refusals = []
        for key in self._due.take(now):
            self._due.put(key, now + _PERIOD)
            try:
                self._look_at(key, now)
            except JoinerError as error:
                refusals.append(Refusal(key, error))
        return Outcome(again=self._due.next(), refusals=tuple(refusals))

    def _look_at(self, key: str, now: datetime) -> None:
        namespace, name = split_key(key)
        autoscaler = self._client.api.find(AUTOSCALERS, name, namespace)
        if autoscaler is None or is_deleting(autoscaler):
            return
        view = _View(self._client, self._store, self._meter, autoscaler, now)
        view.run(self._histories[key])
        pods.write_status(self._client.api, AUTOSCALERS, autoscaler, view.status)


class _View:
    """One autoscaler at one instant; its status as it becomes."""

    def __init__(
        self, client: Client, store: Store, meter: Meter, autoscaler: Object, now: datetime
    ) -> None:
        self.status: Object = dict(autoscaler.get("status") or {})
        self._client = client
        self._store = store
        self._meter = meter
        self._autoscaler = autoscaler
        self._namespace: str = autoscaler["metadata"]["namespace"]
        self._now = now

    def run(self, history: History) -> None:
        """Find out how many replicas there should be, and scale."""
        try:
            resource, target = self._target()
        except (ApiError, InvalidRequest) as error:
            self._tell("FailedGetScale", str(error), is_warning=True)
            what = f"the HPA controller was unable to get the target's current scale: {error}"
            self._say("AbleToScale", "False", "FailedGetScale", what)
            return
        what = "the HPA controller was able to get the target's current scale"
        self._say("AbleToScale", "True", "SucceededGetScale", what)
        current: int = target["spec"].get("replicas", 0)
        if not history.recommended:
            history.recommend(current, self._now)
        wanted, why = self._wanted(target, current, history)
        if wanted is not None and wanted != current:
            self._rescale(resource, target, wanted, why)
            if self._autoscaler["spec"].get("behavior") is not None:
                history.scale(current, wanted, self._now)
        self.status["currentReplicas"] = current
        if wanted is not None:
            self.status["desiredReplicas"] = wanted
        self.status.setdefault("desiredReplicas", 0)

    def _target(self) -> tuple[Resource, Object]:
        """Return the resource that is scaled and the Scale of the object."""
        wanted = self._autoscaler["spec"]["scaleTargetRef"]
        group = (wanted.get("apiVersion") or "").rpartition("/")[0]
        for resource in self._store.resources:
            if (resource.group, resource.kind) == (group, wanted["kind"]) and resource.scale:
                found = scale.read(self._store, resource, wanted["name"], self._namespace)
                return resource, found
        kind = f'"{wanted["kind"]}" in group "{group}"'
        raise InvalidRequest(f"no matches for kind {kind}")

    def _wanted(self, target: Object, current: int, history: History) -> tuple[int | None, str]:
        """Return the replicas to have and why; None if that is not known."""
        spec = self._autoscaler["spec"]
        least: int = spec.get("minReplicas", 1)
        if current == 0 and least != 0:
            what = "scaling is disabled since the replica count of the target is zero"
            self._say("ScalingActive", "False", "ScalingDisabled", what)
            return 0, ""
        if current > spec["maxReplicas"]:
            return spec["maxReplicas"], "Current number of replicas above Spec.MaxReplicas"
        if current < least:
            return least, "Current number of replicas below Spec.MinReplicas"
        proposed, metric = self._proposed(target, current)
        if proposed is None:
            return None, ""
        limits = Limits(least=least, most=spec["maxReplicas"])
        done = pace.step(spec.get("behavior"), history, limits, current, proposed, self._now)
        self._say("AbleToScale", "True", done.able.reason, done.able.message)
        limited = "True" if done.is_limited else "False"
        self._say("ScalingLimited", limited, done.limit.reason, done.limit.message)
        return done.replicas, (
            f"{metric} above target" if proposed > current else "All metrics below target"
        )

    def _proposed(self, target: Object, current: int) -> tuple[int | None, str]:
        """Return the largest number that any metric asks for, and its name."""
        metrics = list(self._autoscaler["spec"].get("metrics") or ())
        best, name = 0, ""
        statuses: list[Object] = []
        failures: list[tuple[str, str]] = []
        for metric in metrics:
            try:
                proposal, status, title = self._of_metric(metric, target, current)
            except InvalidRequest as error:
                failures.append((_FAILED[metric["type"]], str(error)))
                self._tell(_FAILED[metric["type"]], str(error), is_warning=True)
                statuses.append({"type": ""})
                continue
            statuses.append(status)
            if best == 0 or proposal.replicas > best:
                best, name = proposal.replicas, title
        self.status["currentMetrics"] = statuses
        if failures and (len(failures) == len(metrics) or best < current):
            reason, first = failures[0]
            what = f"the HPA was unable to compute the replica count: {first}"
            self._say("ScalingActive", "False", reason, what)
            kind = metrics[0]["type"].lower()
            counted = f"({len(failures)} invalid out of {len(metrics)})"
            told = f"invalid metrics {counted}, first error is: failed to get {kind} metric value"
            self._tell("FailedComputeMetricsReplicas", f"{told}: {first}", is_warning=True)
            return None, ""
        what = f"the HPA was able to successfully calculate a replica count from {name}"
        self._say("ScalingActive", "True", "ValidMetricFound", what)
        return best, name

    def _of_metric(
        self, metric: Mapping[str, Any], target: Object, current: int
    ) -> tuple[Proposal, Object, str]:
        """Return what a metric asks for, how it stands, and its title; raises InvalidRequest."""
        kind = metric["type"]
        member = "containerResource" if kind == "ContainerResource" else "resource"
        if member not in metric:
            raise InvalidRequest(_no_such_metrics(metric))
        source = metric[member]
        resource, container = source["name"], source.get("container", "")
        wanted = _target_of(source["target"])
        try:
            samples = list(self._samples(target, resource, container))
            if not samples:
                raise InvalidRequest("no pods returned by selector while calculating replica count")
            if all(one.used is None for one in samples):
                raise InvalidRequest(
                    f"unable to get metrics for resource {resource}: "
                    "no metrics returned from resource metrics API"
                )
            proposal = propose(samples, wanted, self._tolerance(), current)
        except InvalidRequest as error:
            what = "usage" if wanted.percent is None else "utilization"
            raise InvalidRequest(f"failed to get {resource} {what}: {error}") from error
        now: Object = {"averageValue": _quantity(resource, proposal.average)}
        if proposal.percent is not None:
            now["averageUtilization"] = proposal.percent
        named = {"container": container} if container else {}
        status = {"type": kind, member: {"name": resource, **named, "current": now}}
        share = " utilization (percentage of request)" if wanted.percent is not None else ""
        owner = " container" if container and share else ""
        return proposal, status, f"{resource}{owner} resource{share}"

    def _tolerance(self) -> Tolerance:
        behavior = self._autoscaler["spec"].get("behavior") or {}
        up, down = (
            (behavior.get(side) or {}).get("tolerance") for side in ("scaleUp", "scaleDown")
        )
        usual = Tolerance()
        return Tolerance(
            up=usual.up if up is None else float(quantity_text.value(up)),
            down=usual.down if down is None else float(quantity_text.value(down)),
        )

    def _samples(self, target: Object, resource: str, container: str) -> Iterator[Sample]:
        """Yield what is known of the pods; raises InvalidRequest where a request is missing."""
        selector = target["status"].get("selector") or ""
        if not selector:
            raise InvalidRequest("selector is required")
        for pod in self._client.api.list("pods", self._namespace, labels=selector):
            if not counts(pod):
                continue
            usages = self._meter.pod(pod, self._now)
            used = None
            if usages is not None and (not container or container in usages):
                chosen = [usages[container]] if container else list(usages.values())
                used = sum(getattr(one, resource) for one in chosen) * 1000
            yield Sample(
                used=used,
                requested=_requested(pod, resource, container),
                is_ready=is_ready_for(resource if used is not None else "", pod, self._now),
            )

    def _rescale(self, resource: Resource, target: Object, wanted: int, why: str) -> None:
        changed = {**target, "spec": {**target["spec"], "replicas": wanted}}
        name = self._autoscaler["spec"]["scaleTargetRef"]["name"]
        scale.update(self._store, resource, name, self._namespace, changed, DEFAULTS)
        what = f"the HPA controller was able to update the target scale to {wanted}"
        self._say("AbleToScale", "True", "SucceededRescale", what)
        self._tell("SuccessfulRescale", f"New size: {wanted}; reason: {why}")
        self.status["lastScaleTime"] = stamp(self._now)

    def _say(self, type_: str, value: str, reason: str, message: str) -> None:
        condition = {"type": type_, "status": value, "reason": reason, "message": message}
        before = list(self.status.get("conditions") or ())
        self.status["conditions"] = with_condition(before, condition, self._now)

    def _tell(self, reason: str, message: str, *, is_warning: bool = False) -> None:
        note = Note(reason=reason, message=message, component=_COMPONENT, is_warning=is_warning)
        self._client.events.record(self._autoscaler, note)


def _target_of(target: Mapping[str, Any]) -> Target:
    average = target.get("averageValue")
    if average is not None:
        return Target(average=float(quantity_text.value(average)) * 1000)
    return Target(percent=target["averageUtilization"])


def _requested(pod: Object, resource: str, container: str) -> float:
    spec = pod["spec"]
    sidecars = (
        one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"
    )
    total = 0.0
    for one in (*spec["containers"], *sidecars):
        if container and one["name"] != container:
            continue
        request = ((one.get("resources") or {}).get("requests") or {}).get(resource)
        if request is None:
            where = f"container {one['name']} of Pod {pod['metadata']['name']}"
            raise InvalidRequest(f"missing request for {resource} in {where}")
        total += float(quantity_text.value(request)) * 1000
    return total


def _quantity(resource: str, millis: float) -> str:
    if resource == "memory":
        return quantity_text.canonical(f"{int(millis // 1000)}")
    return quantity_text.canonical(f"{int(millis)}m")


def _no_such_metrics(metric: Mapping[str, Any]) -> str:
    kind = metric["type"]
    source = metric[kind.lower()]
    api = "external" if kind == "External" else "custom"
    name = source["metric"]["name"]
    return (
        f"unable to get metric {name}: unable to fetch metrics from {api} metrics API: "
        f"the server could not find the requested resource"
    )
