"""HorizontalPodAutoscalers."""

from libs.apiserver.rules import autoscaling, statuses
from services.simulator.core.api.strategies.strategy import Strategy

AUTOSCALER = Strategy(
    default=autoscaling.default,
    validate=autoscaling.validate,
    validate_status=statuses.validate_autoscaler,
)
