"""Dynamic resource allocation: what pods claim.

Apart from `device_pool`, which is what nodes offer.

Source: Kubernetes documentation, "Dynamic Resource Allocation"; `docs/sources.md` D11.
"""

from collections.abc import Iterable, Mapping

from libs.domain.device import (
    DeviceCapacity,
    DeviceClaim,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
)
from libs.domain.errors import InvalidRequest
from libs.domain.quantity import millicores
from libs.domain.requirement import Requirement
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.selector import NODE_NAME_FIELD
from libs.domain.taint import Effect, Toleration, TolerationOperator
from libs.kube.convert.selectors import entry, node_requirements
from libs.kube.objects import device as objects
from libs.kube.objects.metadata import NodeSelector, NodeSelectorTerm, Quantity

_MODES = {"": False, "ExactCount": False, "All": True}
_OPERATORS = {
    "": TolerationOperator.EQUAL,
    "Equal": TolerationOperator.EQUAL,
    "Exists": TolerationOperator.EXISTS,
}
_EFFECTS = {"NoSchedule": Effect.NO_SCHEDULE, "NoExecute": Effect.NO_EXECUTE}

NOWHERE = Requirements(
    (Requirement(key=NODE_NAME_FIELD, complement=False, values=frozenset(), absent=False),)
)
"""The term that no node meets."""


def device_class(given: objects.DeviceClass) -> DeviceClass:
    """Return the class.

    Raises:
        InvalidRequest: a selector of a kind that is not known.
    """
    return DeviceClass(
        name=given.metadata.name,
        selectors=_expressions(given.spec.selectors, "spec.selectors"),
        extended_resource=given.spec.extended_resource_name,
    )


def device_claim(
    spec: objects.ResourceClaimSpec,
    *,
    claim: str = "",
    status: objects.ResourceClaimObjectStatus | None = None,
) -> DeviceClaim:
    """Return the claim.

    Args:
        spec: what is asked for.
        claim: `namespace/name` of an existing claim, empty for a template.
        status: what the claim was given and for whom.

    Raises:
        InvalidRequest: a request or constraint of a kind that is not known, or a bad quantity or
            selector.
    """
    allocation = None if status is None else status.allocation
    allocated: tuple[Requirements, ...] = ()
    if allocation is not None:
        selector = allocation.node_selector
        if status is not None and _failed(status):
            allocated = (NOWHERE,)
        elif selector is None:
            allocated = (ANYTHING,)
        else:
            allocated = node_terms(selector, "status.allocation.nodeSelector")
    return DeviceClaim(
        claim=claim,
        requests=tuple(
            _request(one, f"spec.devices.requests[{index}]")
            for index, one in enumerate(spec.devices.requests)
        ),
        constraints=tuple(
            _constraint(one, f"spec.devices.constraints[{index}]")
            for index, one in enumerate(spec.devices.constraints)
        ),
        allocated_terms=allocated,
        reserved_for=() if status is None or allocation is None else reserved_for(status),
    )


def _failed(status: objects.ResourceClaimObjectStatus) -> bool:
    """Tell whether a driver says that a device which was given cannot be bound.

    Devices after one that is not ready yet are not looked at, as kube-scheduler does not either.
    """
    given = () if status.allocation is None else status.allocation.devices.results
    said = {
        (one.driver, one.pool, one.device, one.share_id): {
            condition.type for condition in one.conditions if condition.status == "True"
        }
        for one in status.devices
    }
    for one in given:
        true = said.get((one.driver, one.pool, one.device, one.share_id), set())
        if not one.binding_conditions:
            continue
        if true.intersection(one.binding_failure_conditions):
            return True
        if not true.issuperset(one.binding_conditions):
            return False
    return False


def reserved_for(status: objects.ResourceClaimObjectStatus) -> tuple[str, ...]:
    """Return the uids of those for whom a claim is reserved, sorted."""
    return tuple(sorted({one.uid for one in status.reserved_for if one.uid}))


def node_terms(selector: NodeSelector, path: str) -> tuple[Requirements, ...]:
    """Return the terms of a node selector, of which one must hold; never empty.

    Raises:
        InvalidRequest: an expression that Kubernetes refuses.
    """
    found = tuple(
        _term(term, f"{path}.nodeSelectorTerms[{index}]")
        for index, term in enumerate(selector.node_selector_terms)
        if term.match_expressions or term.match_fields
    )
    return found or (NOWHERE,)


