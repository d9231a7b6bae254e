"""What the annotation `karpenter.sh/do-not-disrupt` protects.

Apart because watcher, disruption and lifecycle's drain must read it alike. A snapshot carries the
parsed form: the milliseconds of protection from the pod's start on.

Source: `docs/sources.md` B2 and B3.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from libs.domain.duration import parse_go_nanoseconds
from libs.domain.errors import InvalidRequest
from libs.domain.pod import DO_NOT_DISRUPT_FOR_EVER

ANNOTATION = "karpenter.sh/do-not-disrupt"

NONE = 0
FOR_EVER = DO_NOT_DISRUPT_FOR_EVER

_NANOS_PER_MS = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """What a pod's annotation says; a text that says nothing does not protect."""

    span_ms: int = NONE
    """Milliseconds from the pod's start, `FOR_EVER`, or `NONE`."""
    problem: str | None = None


def parse(annotations: Mapping[str, str]) -> Protection:
    """Return the protection that a pod's annotations ask for: `true`, or a positive Go duration."""
    text = annotations.get(ANNOTATION)
    if text is None:
        return Protection()
    if text == "true":
        return Protection(span_ms=FOR_EVER)
    try:
        nanos = parse_go_nanoseconds(text)
    except InvalidRequest:
        nanos = 0
    if nanos <= 0:
        return Protection(problem=f'{ANNOTATION} is {text!r}, not "true" or a positive duration')
    return Protection(span_ms=-(-nanos // _NANOS_PER_MS))


def protects(span_ms: int, *, started_ms: int, now_ms: int) -> bool:
    """Tell whether the protection holds now.

    Args:
        span_ms: as in `Protection`.
        started_ms: start of the pod in milliseconds since 1970, 0 if it has not started: then it is
            protected.
        now_ms: the instant asked about.
    """
    if span_ms in (NONE, FOR_EVER):
        return span_ms == FOR_EVER
    return started_ms == 0 or now_ms - started_ms < span_ms


def protected_until_ms(span_ms: int, *, started_ms: int) -> int | None:
    """Return when a span runs out; `None` without one, for ever, or before the pod's start."""
    return started_ms + span_ms if span_ms > 0 and started_ms else None


def node_is_protected(annotations: Mapping[str, str]) -> bool:
    """Tell whether a node or claim may not be disrupted: there only the literal `true` counts."""
    return annotations.get(ANNOTATION) == "true"
