"""Taints of nodes and tolerations of pods.

Apart because solver, lifecycle and drain ask the same question: does this pod bear that node?

Source: Kubernetes documentation, "Taints and Tolerations"; KEP-5471 for the numeric operators;
`docs/sources.md` 2.3 for Karpenter's own taints.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Effect(StrEnum):
    """What a taint does to pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class TolerationOperator(StrEnum):
    """How a toleration's value is compared; `Lt` wants the taint's number to be below it."""

    EQUAL = "Equal"
    EXISTS = "Exists"
    LT = "Lt"
    GT = "Gt"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Taint:
    """A mark that keeps pods off a node. A node has at most one per key and effect."""

    key: str
    effect: Effect
    value: str = ""

    def __str__(self) -> str:
        return (
            f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Toleration:
    """What a pod bears."""

    key: str = ""
    """Empty: any key."""
    operator: TolerationOperator = TolerationOperator.EQUAL
    value: str = ""
    effect: Effect | None = None
    """`None`: any effect."""
    seconds: int | None = None
    """How long a `NoExecute` taint is borne; `None`: for ever."""


ALL_EFFECTS = frozenset(Effect)
HARD_EFFECTS = frozenset({Effect.NO_SCHEDULE, Effect.NO_EXECUTE})
"""The effects that kube-scheduler filters by."""

DISRUPTED = Taint(key="karpenter.sh/disrupted", effect=Effect.NO_SCHEDULE)
UNREGISTERED = Taint(key="karpenter.sh/unregistered", effect=Effect.NO_EXECUTE)

_EPHEMERAL = frozenset(
    {
        ("node.kubernetes.io/not-ready", Effect.NO_SCHEDULE),
        ("node.kubernetes.io/not-ready", Effect.NO_EXECUTE),
        ("node.kubernetes.io/unreachable", Effect.NO_SCHEDULE),
        ("node.cloudprovider.kubernetes.io/uninitialized", Effect.NO_SCHEDULE),
        (UNREGISTERED.key, UNREGISTERED.effect),
    }
)
_EPHEMERAL_PREFIX = "readiness.k8s.io/"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_LARGEST = 2**63 - 1


def tolerates(
    tolerations: Iterable[Toleration],
    taints: Iterable[Taint],
    effects: frozenset[Effect] = ALL_EFFECTS,
) -> bool:
    """Tell whether every taint that has one of the effects is tolerated.

    Arguments as of `untolerated`, by which `Lt` and `Gt` mean nothing here.
    """
    return not untolerated(tolerations, taints, effects)


def untolerated(
    tolerations: Iterable[Toleration],
    taints: Iterable[Taint],
    effects: frozenset[Effect] = ALL_EFFECTS,
    *,
    numeric: bool = False,
) -> tuple[Taint, ...]:
    """Return the taints that keep the pod away, in the order given.

    Args:
        tolerations: of the pod.
        taints: of the node.
        effects: the effects that count; a taint with another one is passed over.
        numeric: whether `Lt` and `Gt` mean anything, as with the gate
            TaintTolerationComparisonOperators.
    """
    counted = tuple(taint for taint in taints if taint.effect in effects)
    if not counted:
        return ()
    by_key: dict[str, list[Toleration]] = {}
    for one in tolerations:
        by_key.setdefault(one.key, []).append(one)
    return tuple(taint for taint in counted if not _borne(by_key, taint, numeric))


def is_ephemeral(taint: Taint) -> bool:
    """Tell whether a starting node will lose this taint by itself; its value does not matter."""
    return (taint.key, taint.effect) in _EPHEMERAL or taint.key.startswith(_EPHEMERAL_PREFIX)


def _borne(tolerations: Mapping[str, list[Toleration]], taint: Taint, numeric: bool) -> bool:
    """Tell whether a toleration of the taint's key, or of any key, matches the taint."""
    return any(
        _matches(one, taint, numeric) for key in (taint.key, "") for one in tolerations.get(key, ())
    )


def _matches(toleration: Toleration, taint: Taint, numeric: bool) -> bool:
    if toleration.effect is not None and toleration.effect != taint.effect:
        return False
    match toleration.operator:
        case TolerationOperator.EXISTS:
            return True
        case TolerationOperator.EQUAL:
            return toleration.value == taint.value
        case TolerationOperator.LT | TolerationOperator.GT:
            return numeric and _compares(toleration, taint)


def _compares(toleration: Toleration, taint: Taint) -> bool:
    there, limit = _integer(taint.value), _integer(toleration.value)
    if there is None or limit is None:
        return False
    return there < limit if toleration.operator is TolerationOperator.LT else there > limit


def _integer(text: str) -> int | None:
    """Return the integer; the API takes 64-bit decimals without leading zeros or plus sign."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -_LARGEST - 1 <= number <= _LARGEST else None
