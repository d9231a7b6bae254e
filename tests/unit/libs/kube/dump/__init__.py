"""Dumps of clusters."""
