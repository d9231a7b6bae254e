"""What options offer and what was chosen, apart from the work: the help needs nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum

from libs.domain import feature_gates
from libs.domain.question import SubjectKind
from libs.domain.solution import MinValuesPolicy, PreferencePolicy, SolveOptions


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """How to decide, as it was typed."""

    preference_policy: PreferencePolicy
    min_values_policy: MinValuesPolicy
    feature_gates: str
    scheduler_config: str
    now: str | None

    def options(self) -> SolveOptions:
        """Return what they mean to the solver.

        Raises:
            InvalidRequest: a feature gate that there is not.
        """
        return SolveOptions(
            preference_policy=self.preference_policy,
            min_values_policy=self.min_values_policy,
            feature_gates=feature_gates.parse(self.feature_gates, "--feature-gates"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a consolidation may do, as it was typed."""

    node_budget: str
    """`N` or `P%`; empty: as the pools' own budgets allow."""
    move_price: float
    """Dollars per hour."""
    max_moves: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is asked about, as it was typed."""

    kind: SubjectKind
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """One change of a cluster, as it was typed; each field in the syntax of its option."""

    name: str = ""
    source: str = ""
    """Where in a file it stands; empty for the options of the command."""
    add: tuple[str, ...] = ()
    pool_files: tuple[str, ...] = ()
    overlay_files: tuple[str, ...] = ()
    prices: tuple[str, ...] = ()
    remove_overlays: tuple[str, ...] = ()
    cordon_nodes: tuple[str, ...] = ()
    remove_nodes: tuple[str, ...] = ()
    add_nodes: tuple[str, ...] = ()
    scale: tuple[str, ...] = ()
    remove_workloads: tuple[str, ...] = ()
    without_instance_types: tuple[str, ...] = ()
    without_zones: tuple[str, ...] = ()
    without_capacity_types: tuple[str, ...] = ()
    remove_pools: tuple[str, ...] = ()

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield field and text of all that is to change."""
        for one in fields(self):
            if one.name not in ("name", "source"):
                yield from ((one.name, text) for text in getattr(self, one.name))

    def where(self, field: str, text: str) -> str:
        """Return how to name one of its texts to whoever typed it."""
        words = field.split("_")
        if not self.source:
            return f"--{'-'.join(words).removesuffix('s')} {text}"
        return f"{self.source}.{words[0]}{''.join(map(str.capitalize, words[1:]))}: {text}"

    @property
    def shown(self) -> str:
        """Return its name, else what is to change."""
        return self.name or " ".join(self.where(*one) for one in self.texts())
