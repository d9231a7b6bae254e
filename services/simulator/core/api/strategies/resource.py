"""Devices: classes, claims, their templates and slices."""

from libs.apiserver.rules import device_slices, device_statuses, devices
from services.simulator.core.api.strategies.generations import count_changes, start_at_one
from services.simulator.core.api.strategies.strategy import BOTH, Object, Strategy


def default_claim(obj: Object) -> None:
    """Fill in the defaults of a ResourceClaim."""
    devices.default_claim_spec(obj["spec"])


def prepare_claim(obj: Object, _now: str) -> None:
    """Take an empty list of requests for none."""
    claimed = obj["spec"].get("devices") or {}
    if not claimed.get("requests", True):
        claimed["requests"] = None


def default_template(obj: Object) -> None:
    """Fill in the defaults of a ResourceClaimTemplate."""
    devices.default_claim_spec(obj["spec"].get("spec") or {})


def prepare_slice(obj: Object, now: str) -> None:
    """Start counting generations; note when taints were added."""
    start_at_one(obj, now)
    for device in obj["spec"].get("devices") or ():
        for taint in device.get("taints") or ():
            taint.setdefault("timeAdded", now)


CLASS = Strategy(
    metadata=BOTH,
    prepare_create=start_at_one,
    prepare_update=count_changes,
    validate=devices.validate_class,
)
CLAIM = Strategy(
    metadata=BOTH,
    default=default_claim,
    prepare_create=prepare_claim,
    prepare_status=device_statuses.drop_deallocated,
    status_keeps_metadata=True,
    validate_new=devices.validate_claim,
    validate_update=devices.fixed_claim,
    validate_status=device_statuses.validate,
)
TEMPLATE = Strategy(
    metadata=BOTH,
    default=default_template,
    validate=devices.validate_claim_template,
    validate_update=devices.fixed_template,
)
SLICE = Strategy(
    prepare_create=prepare_slice,
    prepare_update=count_changes,
    validate=device_slices.validate,
    validate_update=device_slices.fixed,
)
