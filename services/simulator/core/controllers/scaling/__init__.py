"""HorizontalPodAutoscalers: how many replicas a metric asks for, how fast, and the controller."""
