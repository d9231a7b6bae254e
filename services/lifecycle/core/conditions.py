"""`ConditionSet`: the conditions of one object, and the rules by which they change.

Apart because pools, claims and classes share these rules, and three of them surprise: an unchanged
status keeps its transition time, `Ready` follows from its dependents at the current generation, and
the list is stored oldest transition first, `Ready` last.

Source: `docs/sources.md` 3.1.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from libs.domain.nodeclaim import ConditionStatus, ConditionType
from libs.kube.objects.metadata import Condition, ObjectMeta

READY = "Ready"
CLAIM_DEPENDENTS = (
    str(ConditionType.LAUNCHED),
    str(ConditionType.REGISTERED),
    str(ConditionType.INITIALIZED),
)
POOL_DEPENDENTS = ("ValidationSucceeded", "NodeClassReady")

TRUE, FALSE, UNKNOWN = (str(status) for status in ConditionStatus)

_AWAITING = "AwaitingReconciliation"
_AWAITING_MESSAGE = "object is awaiting reconciliation"
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionSet:
    """Conditions at one instant; each change gives a new set."""

    dependents: tuple[str, ...]
    """Those that `Ready` follows from; they cannot be cleared."""
    generation: int
    now: datetime
    conditions: tuple[Condition, ...]
    deleting: bool = False

    @classmethod
    def of(
        cls,
        metadata: ObjectMeta,
        conditions: tuple[Condition, ...],
        dependents: tuple[str, ...],
        now: datetime,
    ) -> "ConditionSet":
        """Return the set of an object, with what `Ready` needs added as Unknown."""
        created = metadata.creation_timestamp or now
        known = {one.type for one in conditions}
        missing = tuple(
            Condition(
                type=kind,
                status=UNKNOWN,
                reason=_AWAITING,
                message=_AWAITING_MESSAGE,
                observed_generation=metadata.generation,
                last_transition_time=created,
            )
            for kind in (*dependents, READY)
            if kind not in known
        )
        return cls(
            dependents=dependents,
            generation=metadata.generation,
            now=now,
            conditions=(*conditions, *missing),
            deleting=metadata.deletion_timestamp is not None,
        )

    def get(self, kind: str) -> Condition | None:
        """Return the condition of a type."""
        return next((one for one in self.conditions if one.type == kind), None)

    def status(self, kind: str) -> str:
        """Return the status of a type; one that is not there is Unknown."""
        found = self.get(kind)
        return UNKNOWN if found is None else found.status

    def is_true(self, kind: str) -> bool:
        """Tell whether the condition is there and True."""
        return self.status(kind) == TRUE

    def since(self, kind: str) -> datetime | None:
        """Return the last transition of a type."""
        found = self.get(kind)
        return None if found is None else found.last_transition_time

    def set_true(self, kind: str, reason: str = "", message: str = "") -> "ConditionSet":
        """Return the set with the condition True; without a reason its type is the reason."""
        return self._put(kind, TRUE, reason or kind, message)._with_root()

    def set_false(self, kind: str, reason: str, message: str = "") -> "ConditionSet":
        """Return the set with the condition False."""
        return self._put(kind, FALSE, reason, message)._with_root()

    def set_unknown(self, kind: str, reason: str, message: str = "") -> "ConditionSet":
        """Return the set with the condition Unknown."""
        return self._put(kind, UNKNOWN, reason, message)._with_root()

    def clear(self, kind: str) -> "ConditionSet":
        """Return the set without an independent condition."""
        if kind in self.dependents or kind == READY or self.get(kind) is None:
            return self
        kept = sorted((one for one in self.conditions if one.type != kind), key=lambda c: c.type)
        return replace(self, conditions=tuple(kept))

    def restamp(self) -> "ConditionSet":
        """Return the set with every dependent that is decided at the current generation."""
        decided = tuple(
            _at(one, self.generation)
            if one.type in self.dependents and one.status != UNKNOWN
            else one
            for one in self.conditions
        )
        return replace(self, conditions=decided)._with_root()

    def to_json(self) -> list[dict[str, Any]]:
        """Return the list as it is stored."""
        return [
            _json(_at(one, self.generation) if self.deleting else one)
            for one in sorted(self.conditions, key=_stored_order)
        ]

    def differs(self, stored: Iterable[Condition]) -> bool:
        """Tell whether writing the set would change anything, order apart."""
        before = {one.type: _json(one) for one in stored}
        return before != {one["type"]: one for one in self.to_json()}

    def _put(self, kind: str, status: str, reason: str, message: str) -> "ConditionSet":
        before = self.get(kind)
        kept = before is not None and before.status == status
        new = Condition(
            type=kind,
            status=status,
            reason=reason,
            message=message,
            observed_generation=self.generation,
            last_transition_time=before.last_transition_time if before and kept else self.now,
        )
        others = tuple(one for one in self.conditions if one.type != kind)
        return replace(self, conditions=(*others, new))

    def _with_root(self) -> "ConditionSet":
        children = [one for one in self.conditions if one.type in self.dependents]
        if all(
            one.status == TRUE and one.observed_generation == self.generation for one in children
        ):
            return self._put(READY, TRUE, READY, "")
        offenders = sorted(
            (one for one in children if one.status != TRUE),
            key=lambda one: one.last_transition_time or _NEVER,
            reverse=True,
        )
        message = ", ".join(f"{one.type}={one.status}" for one in offenders)
        if any(
            one.status == FALSE and one.observed_generation == self.generation for one in children
        ):
            return self._put(READY, FALSE, "UnhealthyDependents", message)
        return self._put(READY, UNKNOWN, "ReconcilingDependents", message)


def timestamp(instant: datetime) -> str:
    """Return an instant as Kubernetes stores it: UTC, whole seconds."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _at(condition: Condition, generation: int) -> Condition:
    return Condition(
        type=condition.type,
        status=condition.status,
        reason=condition.reason,
        message=condition.message,
        observed_generation=generation,
        last_transition_time=condition.last_transition_time,
    )


def _stored_order(one: Condition) -> tuple[bool, datetime, str]:
    return one.type == READY, one.last_transition_time or _NEVER, one.type


def _json(one: Condition) -> dict[str, Any]:
    return {
        "type": one.type,
        "status": one.status,
        "reason": one.reason,
        "message": one.message,
        "observedGeneration": one.observed_generation,
        "lastTransitionTime": timestamp(one.last_transition_time or _NEVER),
    }
