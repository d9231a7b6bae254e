"""Which taints a pod does not bear: the one place that says how tolerations are compared.

Numeric tolerations always count: the API server lets them in only where their gate is on.
"""

from libs.domain.pod import PodShape
from libs.domain.taint import HARD_EFFECTS, Effect, Taint, untolerated


def not_borne(
    shape: PodShape, taints: tuple[Taint, ...], effects: frozenset[Effect] = HARD_EFFECTS
) -> tuple[Taint, ...]:
    """Return the taints with one of these effects that keep the pod away."""
    return untolerated(shape.tolerations, taints, effects, numeric=True)


def bears(
    shape: PodShape, taints: tuple[Taint, ...], effects: frozenset[Effect] = HARD_EFFECTS
) -> bool:
    """Tell whether the pod bears all taints that have one of these effects."""
    return not not_borne(shape, taints, effects)
