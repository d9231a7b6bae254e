"""HorizontalPodAutoscalers."""

from libs.apiserver.rules import autoscaling
from services.simulator.core.api.strategies.strategy import Strategy

AUTOSCALER = Strategy(default=autoscaling.default, validate=autoscaling.validate)
