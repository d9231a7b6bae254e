"""Patches: JSON, merge, strategic merge; each a pure function of object and patch."""
