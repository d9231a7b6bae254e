"""Budgets of pods, namespaces, gangs, and the virtual pods of buffers.

Source: Kubernetes documentation, "Specifying a Disruption Budget"; `docs/sources.md` 1.7 for
buffers.
"""

import re
from collections.abc import Mapping
from fractions import Fraction

from libs.domain.errors import InvalidRequest
from libs.domain.quantity import parse
from libs.domain.resources import CPU, Resources
from libs.domain.workload import Gang, PodDisruptionBudget
from libs.kube.convert.selectors import label_selector
from libs.kube.objects import policy as objects
from libs.kube.objects.karpenter import CapacityBufferSpec
from libs.kube.objects.metadata import Quantities

MOST_VIRTUAL_PODS = 10_000
"""More of one buffer would drown the pods that are there."""
NAMESPACE_NAME = "kubernetes.io/metadata.name"
_SHARE = re.compile(r"([0-9]{1,10})(?P<percent>%?)")


def pod_disruption_budget(budget: objects.PodDisruptionBudget) -> PodDisruptionBudget:
    """Return the budget as its controller sees it.

    One whose controller lags behind its spec allows nothing: the API server refuses evictions then.

    Raises:
        InvalidRequest: a selector or a share that Kubernetes refuses.
    """
    metadata, spec, status = budget.metadata, budget.spec, budget.status
    if spec.min_available is not None and spec.max_unavailable is not None:
        raise InvalidRequest("minAvailable and maxUnavailable exclude each other", field="spec")
    stay = _share(spec.min_available, "spec.minAvailable")
    go = _share(spec.max_unavailable, "spec.maxUnavailable")
    is_current = status.observed_generation >= metadata.generation
    return PodDisruptionBudget(
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid or f"{metadata.namespace}/{metadata.name}",
        selector=label_selector(spec.selector, "spec.selector"),
        disruptions_allowed=max(status.disruptions_allowed, 0) if is_current else 0,
        evicts_unhealthy_always=spec.unhealthy_pod_eviction_policy == "AlwaysAllow",
        never_satisfiable=go in ((0, ""), (0, "%")) or stay == (100, "%"),
    )


def _share(given: int | str | None, path: str) -> tuple[int, str] | None:
    """Return a number of pods, or of percents with the unit `%`; None where nothing is said."""
    if given is None:
        return None
    match = _SHARE.fullmatch(str(given))
    percent = isinstance(given, str)
    if match is None or (percent and not match["percent"]) or (percent and int(match[1]) > 100):
        raise InvalidRequest(
            f"{given!r} is neither a number of pods, zero or more, nor a percentage up to 100%",
            field=path,
        )
    return int(match[1]), match["percent"]


def namespace_labels(name: str, labels: Mapping[str, str]) -> dict[str, str]:
    """Return a namespace's labels with the one that the API server sets on all."""
    return {NAMESPACE_NAME: name, **labels}


def gang(group: objects.PodGroup) -> Gang | None:
    """Return the gang, None for a group whose pods are placed one by one."""
    policy = group.spec.scheduling_policy.gang
    least = policy.min_count if policy is not None else group.spec.min_member
    if least < 1:
        return None
    return Gang(namespace=group.metadata.namespace, name=group.metadata.name, min_members=least)


def buffer_replicas(spec: CapacityBufferSpec, scalable: int | None, requests: Resources) -> int:
    """Return how many virtual pods a buffer has.

    The larger of `replicas` and the percentage of the workload (at least one of a workload that
    has any), at most what `limits` leave room for; without either, what the limits leave room for.

    Args:
        spec: the buffer's.
        scalable: replicas of the workload that it refers to; None for a template.
        requests: of one virtual pod.

    Raises:
        InvalidRequest: a negative number, a limit that is no quantity, or absurdly many pods.
    """
    for name, number in (("replicas", spec.replicas), ("percentage", spec.percentage)):
        if number is not None and number < 0:
            raise InvalidRequest(f"{number} is negative", field=f"spec.{name}")
    sizes = []
    if spec.replicas is not None:
        sizes.append(spec.replicas)
    if spec.percentage is not None and scalable:
        share = -(-scalable * spec.percentage // 100)
        sizes.append(max(share, 1) if spec.percentage else 0)
    room = _room(spec.limits, requests)
    wanted = max(sizes) if sizes else room or 0
    count = wanted if room is None else min(wanted, room)
    if count > MOST_VIRTUAL_PODS:
        raise InvalidRequest(
            f"{count} virtual pods are more than {MOST_VIRTUAL_PODS}; lower replicas or limits",
            field="spec",
        )
    return count


def _room(limits: Quantities, requests: Resources) -> int | None:
    counts = []
    for name, text in limits.items():
        try:
            limit = parse(text)
        except InvalidRequest as error:
            raise error.under(f"spec.limits.{name}") from None
        asked = Fraction(requests.get(name), 1000 if name == CPU else 1)
        if asked > 0:
            counts.append(max(int(limit / asked), 0))
    return min(counts, default=None)