def _term(term: NodeSelectorTerm, path: str) -> Requirements:
    found = list(node_requirements(term.match_expressions, f"{path}.matchExpressions"))
    for index, one in enumerate(term.match_fields):
        where = f"{path}.matchFields[{index}]"
        parsed = entry(one, where)
        if one.key != NODE_NAME_FIELD or one.operator not in ("In", "NotIn"):
            raise InvalidRequest(f"wants In or NotIn of {NODE_NAME_FIELD}", field=where)
        found.append(Requirement.of(parsed.key, parsed.operator, parsed.values))
    return Requirements(found)


def _request(request: objects.DeviceRequest, path: str) -> DeviceRequest:
    if not request.name:
        raise InvalidRequest("has no name", field=path)
    if request.first_available:
        ways = tuple(
            _sub_request(one, f"{path}.firstAvailable[{index}]")
            for index, one in enumerate(request.first_available)
        )
    elif request.exactly is not None:
        ways = (_sub_request(request.exactly, f"{path}.exactly"),)
    else:
        ways = (
            _sub_request(
                objects.DeviceSubRequest(
                    device_class_name=request.device_class_name,
                    selectors=request.selectors,
                    allocation_mode=request.allocation_mode,
                    count=request.count,
                    capacity=request.capacity,
                    tolerations=request.tolerations,
                    admin_access=request.admin_access,
                ),
                path,
            ),
        )
    return DeviceRequest(name=request.name, alternatives=ways)


def _sub_request(given: objects.DeviceSubRequest, path: str) -> DeviceSubRequest:
    if not given.device_class_name:
        raise InvalidRequest("names no device class", field=path)
    count = 1 if given.count is None else given.count
    if count < 1:
        raise InvalidRequest(f"{count} is below 1", field=f"{path}.count")
    if given.allocation_mode not in _MODES:
        raise InvalidRequest(
            f"{given.allocation_mode!r} is neither ExactCount nor All",
            field=f"{path}.allocationMode",
        )
    return DeviceSubRequest(
        device_class=given.device_class_name,
        name=given.name,
        selectors=_expressions(given.selectors, f"{path}.selectors"),
        count=count,
        all=_MODES[given.allocation_mode],
        capacity=shares(given.capacity.requests, f"{path}.capacity.requests"),
        tolerations=_tolerations(given.tolerations, f"{path}.tolerations"),
        admin_access=given.admin_access,
    )


def _constraint(given: objects.DeviceConstraint, path: str) -> DeviceConstraint:
    if bool(given.match_attribute) == bool(given.distinct_attribute):
        raise InvalidRequest("names neither or both of two attributes", field=path)
    return DeviceConstraint(
        match_attribute=given.match_attribute,
        distinct_attribute=given.distinct_attribute,
        requests=given.requests,
    )


def shares(amounts: Mapping[str, Quantity], path: str) -> tuple[DeviceCapacity, ...]:
    """Return amounts that are asked for or taken, by name, rounded up.

    Raises:
        InvalidRequest: no quantity, or a negative one.
    """
    return tuple(
        DeviceCapacity(name=name, amount=thousandths(amounts[name], f"{path}.{name}"))
        for name in sorted(amounts)
    )


def thousandths(quantity: Quantity, path: str) -> int:
    """Return a quantity in thousandths of its base unit, rounded up.

    Raises:
        InvalidRequest: no quantity, or a negative one.
    """
    try:
        # The arithmetic of CPU, which is in thousandths everywhere.
        found = millicores(quantity)
    except InvalidRequest as error:
        raise error.under(path) from None
    if found < 0:
        raise InvalidRequest(f"{quantity!r} is negative", field=path)
    return found


def _tolerations(given: Iterable[objects.DeviceToleration], path: str) -> tuple[Toleration, ...]:
    """Return the tolerations of effects that keep anyone away."""
    found = []
    for index, one in enumerate(given):
        if one.operator not in _OPERATORS:
            raise InvalidRequest(
                f"{one.operator!r} is neither Equal nor Exists", field=f"{path}[{index}].operator"
            )
        if not one.effect or one.effect in _EFFECTS:
            found.append(
                Toleration(
                    key=one.key,
                    operator=_OPERATORS[one.operator],
                    value=one.value,
                    effect=_EFFECTS.get(one.effect),
                )
            )
    return tuple(found)


def _expressions(selectors: Iterable[objects.DeviceSelector], path: str) -> tuple[str, ...]:
    found = []
    for index, one in enumerate(selectors):
        if one.cel is None:
            raise InvalidRequest("is of a kind other than CEL", field=f"{path}[{index}]")
        found.append(one.cel.expression)
    return tuple(found)
