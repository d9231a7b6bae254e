"""A usage trace: terms that are added up, each a number at every instant. Pure, and repeatable.

    200m + noise(50m, 7)            about 200 millicores, never the same for long; 7 is the seed
    50%                             half of what the container requests
    daily(100m, 900m, 14)           a curve over the day with its peak at 14 o'clock UTC
    steps(0=100m, 60=2, 300=100m)   by seconds since the container began
    ramp(100Mi, 1Gi, 3600)          from one to the other in so many seconds since then
    shared(4)                       what a workload uses in all, shared by its ready pods

Amounts are Kubernetes quantities or shares of the request.
"""

import hashlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from libs.domain import quantity_text
from libs.domain.errors import InvalidRequest
from libs.domain.quantity_text import MalformedQuantity

_TERM = re.compile(r"(?P<name>[a-z]+)\((?P<arguments>[^()]*)\)")
_NOISE_SECONDS = 15
_HOURS = 24
_MOST = 1e15


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a trace may depend on."""

    now: datetime
    age: float
    """Seconds since the container began."""
    request: float
    """What the container requests: cores or bytes."""
    sharers: int
    """Ready pods of the same workload, this one among them."""
    name: str
    """What tells the container from all others."""


Trace = Callable[[Moment], float]
"""Returns cores or bytes."""

_Amount = Callable[[Moment], float]


@lru_cache(maxsize=1024)
def parse(text: str) -> Trace:
    """Return the trace that a text describes; raises InvalidRequest."""
    terms = [_term(part.strip()) for part in text.split("+")]

    def trace(moment: Moment) -> float:
        return min(max(0.0, sum(term(moment) for term in terms)), _MOST)

    return trace


def _term(text: str) -> Trace:
    match = _TERM.fullmatch(text)
    if match is None:
        return _amount(text)
    arguments = [part.strip() for part in match["arguments"].split(",")]
    make = _TERMS.get(match["name"])
    if make is None:
        raise InvalidRequest(f'"{match["name"]}" is none of {", ".join(sorted(_TERMS))}')
    try:
        return make(arguments)
    except (ValueError, TypeError, LookupError) as error:
        raise InvalidRequest(f'"{text}" cannot be read') from error


def _amount(text: str) -> _Amount:
    if text.endswith("%"):
        try:
            share = float(text[:-1]) / 100
        except ValueError as error:
            raise InvalidRequest(f'"{text}" is no share such as 50%') from error
        return lambda moment: share * moment.request
    try:
        amount = float(quantity_text.value(text))
    except MalformedQuantity as error:
        raise InvalidRequest(f'"{text}" is no quantity') from error
    return lambda _moment: amount


def _noise(arguments: list[str]) -> Trace:
    text, seed = (*arguments, "0")[:2]
    amount = _amount(text)

    def term(moment: Moment) -> float:
        slot = int(moment.now.timestamp()) // _NOISE_SECONDS
        digest = hashlib.blake2b(f"{seed}\0{moment.name}\0{slot}".encode(), digest_size=8).digest()
        return amount(moment) * (int.from_bytes(digest, "big") / 2**63 - 1)

    return term


def _daily(arguments: list[str]) -> Trace:
    low, high, peak = _amount(arguments[0]), _amount(arguments[1]), float(arguments[2])

    def term(moment: Moment) -> float:
        now = moment.now.astimezone(UTC)
        hour = now.hour + now.minute / 60 + now.second / 3600
        height = (1 + math.cos(2 * math.pi * (hour - peak) / _HOURS)) / 2
        return low(moment) + (high(moment) - low(moment)) * height

    return term


def _steps(arguments: list[str]) -> Trace:
    parts = [argument.split("=") for argument in arguments]
    steps = sorted(((float(since), _amount(text.strip())) for since, text in parts), key=_since)

    def term(moment: Moment) -> float:
        level = 0.0
        for since, amount in steps:
            if since <= moment.age:
                level = amount(moment)
        return level

    return term


def _since(step: tuple[float, _Amount]) -> float:
    return step[0]


def _ramp(arguments: list[str]) -> Trace:
    first, last, seconds = _amount(arguments[0]), _amount(arguments[1]), float(arguments[2])

    def term(moment: Moment) -> float:
        share = min(1.0, moment.age / seconds) if seconds > 0 else 1.0
        return first(moment) + (last(moment) - first(moment)) * share

    return term


def _shared(arguments: list[str]) -> Trace:
    (text,) = arguments
    amount = _amount(text)
    return lambda moment: amount(moment) / max(1, moment.sharers)


_TERMS = {"noise": _noise, "daily": _daily, "steps": _steps, "ramp": _ramp, "shared": _shared}
