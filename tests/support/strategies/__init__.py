"""Hypothesis strategies of domain values, sorted wherever the contract says so."""
