"""How to refine and what to choose a plan by, as it was typed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import TypeVar

from libs.domain.duration import parse_go
from libs.domain.errors import InvalidRequest
from libs.domain.objective import PPM, BlastRadius, Licence, Objective, SpotDiversity
from libs.domain.requirements import Requirements
from libs.domain.solution import SolveOptions

T = TypeVar("T")

_NANOS = 10**9
_MOST_DIGITS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Refining:
    """Options of `joiner plan`; dollars per hour, shares in percent."""

    budget: str = "0s"
    iterations: int | None = None
    seed: int = 0
    interruption: str = "0"
    node: str = "0"
    licences: tuple[str, ...] = ()
    """Each `KEY=VALUE,…:DOLLARS`; without labels every node needs it."""
    blast_radius: str = ""
    """`PERCENT:DOLLARS`."""
    spot_share: str = "0"
    spot_types: int = 0

    def applied(self, options: SolveOptions) -> SolveOptions:
        """Return the options with what was typed.

        Raises:
            InvalidRequest: a text that means nothing; names the option.
        """
        return replace(
            options,
            refine_budget=_named("--refine-budget", lambda: parse_go(self.budget)),
            refine_iterations=self.iterations,
            seed=self.seed,
            objective=self._objective(),
        )

    def _objective(self) -> Objective:
        share = _ppm("--objective-spot-share", self.spot_share)
        diversity = SpotDiversity(share_ppm=share, instance_types=self.spot_types)
        return Objective(
            interruption_nanos_per_hour=_nanos("--objective-interruption", self.interruption),
            node_nanos_per_hour=_nanos("--objective-node", self.node),
            licences=tuple(map(_licence, self.licences)),
            blast_radius=_blast_radius(self.blast_radius) if self.blast_radius else None,
            spot_diversity=None if diversity == SpotDiversity() else diversity,
        )


def _named(option: str, made: Callable[[], T]) -> T:
    """Return what is made; an error names the option."""
    try:
        return made()
    except InvalidRequest as error:
        raise InvalidRequest(str(error), field=option) from None


def _licence(text: str) -> Licence:
    option = "--objective-licence"
    labels, _, dollars = text.rpartition(":")
    pairs = [one.partition("=") for one in labels.split(",") if one]
    for key, equals, value in pairs:
        if not key or not equals or not value:
            raise InvalidRequest(f"{labels!r} is not KEY=VALUE,KEY=VALUE", field=option)
    nodes = Requirements.from_labels({key: value for key, _, value in pairs})
    return Licence(nodes=nodes, nanos_per_hour=_nanos(option, dollars))


def _blast_radius(text: str) -> BlastRadius:
    option = "--objective-blast-radius"
    share, colon, dollars = text.partition(":")
    if not colon:
        raise InvalidRequest(f"{text!r} is not PERCENT:DOLLARS, such as 25:0.01", field=option)
    ppm = _ppm(option, share)
    return _named(
        option, lambda: BlastRadius(share_ppm=ppm, pod_nanos_per_hour=_nanos(option, dollars))
    )


def _nanos(option: str, text: str) -> int:
    """Return dollars per hour in nano-dollars."""
    return _scaled(option, text, _NANOS, "dollars per hour, such as 0.01")


def _ppm(option: str, text: str) -> int:
    """Return percent in millionths."""
    found = _scaled(option, text.removesuffix("%"), PPM // 100, "percent, such as 25")
    if found > PPM:
        raise InvalidRequest(f"{text!r} is above 100 percent", field=option)
    return found


def _scaled(option: str, text: str, unit: int, what: str) -> int:
    try:
        number = Decimal(text) if len(text) <= _MOST_DIGITS else Decimal("NaN")
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not 0 <= number <= unit:
        raise InvalidRequest(f"{text!r} is no amount of {what}", field=option)
    return int(number * unit)
