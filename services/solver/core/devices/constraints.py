"""What must hold between the devices of one claim: one attribute equal, or different throughout.

Apart from the search because it only adds and removes; what an attribute means is said here.

Source: API `resource.k8s.io/v1`, `DeviceConstraint`. Where kube-scheduler compares a device with
only the last one of each request, all are compared here. Values that devices have in common are
as in Karpenter's `AttributeBindings`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from libs.domain.device import CommonValue, DeviceConstraint
from services.solver.core.devices.offer import Candidate


class Constraint:
    """One constraint and the values of the devices chosen so far."""

    __slots__ = ("_distinct", "_requests", "_values", "attribute")

    def __init__(self, stated: DeviceConstraint) -> None:
        self._distinct = bool(stated.distinct_attribute)
        self.attribute = stated.distinct_attribute or stated.match_attribute
        self._requests = frozenset(stated.requests)
        self._values: Counter[tuple[type, object]] = Counter()

    def __str__(self) -> str:
        kind = "distinctAttribute" if self._distinct else "matchAttribute"
        return f"{kind} {self.attribute}"

    def add(self, names: Iterable[str], candidate: Candidate) -> bool:
        """Add a device for a request that goes by these names; False if it breaks the constraint.

        What was refused is not there and must not be removed.
        """
        if not self.concerns(names):
            return True
        value = self._value(candidate)
        if value is None:
            return False
        taken = value in self._values if self._distinct else any(self._values.keys() - {value})
        if taken:
            return False
        self._values[value] += 1
        return True

    def most(self, names: Iterable[str], candidates: Sequence[Candidate]) -> int:
        """Return how many of these devices a request could get at most beside those chosen."""
        if not self.concerns(names):
            return len(candidates)
        return self.most_of_all(candidates)

    def most_of_all(self, candidates: Iterable[Candidate]) -> int:
        """Return how many of these devices can be had at most beside those chosen."""
        values = Counter(self._value(one) for one in candidates)
        del values[None]
        if self._distinct:
            return len(values.keys() - self._values.keys())
        pinned = next(iter(self._values), None)
        return max(values.values(), default=0) if pinned is None else values[pinned]

    def remove(self, names: Iterable[str], candidate: Candidate) -> None:
        """Remove a device that was added."""
        value = self._value(candidate)
        if value is not None and self.concerns(names):
            self._values[value] -= 1
            if not self._values[value]:
                del self._values[value]

    def _value(self, candidate: Candidate) -> tuple[type, object] | None:
        """Return what is compared; None if that cannot be known.

        A value that devices have in common is known to be the same, never to be another one.
        """
        value = candidate.attribute(self.attribute)
        if self._distinct and value is not None and value[0] is CommonValue:
            return None
        return value

    def concerns(self, names: Iterable[str]) -> bool:
        """Tell whether it is about a request that goes by these names."""
        return not self._requests or not self._requests.isdisjoint(names)
