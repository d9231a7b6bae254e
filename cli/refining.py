"""How to refine and what to choose a plan by, as it was typed."""

from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer

from cli.ranges import MOST, whole
from libs.domain.duration import parse_go
from libs.domain.errors import InvalidRequest
from libs.domain.labels import label_value_problem, qualified_name_problem
from libs.domain.objective import MOST_WEIGHT, PPM, BlastRadius, Licence, Objective, SpotDiversity
from libs.domain.requirements import Requirements
from libs.domain.solution import SolveOptions

_LICENCE = "--objective-licence"
_NANOS = 10**9
_MOST_DOLLARS = MOST_WEIGHT // _NANOS
_WHOLE = 100
_MOST_DIGITS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Refining:
    """How to look for a cheaper plan, as it was typed."""

    refine_budget: Annotated[
        str, typer.Option(metavar="SPAN", help="Time to look for a cheaper plan in, such as 500ms.")
    ] = "0s"
    refine_iterations: Annotated[
        int | None,
        typer.Option(
            parser=whole(0),
            metavar="N",
            help="Exactly so many iterations instead: the same plan each time.",
        ),
    ] = None
    seed: Annotated[
        int, typer.Option(parser=whole(-MOST - 1), metavar="N", help="Seed of that search.")
    ] = 0

    def applied(self, options: SolveOptions) -> SolveOptions:
        """Return the options with what was typed.

        Raises:
            InvalidRequest: a text that means nothing; names the option.
        """
        return replace(
            options,
            refine_budget=_span("--refine-budget", self.refine_budget),
            refine_iterations=self.refine_iterations,
            seed=self.seed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Objectives:
    """What counts beyond the price, as it was typed."""

    interruption: Annotated[
        str,
        typer.Option(
            "--objective-interruption",
            metavar="$/h",
            help="What each new spot node counts for more.",
        ),
    ] = "0"
    node: Annotated[
        str,
        typer.Option("--objective-node", metavar="$/h", help="What each new node counts for more."),
    ] = "0"
    licences: Annotated[
        tuple[str, ...],
        typer.Option(
            "--objective-licence",
            metavar="KEY=VALUE,…:$/h",
            help="A licence that nodes with labels need; without labels every node.",
        ),
    ] = ()
    blast_radius: Annotated[
        str,
        typer.Option(
            "--objective-blast-radius",
            metavar="PERCENT:$/h",
            help="What each pod counts for beyond a share of its workload on one new node.",
        ),
    ] = ""
    spot_share: Annotated[
        str,
        typer.Option(
            "--objective-spot-share",
            metavar="PERCENT",
            help="Most of new spot nodes of one offering.",
        ),
    ] = "0"
    spot_types: Annotated[
        int,
        typer.Option(
            "--objective-spot-types",
            parser=whole(0, 600),
            metavar="N",
            help="Least types that a spot node may be launched as.",
        ),
    ] = 0

    def objective(self) -> Objective:
        """Return what they mean to the solver.

        Raises:
            InvalidRequest: a text that means nothing; names the option.
        """
        share = _ppm("--objective-spot-share", self.spot_share)
        diversity = SpotDiversity(share_ppm=share, instance_types=self.spot_types)
        return Objective(
            interruption_nanos_per_hour=_nanos("--objective-interruption", self.interruption),
            node_nanos_per_hour=_nanos("--objective-node", self.node),
            licences=tuple(map(_licence, self.licences)),
            blast_radius=_blast_radius(self.blast_radius) if self.blast_radius else None,
            spot_diversity=None if diversity == SpotDiversity() else diversity,
        )


def _span(option: str, text: str) -> timedelta:
    try:
        found = parse_go(text)
    except InvalidRequest as error:
        raise InvalidRequest(str(error), field=option) from None
    if found < timedelta(0):
        raise InvalidRequest(f"{text!r} is below 0", field=option)
    return found


def _licence(text: str) -> Licence:
    labels, colon, dollars = text.rpartition(":")
    if not colon:
        raise InvalidRequest(
            f"{text!r} is not KEY=VALUE,…:DOLLARS, such as kubernetes.io/os=windows:0.5",
            field=_LICENCE,
        )
    nodes = Requirements.from_labels(dict(map(_label, filter(None, labels.split(",")))))
    return Licence(nodes=nodes, nanos_per_hour=_nanos(_LICENCE, dollars))


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals or not value:
        raise InvalidRequest(f"{text!r} is no label; write KEY=VALUE", field=_LICENCE)
    if problem := qualified_name_problem(key):
        raise InvalidRequest(f"{key!r} is no key of a label: {problem}", field=_LICENCE)
    if problem := label_value_problem(value):
        raise InvalidRequest(f"{value!r} is no value of a label: {problem}", field=_LICENCE)
    return key, value


def _blast_radius(text: str) -> BlastRadius:
    option = "--objective-blast-radius"
    share, colon, dollars = text.partition(":")
    if not colon:
        raise InvalidRequest(f"{text!r} is not PERCENT:DOLLARS, such as 25:0.01", field=option)
    ppm = _ppm(option, share)
    if not ppm:
        raise InvalidRequest(
            f"{share!r} is no share of a workload; write more than 0 percent", field=option
        )
    return BlastRadius(share_ppm=ppm, pod_nanos_per_hour=_nanos(option, dollars))


def _nanos(option: str, text: str) -> int:
    """Return dollars per hour in nano-dollars."""
    found = _amount(option, text, "dollars per hour, such as 0.01")
    if not 0 <= found <= _MOST_DOLLARS:
        raise InvalidRequest(
            f"{text!r} is not between 0 and {_MOST_DOLLARS:,} dollars per hour", field=option
        )
    return int(found * _NANOS)


def _ppm(option: str, text: str) -> int:
    """Return percent in millionths."""
    found = _amount(option, text.removesuffix("%"), "percent, such as 25")
    if not 0 <= found <= _WHOLE:
        raise InvalidRequest(f"{text!r} is not between 0 and 100 percent", field=option)
    return int(found * PPM / _WHOLE)


def _amount(option: str, text: str, what: str) -> Decimal:
    try:
        number = Decimal(text) if len(text) <= _MOST_DIGITS else Decimal("NaN")
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise InvalidRequest(f"{text!r} is no amount of {what}", field=option)
    return number
