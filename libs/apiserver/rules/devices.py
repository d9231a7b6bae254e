"""Defaults and validation of what asks for devices: claims, their templates, device classes.

Source: Kubernetes API reference, resource.k8s.io; wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import Stored, fixed_spec, formed, present_and_formed
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    not_supported,
    required,
    too_long,
    too_many,
    wrong,
)
from libs.apiserver.metadata import validate_template
from libs.apiserver.rules.device_names import fully_qualified
from libs.apiserver.rules.volumes import csi_driver_name
from libs.cel.program import compile_expression
from libs.domain.errors import InvalidRequest

Object = dict[str, Any]
_MOST_REQUESTS, _MOST_SELECTORS, _MOST_ALTERNATIVES = 32, 32, 8
_LONGEST_EXPRESSION = 10 * 1024
_MODES = ("All", "ExactCount")
_ONE_OF = "exactly one of `exactly` or `firstAvailable` is required"
_ONE_ATTRIBUTE = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, '
    "but multiple fields are set"
)
_NO_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'"
)
Requests = Mapping[str, tuple[str, ...]]
"""Names of requests, each with those of its alternatives."""


def default_claim_spec(spec: Object) -> None:
    """Fill in the defaults of the requests of a claim."""
    for request in (spec.get("devices") or {}).get("requests") or ():
        if "exactly" in request:
            _default_request(request["exactly"])
        for alternative in request.get("firstAvailable") or ():
            _default_request(alternative)


def _default_request(request: Object) -> None:
    if not request.get("allocationMode"):
        request["allocationMode"] = "ExactCount"
    if request["allocationMode"] == "ExactCount" and not request.get("count"):
        request["count"] = 1


def validate_claim(obj: Object) -> list[FieldError]:
    """Return what is wrong with a ResourceClaim."""
    return list(_validate_devices(obj["spec"].get("devices") or {}, "spec.devices"))


fixed_claim = fixed_spec("resource/v1.ResourceClaimSpec")
fixed_template = fixed_spec("resource/v1.ResourceClaimTemplateSpec")


def validate_claim_template(obj: Object) -> list[FieldError]:
    """Return what is wrong with a ResourceClaimTemplate."""
    spec = obj["spec"]
    found = list(validate_template(spec.get("metadata") or {}, "spec"))
    devices = (spec.get("spec") or {}).get("devices") or {}
    return [*found, *_validate_devices(devices, "spec.spec.devices")]


def validate_class(obj: Object) -> list[FieldError]:
    """Return what is wrong with a DeviceClass."""
    spec = obj["spec"]
    found = list(_validate_selectors(spec.get("selectors") or (), "spec.selectors"))
    for index, config in enumerate(spec.get("config") or ()):
        found += validate_config(config, f"spec.config[{index}]")
    return found


def _validate_devices(devices: Stored, at: str) -> Iterator[FieldError]:
    requests = devices.get("requests") or ()
    known = names_of(requests)
    yield from each(requests, f"{at}.requests", _MOST_REQUESTS, _validate_request, _name_of)
    for index, constraint in enumerate(devices.get("constraints") or ()):
        yield from _validate_constraint(constraint, f"{at}.constraints[{index}]", known)
    for index, config in enumerate(devices.get("config") or ()):
        where = f"{at}.config[{index}]"
        yield from validate_references(config.get("requests") or (), f"{where}.requests", known)
        yield from validate_config(config, where)


def names_of(requests: Sequence[Stored]) -> Requests:
    """Return the names of requests, each with those of its alternatives."""
    return {
        request.get("name", ""): tuple(
            one.get("name", "") for one in request.get("firstAvailable") or ()
        )
        for request in requests
    }


def each(
    items: Sequence[Any],
    at: str,
    most: int,
    check: Callable[[Any, str], Iterator[FieldError]],
    key: Callable[[Any], str],
) -> Iterator[FieldError]:
    """Yield what is wrong with the items of a set, and those that are in it twice."""
    if len(items) > most:
        yield too_many(at, len(items), most)
        return
    for index, item in enumerate(items):
        yield from check(item, f"{at}[{index}]")
    keys = [key(item) for item in items]
    for index, one in enumerate(keys):
        if one in keys[:index]:
            yield duplicate(f"{at}[{index}]", one)


def _name_of(item: Stored) -> str:
    name: str = item.get("name", "")
    return name


def _validate_request(request: Stored, at: str) -> Iterator[FieldError]:
    yield from formed(request.get("name", ""), f"{at}.name", names.label)
    alternatives, exactly = request.get("firstAvailable") or (), request.get("exactly")
    if alternatives and exactly is not None:
        yield wrong(at, None, f"{_ONE_OF}, but multiple fields are set")
    elif alternatives:
        where = f"{at}.firstAvailable"
        yield from each(alternatives, where, _MOST_ALTERNATIVES, _validate_alternative, _name_of)
    elif exactly is not None:
        yield from _validate_exactly(exactly, f"{at}.exactly")
    else:
        yield required(at, _ONE_OF)


def _validate_alternative(request: Stored, at: str) -> Iterator[FieldError]:
    yield from formed(request.get("name", ""), f"{at}.name", names.label)
    yield from _validate_exactly(request, at)


def _validate_exactly(request: Stored, at: str) -> Iterator[FieldError]:
    yield from present_and_formed(request, at, "deviceClassName", names.subdomain)
    yield from _validate_selectors(request.get("selectors") or (), f"{at}.selectors")
    mode, count = request.get("allocationMode", ""), request.get("count", 0)
    if mode not in _MODES:
        yield not_supported(f"{at}.allocationMode", mode, _MODES)
    elif mode == "All" and count:
        why = "must not be specified when allocationMode is 'All'"
        yield wrong(f"{at}.count", count, why)
    elif mode == "ExactCount" and count <= 0:
        yield wrong(f"{at}.count", count, "must be greater than zero")
    for index, toleration in enumerate(request.get("tolerations") or ()):
        yield from _validate_toleration(toleration, f"{at}.tolerations[{index}]")


def _validate_toleration(toleration: Stored, at: str) -> Iterator[FieldError]:
    if toleration.get("key"):
        yield from formed(toleration["key"], f"{at}.key", names.qualified_name)
    operator, value = toleration.get("operator", ""), toleration.get("value", "")
    if operator == "Equal":
        yield from formed(value, f"{at}.value", names.label_value)
    elif operator == "Exists":
        if value:
            yield wrong(f"{at}.value", value, "must be empty for operator `Exists`")
    elif not operator:
        yield required(f"{at}.operator")
    else:
        yield not_supported(f"{at}.operator", operator, ("Equal", "Exists"))
    effects = ("NoExecute", "NoSchedule", "None")
    if toleration.get("effect") and toleration["effect"] not in effects:
        yield not_supported(f"{at}.effect", toleration["effect"], effects)


def _validate_selectors(selectors: Sequence[Stored], at: str) -> Iterator[FieldError]:
    if len(selectors) > _MOST_SELECTORS:
        yield too_many(at, len(selectors), _MOST_SELECTORS)
        return
    for index, selector in enumerate(selectors):
        where, expression = f"{at}[{index}].cel", selector.get("cel")
        if expression is None:
            yield required(where)
        else:
            text = expression.get("expression", "")
            yield from _validate_expression(text, f"{where}.expression")


def _validate_expression(text: str, at: str) -> Iterator[FieldError]:
    if len(text) > _LONGEST_EXPRESSION:
        yield too_long(at, _LONGEST_EXPRESSION)
        return
    try:
        compile_expression(text, frozenset(("device",)))
    except InvalidRequest as error:
        yield wrong(at, text, f"compilation failed: {error}")


def _validate_constraint(constraint: Stored, at: str, known: Requests) -> Iterator[FieldError]:
    yield from validate_references(constraint.get("requests") or (), f"{at}.requests", known)
    for name in ("matchAttribute", "distinctAttribute"):
        if name in constraint:
            yield from fully_qualified(constraint[name], f"{at}.{name}")
            return
    yield required(at, _ONE_ATTRIBUTE)


def validate_references(
    references: Sequence[str], at: str, known: Requests
) -> Iterator[FieldError]:
    """Yield what is wrong with a set of names of requests."""

    def check(reference: str, where: str) -> Iterator[FieldError]:
        yield from validate_reference(reference, where, known)

    yield from each(references, at, _MOST_REQUESTS, check, str)


def validate_reference(reference: str, at: str, known: Requests) -> Iterator[FieldError]:
    """Yield what is wrong with the name of a request, or of one of its alternatives."""
    first, *rest = reference.split("/")
    if len(rest) > 1:
        yield wrong(at, reference, _NO_REQUEST)
        return
    for part in (first, *rest):
        yield from formed(part, at, names.label)
    if first not in known or (rest and rest[0] not in known[first]):
        yield wrong(at, reference, _NO_REQUEST)


def validate_config(config: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the configuration of devices."""
    opaque, where = config.get("opaque"), f"{at}.opaque"
    if opaque is None:
        yield required(where)
        return
    yield from csi_driver_name(opaque.get("driver", ""), f"{where}.driver")
    parameters = opaque.get("parameters")
    if parameters is None:
        yield required(f"{where}.parameters")
    elif not isinstance(parameters, dict):
        yield wrong(f"{where}.parameters", "<value omitted>", "must be a valid JSON object")
