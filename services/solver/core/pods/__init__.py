"""Waiting pods: groups of one shape, what they ask for, the order of their turns.

Apart because it knows neither prices nor nodes: what a pod is, before anybody looks for a place.
"""
