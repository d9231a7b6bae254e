"""Validation of requests and limits, of containers and of whole pods.

Source: Kubernetes API reference, ResourceRequirements; "Assign Pod-level CPU and memory resources";
wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from libs.apiserver import names
from libs.apiserver.checks import NOT_NEGATIVE, Stored, formed
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    missing,
    not_allowed,
    not_supported,
    required,
    wrong,
)
from libs.domain import quantity_text

NameRule = Callable[[str, str], Iterator[FieldError]]
HUGE = "hugepages-"
_CONTAINER = ("cpu", "memory", "ephemeral-storage")
_SIDES = ("requests.", "limits.")
COUNTED = (
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
)
"""Resources that are numbers of objects."""

STANDARD = frozenset(
    (
        *_CONTAINER,
        *(side + name for side in _SIDES for name in _CONTAINER),
        *COUNTED,
        "storage",
        "requests.storage",
    )
)
"""Resources without a domain that Kubernetes knows, beside huge pages."""


def validate_requirements(
    resources: Stored, at: str, *, check_name: NameRule, claims: Sequence[str] = ()
) -> Iterator[FieldError]:
    """Yield what is wrong with requests and limits.

    Args:
        resources: with `limits`, `requests` and `claims`.
        at: their path.
        check_name: which resources may be named here.
        claims: names of the pod's resource claims.
    """
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for side, quantities in (("limits", limits), ("requests", requests)):
        for name, text in quantities.items():
            where = f"{at}.{side}[{name}]"
            yield from check_name(name, where)
            yield from validate_quantity(name, text, where)
            if side == "requests":
                yield from _within_limit(name, text, limits, at)
            if name.startswith(HUGE) and not _is_whole_pages(name, text):
                yield wrong(where, text, f"{text} is not positive integer multiple of {name}")
    named = {*limits, *requests}
    if not named & {"cpu", "memory"} and any(name.startswith(HUGE) for name in named):
        yield not_allowed(at, "HugePages require cpu or memory")
    yield from _validate_claims(resources.get("claims") or (), f"{at}.claims", claims)


def _within_limit(name: str, text: str, limits: Mapping[str, str], at: str) -> Iterator[FieldError]:
    limit = limits.get(name)
    may_overcommit = is_native(name) and not name.startswith(HUGE)
    if limit is None:
        if not may_overcommit:
            yield required(f"{at}.limits", "Limit must be set for non overcommitable resources")
        return
    request, bound = quantity_text.value(text), quantity_text.value(limit)
    if request != bound and not may_overcommit:
        yield wrong(f"{at}.requests", text, f"must be equal to {name} limit of {limit}")
    elif request > bound:
        why = f"must be less than or equal to {name} limit of {limit}"
        yield wrong(f"{at}.requests", text, why)


def _is_whole_pages(name: str, text: str) -> bool:
    try:
        page = quantity_text.value(name.removeprefix(HUGE))
    except quantity_text.MalformedQuantity:
        return False
    return page > 0 and page == page.to_integral_value() and quantity_text.value(text) % page == 0


def _validate_claims(
    entries: Sequence[Stored], at: str, claims: Sequence[str]
) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        where, name, request = f"{at}[{index}]", entry.get("name", ""), entry.get("request", "")
        if not name:
            yield required(where)
            continue
        key = f"{name}/{request}" if request else name
        if request:
            yield from formed(request, f"{where}.request", names.label)
        if name in seen or key in seen or (not request and _has_requests(name, seen)):
            yield duplicate(where, key if key in seen else name)
        seen.add(key)
        if name not in claims:
            listing = f": {', '.join(sorted(claims))}" if claims else " which is empty"
            error = missing(where, name)
            why = f"must be one of the names in pod.spec.resourceClaims{listing}"
            yield FieldError(error.reason, f"{error.message}: {why}", where)


def _has_requests(name: str, seen: set[str]) -> bool:
    return any(key.startswith(f"{name}/") for key in seen)


def resource_name(name: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the name of a resource of any kind."""
    found = list(formed(name, at, names.qualified_name))
    yield from found
    if not found and "/" not in name and not is_standard(name):
        yield wrong(at, name, "must be a standard resource type or fully qualified")


