"""What steers scheduling: priority classes, runtime classes."""

from libs.apiserver.field_errors import FieldError, not_allowed, wrong
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.rules import priorities, runtimes
from services.simulator.core.api.strategies.generations import start_at_one
from services.simulator.core.api.strategies.strategy import BOTH, Object, Stored, Strategy


def default_priority_class(obj: Object) -> None:
    """Fill in the preemption policy."""
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def fixed_priority(new: Object, old: Stored) -> list[FieldError]:
    """Refuse a changed value or preemption policy."""
    found = []
    if new.get("value", 0) != old.get("value", 0):
        found.append(not_allowed("value", "may not be changed in an update."))
    if new.get("preemptionPolicy") != old.get("preemptionPolicy"):
        found.append(wrong("preemptionPolicy", new.get("preemptionPolicy"), IMMUTABLE))
    return found


PRIORITY_CLASS = Strategy(
    default=default_priority_class,
    prepare_create=start_at_one,
    validate_new=priorities.validate,
    validate_update=fixed_priority,
)
RUNTIME_CLASS = Strategy(
    metadata=BOTH,
    validate=runtimes.validate,
    validate_update=runtimes.fixed,
    plain_metadata=True,
)
