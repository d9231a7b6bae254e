"""Options of several commands, and what was typed, apart from the work: the help needs no more."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated

import typer

from cli.formats import Format
from cli.ranges import count_or_percent, real, whole
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


_FILES = typer.Option("-f", "--filename", help="YAML or JSON as kubectl prints it; - reads stdin.")
Files = Annotated[list[str], _FILES]
CatalogueName = Annotated[
    str, typer.Option(help="kwok, aws, or a file in the schema of KWOK's instance types.")
]
Output = Annotated[Format, typer.Option("--format", help="How to print.")]
Now = Annotated[str | None, typer.Option("--now", help="Instant, RFC 3339; else now.")]
SchedulerConfig = Annotated[
    str,
    typer.Option(
        "--scheduler-config",
        metavar="FILE",
        help="Default spread constraints of the cluster, as Karpenter's scheduler-config.",
    ),
]

_MOST_DOLLARS = 1_000_000
"""Per hour: beyond it nothing is bought or moved any more."""
_MOST_PODS = 2**31 - 1
"""As many as the question's field of 32 bits holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """How to decide, as it was typed."""

    preference_policy: Annotated[
        PreferencePolicy,
        typer.Option(case_sensitive=False, help="Whether pods' preferences are tried at all."),
    ] = PreferencePolicy.RESPECT
    min_values_policy: Annotated[
        MinValuesPolicy,
        typer.Option(case_sensitive=False, help="Whether minValues out of reach refuse a pod."),
    ] = MinValuesPolicy.STRICT
    feature_gates: Annotated[
        str, typer.Option(help="NAME=true,NAME=false: Karpenter's gates and defaults.")
    ] = ""
    scheduler_config: SchedulerConfig = ""
    now: Now = None

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

    node_budget: Annotated[
        str,
        typer.Option(
            parser=count_or_percent(_MOST_PODS),
            metavar="N|P%",
            help="Most nodes to give up per pool; else as its own budgets allow.",
        ),
    ] = ""
    move_price: Annotated[
        float,
        typer.Option(
            parser=real(0, _MOST_DOLLARS),
            metavar="$/h",
            help="Saving that moving one pod has to be worth.",
        ),
    ] = 0.0
    max_moves: Annotated[
        int | None,
        typer.Option(
            parser=whole(0, _MOST_PODS),
            metavar="N",
            help="Most pods to move; without it any number.",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What every question about one thing has in common, as it was typed."""

    files: Annotated[tuple[str, ...], _FILES]
    choices: Choices
    catalogue: CatalogueName = "kwok"
    output: Output = Format.TABLE


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
    add: Annotated[
        tuple[str, ...],
        typer.Option("--add", metavar="FILE", help="Add objects, such as pods or Deployments."),
    ] = ()
    pool_files: Annotated[
        tuple[str, ...],
        typer.Option("--pool-file", metavar="FILE", help="Add or replace NodePools."),
    ] = ()
    overlay_files: Annotated[
        tuple[str, ...],
        typer.Option("--overlay-file", metavar="FILE", help="Add or replace NodeOverlays."),
    ] = ()
    prices: Annotated[
        tuple[str, ...],
        typer.Option(
            "--price",
            metavar="[zone=Z,type=T,capacity-type=C:]±P%",
            help="Change prices, of all or some offerings, by P per cent.",
        ),
    ] = ()
    remove_overlays: Annotated[
        tuple[str, ...],
        typer.Option("--remove-overlay", metavar="NAME", help="Delete a NodeOverlay."),
    ] = ()
    cordon_nodes: Annotated[
        tuple[str, ...],
        typer.Option("--cordon-node", metavar="NAME", help="Let nothing new onto a node."),
    ] = ()
    remove_nodes: Annotated[
        tuple[str, ...],
        typer.Option("--remove-node", metavar="NAME", help="Take a node away; its pods move."),
    ] = ()
    add_nodes: Annotated[
        tuple[str, ...],
        typer.Option(
            "--add-node",
            metavar="POOL=TYPE/ZONE/CAPACITY-TYPE[:N]",
            help="Add N nodes, bought and ready.",
        ),
    ] = ()
    scale: Annotated[
        tuple[str, ...],
        typer.Option("--scale", metavar="NS/[KIND/]NAME=N", help="Let a workload have N pods."),
    ] = ()
    remove_workloads: Annotated[
        tuple[str, ...],
        typer.Option("--remove-workload", metavar="NS/[KIND/]NAME", help="Take a workload away."),
    ] = ()
    without_instance_types: Annotated[
        tuple[str, ...],
        typer.Option(
            "--without-instance-type",
            metavar="TYPE",
            help="An instance type is gone, with its nodes.",
        ),
    ] = ()
    without_zones: Annotated[
        tuple[str, ...],
        typer.Option("--without-zone", metavar="ZONE", help="A zone is gone, with its nodes."),
    ] = ()
    without_capacity_types: Annotated[
        tuple[str, ...],
        typer.Option(
            "--without-capacity-type",
            metavar="TYPE",
            help="spot, on-demand or reserved is gone, with its nodes.",
        ),
    ] = ()
    remove_pools: Annotated[
        tuple[str, ...],
        typer.Option("--remove-pool", metavar="NAME", help="Delete a NodePool, and so its nodes."),
    ] = ()

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
