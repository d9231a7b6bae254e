"""Feature gates: which there are, what each is without a word said, and how they are written.

Apart because the command line, the watcher's settings and the solver must agree on names and
defaults; nothing else in the code spells either.

Source: `docs/sources.md` section 4; names and defaults are Karpenter's. `DynamicResources` stands
for its setting `ignore-dra-requests`, turned round: both ignore claims of devices by default.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from libs.domain import spelling
from libs.domain.errors import InvalidRequest


class FeatureGate(StrEnum):
    """What can be switched on or off."""

    CAPACITY_BUFFER = "CapacityBuffer"
    DYNAMIC_RESOURCES = "DynamicResources"
    NODE_OVERLAY = "NodeOverlay"
    NODE_REPAIR = "NodeRepair"
    RESERVED_CAPACITY = "ReservedCapacity"
    SPOT_TO_SPOT_CONSOLIDATION = "SpotToSpotConsolidation"
    STATIC_CAPACITY = "StaticCapacity"


_OPEN_BY_DEFAULT = frozenset({FeatureGate.RESERVED_CAPACITY})

_CALLED_ELSEWHERE = MappingProxyType(
    {
        "DynamicResourceAllocation": FeatureGate.DYNAMIC_RESOURCES,
        "DRA": FeatureGate.DYNAMIC_RESOURCES,
    }
)
"""Names by which Kubernetes and people know what a gate is about."""

DEFAULTS: Mapping[str, bool] = MappingProxyType(
    {str(gate): gate in _OPEN_BY_DEFAULT for gate in FeatureGate}
)
"""Whether each gate is open where nothing is said."""

NONE_GIVEN: Mapping[str, bool] = MappingProxyType({})


def is_open(gate: FeatureGate, given: Mapping[str, bool]) -> bool:
    """Tell whether a gate is open, where these were given."""
    return given.get(gate, DEFAULTS[gate])


def check(given: Mapping[str, bool], field: str) -> None:
    """Accept only gates that exist.

    Raises:
        InvalidRequest: there is no such gate; names it and those that there are.
    """
    for name in sorted(given):
        if name not in DEFAULTS:
            meant = _CALLED_ELSEWHERE.get(name) or next(iter(spelling.nearest(name, DEFAULTS)), "")
            perhaps = f", perhaps {meant}" if meant else ""
            raise InvalidRequest(
                f"there is no gate {name!r}{perhaps}; there are {', '.join(DEFAULTS)}", field=field
            )


def parse(text: str, field: str) -> Mapping[str, bool]:
    """Return the gates of `NAME=true,NAME=false`; an empty text gives none.

    Raises:
        InvalidRequest: no such list, an unknown gate, one that is given twice.
    """
    given: dict[str, bool] = {}
    for item in filter(None, map(str.strip, text.split(","))):
        name, separator, value = (part.strip() for part in item.partition("="))
        check({name: True}, field)
        if not separator or value.lower() not in ("true", "false"):
            raise InvalidRequest(f"{item!r} says neither {name}=true nor {name}=false", field=field)
        if name in given:
            raise InvalidRequest(f"gate {name!r} is given twice", field=field)
        given[name] = value.lower() == "true"
    return MappingProxyType(given)