def container_resource(name: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the name of a container's resource."""
    yield from resource_name(name, at)
    if "/" not in name:
        if name not in _CONTAINER and not name.startswith(HUGE):
            yield wrong(at, name, "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        yield wrong(at, name, "doesn't follow extended resource name standard")


def pod_resource(name: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the name of a whole pod's resource."""
    found = list(resource_name(name, at))
    yield from found
    if not found and name not in ("cpu", "memory") and not name.startswith(HUGE):
        yield not_supported(at, name, ("cpu", HUGE, "memory"))


def is_standard(name: str) -> bool:
    """Tell whether Kubernetes knows a resource without a domain."""
    return name in STANDARD or name.startswith((HUGE, f"requests.{HUGE}"))


def is_native(name: str) -> bool:
    """Tell whether a resource is Kubernetes' own."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Tell whether a resource is one of a device plug-in."""
    if is_native(name) or name.startswith("requests."):
        return False
    return not names.qualified_name(f"requests.{name}")


def validate_quantity(name: str, text: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with one amount."""
    number = quantity_text.value(text)
    if number < 0:
        yield wrong(at, text, NOT_NEGATIVE)
    if (name in COUNTED or is_extended(name)) and number != number.to_integral_value():
        yield wrong(at, text, "must be an integer")


def validate_pod_resources(spec: Stored, at: str, claims: Sequence[str]) -> Iterator[FieldError]:
    """Yield what is wrong with the resources of a whole pod, alone and beside its containers'."""
    resources = spec.get("resources")
    if resources is None:
        return
    where = f"{at}.resources"
    if (spec.get("os") or {}).get("name") == "windows":
        yield not_allowed(where, "may not be set for a windows pod")
        return
    if "claims" in resources:
        yield not_allowed(f"{where}.claims", "claims may not be set for Resources at pod-level")
    yield from validate_requirements(resources, where, check_name=pod_resource, claims=claims)
    yield from _validate_sums(spec, where)
    limits = resources.get("limits") or {}
    for index, container in enumerate(spec.get("containers") or ()):
        for name, text in (container["resources"].get("limits") or {}).items():
            if name in limits and quantity_text.value(text) > quantity_text.value(limits[name]):
                why = f"must be less than or equal to pod limits of {limits[name]}"
                yield wrong(f"{where}.containers[{index}][{name}].limits", text, why)


def _validate_sums(spec: Stored, at: str) -> Iterator[FieldError]:
    for side in ("requests", "limits"):
        own = spec["resources"].get(side) or {}
        for name, total in sums(spec, side).items():
            if name not in own or (side == "limits" and not name.startswith(HUGE)):
                continue
            if quantity_text.value(total) > quantity_text.value(own[name]):
                why = f"must be greater than or equal to aggregate container {side} of {total}"
                yield wrong(f"{at}.{side}[{name}]", own[name], why)


def sums(spec: Stored, side: str) -> Mapping[str, str]:
    """Return what a pod's containers request, or are limited to, at the most demanding moment.

    Args:
        spec: with `containers` and `initContainers`.
        side: `requests` or `limits`.
    """
    running: dict[str, str] = {}
    beside: dict[str, str] = {}
    peak: dict[str, str] = {}
    for container in spec.get("containers") or ():
        running = _added(running, container["resources"].get(side) or {})
    for container in spec.get("initContainers") or ():
        own = container["resources"].get(side) or {}
        if container.get("restartPolicy") == "Always":
            running, beside = _added(running, own), _added(beside, own)
            peak = _highest(peak, beside)
        else:
            peak = _highest(peak, _added(own, beside))
    return _highest(running, peak)


def _added(left: Mapping[str, str], right: Mapping[str, str]) -> dict[str, str]:
    both = {name: quantity_text.total(left[name], right[name]) for name in right if name in left}
    return {**left, **right, **both}


def _highest(left: Mapping[str, str], right: Mapping[str, str]) -> dict[str, str]:
    higher = {
        name: text
        for name, text in right.items()
        if name not in left or quantity_text.value(text) > quantity_text.value(left[name])
    }
    return {**left, **higher}
