"""Choices that options offer, apart from the work so that the help needs nothing else."""

from enum import StrEnum


class Judge(StrEnum):
    """Who answers a recording again."""

    ORACLE = "oracle"
    SIMULATOR = "simulator"
    SOLVER = "solver"


class Machines(StrEnum):
    """What becomes of a trace's own machines."""

    CORDONED = "cordoned"
    READY = "ready"
    NONE = "none"
