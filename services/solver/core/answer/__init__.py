"""From packed bins to a plan: launch lists, steering of limits, messages."""
