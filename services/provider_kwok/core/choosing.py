"""Choose what a claim gets: the cheapest available offering of the types that it lists.

Source: `docs/sources.md` 8.4. Among equal prices the claim's uid decides, so that zones are used
evenly and a repeated launch chooses the same again.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from libs.domain import labels as keys
from libs.domain.capacity import InstanceType, Offering
from libs.domain.provider import LaunchFailure, LaunchFailureKind, LaunchSpec
from libs.domain.requirement import Operator
from libs.domain.requirements import Requirements


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is launched."""

    instance_type: InstanceType
    offering: Offering


def choose(
    spec: LaunchSpec, uid: str, types: Mapping[str, InstanceType], well_known: frozenset[str]
) -> Choice | LaunchFailure:
    """Return the cheapest choice for a claim, or why there is none."""
    listed = spec.requirements.get(keys.INSTANCE_TYPE)
    if listed is None or listed.operator is not Operator.IN:
        return LaunchFailure(
            kind=LaunchFailureKind.CREATE_ERROR,
            reason="InstanceTypesMissing",
            message=f"the claim must list instance types under {keys.INSTANCE_TYPE}",
        )
    unknown = sorted(listed.values - types.keys())
    if unknown:
        return LaunchFailure(
            kind=LaunchFailureKind.CREATE_ERROR,
            reason="InstanceTypeUnknown",
            message=f'instance type "{unknown[0]}" is not in the catalogue',
        )
    kinds = (types[name] for name in sorted(listed.values))
    best = _cheapest(_choices(kinds, spec.requirements, well_known))
    if not best:
        return LaunchFailure(
            kind=LaunchFailureKind.INSUFFICIENT_CAPACITY,
            message="no listed instance type has an available offering that matches",
        )
    return best[int.from_bytes(hashlib.sha256(uid.encode()).digest()[:8]) % len(best)]


def _choices(
    kinds: Iterable[InstanceType], requirements: Requirements, well_known: frozenset[str]
) -> Iterable[Choice]:
    for kind in kinds:
        for offering in kind.offerings:
            if offering.available and requirements.is_compatible(
                offering.requirements, allow_undefined=well_known
            ):
                yield Choice(instance_type=kind, offering=offering)


def _cheapest(choices: Iterable[Choice]) -> list[Choice]:
    """Return the choices of the lowest price that are of the first type that has it."""
    found = list(choices)
    if not found:
        return []
    price = min(choice.offering.price_nanos_per_hour for choice in found)
    cheapest = [choice for choice in found if choice.offering.price_nanos_per_hour == price]
    first = cheapest[0].instance_type.name
    return [choice for choice in cheapest if choice.instance_type.name == first]
