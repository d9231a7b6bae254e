"""Volumes, claims, classes, CSI: what each defaults, sets and refuses."""

from libs.apiserver.field_errors import FieldError, wrong
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.rules import claims, persistent_volumes, podspec, volume_warnings
from libs.apiserver.rules import storage as rules
from services.simulator.core.api.strategies.generations import count_changes
from services.simulator.core.api.strategies.strategy import BOTH, WHOLE, Object, Stored, Strategy


def default_claim(obj: Object) -> None:
    """Fill in the defaults of a PersistentVolumeClaim."""
    obj["spec"].setdefault("volumeMode", "Filesystem")
    obj["status"].setdefault("phase", "Pending")


def prepare_claim(obj: Object, now: str) -> None:
    """Start a claim as pending; name what its volume is made of in both styles."""
    start_pending(obj, now)
    claims.settle_sources(obj["spec"])


def settle_claim(new: Object, old: Stored) -> None:
    """Name what a claim's volume is made of in both styles, as at its creation."""
    claims.settle_sources(new["spec"], old["spec"])


def default_volume(obj: Object) -> None:
    """Fill in the defaults of a PersistentVolume."""
    obj["spec"].setdefault("volumeMode", "Filesystem")
    obj["spec"].setdefault("persistentVolumeReclaimPolicy", "Retain")
    podspec.default_sources(obj["spec"])
    obj["status"].setdefault("phase", "Pending")


def start_pending(obj: Object, _now: str) -> None:
    """Start a volume or claim as Pending."""
    obj["status"] = {"phase": "Pending"}


def prepare_volume(obj: Object, now: str) -> None:
    """Start a volume as Pending, and note since when it is."""
    obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": now}


def default_node(obj: Object) -> None:
    """Take an empty list of drivers for none."""
    obj["spec"]["drivers"] = obj["spec"].get("drivers") or None


def fixed_class(new: Object, old: Stored) -> list[FieldError]:
    """Refuse changes of what a class says about volumes that exist."""
    return [
        wrong(name, new.get(name), IMMUTABLE)
        for name in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")
        if new.get(name) != old.get(name)
    ]


CLASS = Strategy(
    metadata=BOTH,
    default=rules.default_class,
    validate=rules.validate_class,
    validate_update=fixed_class,
)
ATTRIBUTES_CLASS = Strategy(
    metadata=BOTH,
    validate=rules.validate_attributes_class,
    validate_update=rules.fixed_attributes,
)
CLAIM = Strategy(
    metadata=BOTH,
    prepare_update=settle_claim,
    default=default_claim,
    prepare_create=prepare_claim,
    validate=claims.validate,
    validate_update=claims.validate_update,
    validate_status=claims.validate_status,
)
VOLUME = Strategy(
    metadata=WHOLE * 2,
    default=default_volume,
    prepare_create=prepare_volume,
    validate=persistent_volumes.validate,
    validate_update=persistent_volumes.fixed,
    warnings=volume_warnings.warnings,
)
DRIVER = Strategy(
    default=rules.default_driver,
    prepare_update=count_changes,
    validate=rules.validate_driver,
    validate_update=rules.fixed_driver,
    warnings=rules.driver_warnings,
)
NODE = Strategy(
    metadata=WHOLE,
    default=default_node,
    validate=rules.validate_node,
    validate_update=rules.fixed_drivers,
)
CAPACITY = Strategy(
    metadata=BOTH, validate=rules.validate_capacity, validate_update=rules.fixed_capacity
)
ATTACHMENT = Strategy(
    metadata=WHOLE,
    validate=rules.validate_attachment,
    validate_update=rules.fixed_attachment,
    validate_status=rules.validate_attachment_status,
    status_keeps_metadata=True,
)
