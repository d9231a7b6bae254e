"""Which devices a request is about: the CEL selectors of its class and its own.

Apart because this is the only place where an expression meets a device. Each expression is
compiled once, each pair of expression and device judged once.

Source: Kubernetes documentation, "Dynamic Resource Allocation", on selectors; kube-scheduler's
device environment of 1.36: `driver`, `attributes`, `capacity`, `allowMultipleAllocations`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from libs.cel import semver
from libs.cel.macros import MOST_STEPS
from libs.cel.program import Program, compile_expression
from libs.cel.values import CelError, OpenMap, Poison, Quantity, type_name
from libs.domain.device import (
    AttributeValue,
    CommonValue,
    Device,
    DeviceClass,
    DeviceSubRequest,
    DeviceVersion,
)
from libs.domain.errors import InvalidRequest

_VARIABLES = frozenset({"device"})
_UNIT = 1000
_MOST_STEPS_OF_PLAN = 10_000_000
"""Steps of loops in all expressions of a plan, some seconds, before each device gets only a few."""
_LEAST_STEPS = 50
_LONGEST_SHOWN = 200
"""Characters of an expression that a problem repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A selector that has no answer, which stops whoever asks: it is to be mended."""

    problem: str


Refused = Mapping[str, str]
_NOTHING: Refused = MappingProxyType({})


class Selectors:
    """Judges devices; remembers every verdict."""

    def __init__(self, classes: Mapping[str, DeviceClass], refused: Refused = _NOTHING) -> None:
        """Begin with nothing judged.

        Args:
            classes: those that count.
            refused: those that are there and do not, with what is wrong with them.
        """
        self._classes = classes
        self._refused = refused
        self._programs: dict[str, Program | Broken] = {}
        self._bindings: dict[int, tuple[Device, dict[str, Any]]] = {}
        self._verdicts: dict[tuple[str, int], bool | Broken] = {}
        self._steps_left = _MOST_STEPS_OF_PLAN

    def has_class(self, name: str) -> bool:
        """Tell whether there is such a class of devices."""
        return name in self._classes

    def why_no_class(self, name: str) -> str:
        """Return why there is no such class of devices."""
        why = self._refused.get(name)
        told = "does not exist" if why is None else f"was refused: {why}"
        return f"device class {name!r} {told}"

    def match(self, request: DeviceSubRequest, driver: str, device: Device) -> bool | Broken:
        """Tell whether the request is about this device, as far as its selectors say.

        Args:
            request: with a class that there is.
            driver: of the device.
            device: the same object for the same device in every call.
        """
        known = self._classes[request.device_class]
        for owner, expressions in _owners(known, request):
            for expression in expressions:
                found = self._judge(expression, driver, device)
                if isinstance(found, Broken):
                    return Broken(problem=_fails(owner, found))
                if not found:
                    return False
        return True

    def not_compiled(self, request: DeviceSubRequest) -> str:
        """Return which expression is none, be there devices or not; empty if all are."""
        known = self._classes[request.device_class]
        for owner, expressions in _owners(known, request):
            for expression in expressions:
                program = self._program(expression)
                if isinstance(program, Broken):
                    return _fails(owner, program)
        return ""

    def refusing(self, request: DeviceSubRequest, driver: str, device: Device) -> str:
        """Return the first expression that does not hold of the device; empty if all do."""
        known = self._classes[request.device_class]
        for expression in (*known.selectors, *request.selectors):
            if self._judge(expression, driver, device) is not True:
                return expression
        return ""

    def _judge(self, expression: str, driver: str, device: Device) -> bool | Broken:
        key = expression, id(device)
        found = self._verdicts.get(key)
        if found is None:
            program = self._program(expression)
            if isinstance(program, Broken):
                return program
            found = self._verdicts[key] = self._evaluate(program, self._binding(driver, device))
        return found

    def _evaluate(self, program: Program, bindings: Mapping[str, Any]) -> bool | Broken:
        steps = max(min(MOST_STEPS, self._steps_left), _LEAST_STEPS)
        left = [steps]
        found = _evaluate(program, bindings, left)
        self._steps_left -= steps - left[0]
        return found

    def _program(self, expression: str) -> Program | Broken:
        found = self._programs.get(expression)
        if found is None:
            try:
                found = compile_expression(expression, _VARIABLES)
            except InvalidRequest as error:
                found = Broken(problem=f"{shown(expression)} is no CEL: {error}")
            self._programs[expression] = found
        return found

    def _binding(self, driver: str, device: Device) -> dict[str, Any]:
        known = self._bindings.get(id(device))
        if known is None:
            # The device is kept with it: as long as it is there nobody else has its identity.
            known = self._bindings[id(device)] = device, {"device": _as_value(driver, device)}
        return known[1]


def _owners(
    known: DeviceClass, request: DeviceSubRequest
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return whose expressions a device has to meet."""
    return (f"device class {known.name!r}", known.selectors), ("the request", request.selectors)


def _fails(owner: str, found: Broken) -> str:
    return f"a selector of {owner} fails: {found.problem}"


def shown(expression: str) -> str:
    """Return an expression as problems repeat it."""
    if len(expression) <= _LONGEST_SHOWN:
        return repr(expression)
    return f"{expression[:_LONGEST_SHOWN]!r} and {len(expression) - _LONGEST_SHOWN} characters more"


def _evaluate(program: Program, bindings: Mapping[str, Any], left: list[int]) -> bool | Broken:
    try:
        value = program.evaluate(bindings, left)
        if value is True or value is False:
            return bool(value)
        problem = f"it is of type {type_name(value)}, not bool"
    except CelError as error:
        problem = str(error)
    return Broken(problem=f"{shown(program.source)}: {problem}")


def _as_value(driver: str, device: Device) -> dict[str, Any]:
    attributes: dict[str, dict[str, Any]] = {}
    for attribute in device.attributes:
        if isinstance(attribute.value, CommonValue):
            continue
        domain, name = _qualified(attribute.name, driver)
        attributes.setdefault(domain, {})[name] = _attribute(attribute.value)
    capacity: dict[str, dict[str, Any]] = {}
    for one in device.capacity:
        domain, name = _qualified(one.name, driver)
        capacity.setdefault(domain, {})[name] = Quantity(number=Decimal(one.amount) / _UNIT)
    return {
        "driver": driver,
        "allowMultipleAllocations": device.shared,
        "attributes": OpenMap(items=attributes),
        "capacity": OpenMap(items=capacity),
    }


def _qualified(name: str, driver: str) -> tuple[str, str]:
    domain, slash, rest = name.partition("/")
    return (domain, rest) if slash else (driver, name)


def _attribute(value: AttributeValue) -> Any:
    if not isinstance(value, DeviceVersion):
        return value
    try:
        return semver.parse(value.text)
    except CelError as error:
        return Poison(message=str(error))
