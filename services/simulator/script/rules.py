"""What a script must keep beside its types: what may not stand together, what is out of range.

Pure, apart from reading because each rule is one line about one field.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from libs.domain.errors import InvalidRequest
from services.simulator.core.usage import trace
from services.simulator.script import schema
from services.simulator.script.schema import (
    Boot,
    Nodes,
    Requests,
    Scale,
    Script,
    Span,
    Step,
    Usage,
)

ACTIONS = (
    "apply",
    "delete",
    "scale",
    "reclaim",
    "boot",
    "kubelets",
    "usage",
    "pause",
    "throttle",
    "errors",
    "cut_watches",
)
LASTING = frozenset({"boot", "kubelets", "usage", "pause", "throttle", "errors"})
"""What begins and ends; all else is done at once."""

VERBS = ("get", "list", "watch", "create", "update", "patch", "delete")

_REFUSALS = range(400, 600)

Problem = tuple[str, str]
"""Field, and what is wrong with it."""


def problems(script: Script) -> Iterator[Problem]:
    """Yield everything that is wrong with a script."""
    if not script.steps:
        yield "steps", "is empty: a script without a step does nothing"
    for number, step in enumerate(script.steps):
        path = f"steps[{number}]"
        yield from ((f"{path}{field}", problem) for field, problem in _of_step(step))
        if script.until is not None and step.at > script.until:
            yield f"{path}.at", "is after the script's own `until`"


def action_of(step: Step) -> str:
    """Return the name of what a step does, empty if it only tells something."""
    return next((name for name in ACTIONS if getattr(step, name) is not None), "")


def _of_step(step: Step) -> Iterator[Problem]:
    done = [name for name in ACTIONS if getattr(step, name) is not None]
    if len(done) > 1:
        names = " and ".join(map(_camel, done))
        yield "", f"does {names}; make a step of each"
    if not done and not step.note:
        yield "", f"does nothing; there are {', '.join(map(_camel, ACTIONS))}"
    if step.pause is False:
        yield ".pause", "is false; leave it out, or end the step that pauses with `until`"
    yield from _of_times(step, lasting=bool(LASTING & set(done)))
    for name in done:
        if (check := _CHECKS.get(name)) is not None:
            yield from ((f".{_camel(name)}{f}", p) for f, p in check(getattr(step, name)))


def _of_times(step: Step, *, lasting: bool) -> Iterator[Problem]:
    if step.every is not None and step.every < Span(seconds=1):
        yield ".every", "is less than a second"
    if step.until is not None and step.until < step.at:
        yield ".until", "is before `at`; both are counted from the beginning"
    if step.lasts is not None and not lasting:
        yield ".lasts", "is set, but what the step does is done at once"
    if step.until is not None and step.every is None and not lasting:
        yield ".until", "is set, but what the step does is done at once; leave it out, or add every"
    if step.every is None and step.until is not None and step.lasts is not None:
        yield ".lasts", "is set beside until; one of them says when it ends"
    if step.every is not None and lasting and step.lasts is None:
        yield ".lasts", "is missing: with every, it says how long it lasts each time"
    if step.every is not None and step.lasts is not None and step.lasts > step.every:
        yield ".lasts", "is longer than every: it would never end"


def _of_scale(scale: Scale) -> Iterator[Problem]:
    if (scale.replicas is None) == (not scale.curve):
        yield "", "needs either replicas or curve"
    if scale.over is not None and scale.replicas is None:
        yield ".over", "belongs to replicas; the points of a curve say when themselves"
    if scale.replicas is not None and scale.replicas < 0:
        yield ".replicas", f"{scale.replicas} is negative"
    before = None
    for number, point in enumerate(scale.curve):
        if point.replicas < 0:
            yield f".curve[{number}].replicas", f"{point.replicas} is negative"
        if before is not None and point.after <= before:
            yield f".curve[{number}].after", "is not after the point before it"
        before = point.after


def _of_nodes(nodes: Nodes) -> Iterator[Problem]:
    if nodes.count is not None and nodes.share is not None:
        yield ".nodes.share", "is set beside count; one of them says how many"
    if nodes.count is not None and nodes.count < 1:
        yield ".nodes.count", f"{nodes.count} is less than 1"
    if nodes.share is not None:
        yield from _of_share(nodes.share, ".nodes")


def _of_share(share: float, path: str) -> Iterator[Problem]:
    if not 0 < share <= 1:
        yield f"{path}.share", f"{share:g} is not above 0 and at most 1"


def _of_boot(boot: Boot) -> Iterator[Problem]:
    if boot.never == (boot.takes is not None):
        yield "", "needs either takes or never: true"
    for name in ("count", "share"):
        if getattr(boot.nodes, name) is not None:
            yield f".nodes.{name}", "is set, but nodes that are yet to come cannot be drawn"


def _of_usage(usage: Usage) -> Iterator[Problem]:
    if not usage.cpu and not usage.memory:
        yield "", "needs cpu or memory"
    for name in ("cpu", "memory"):
        if text := getattr(usage, name):
            try:
                trace.parse(text)
            except InvalidRequest as error:
                yield f".{name}", str(error)


def _of_requests(requests: Requests) -> Iterator[Problem]:
    yield from _of_share(requests.share, ".requests")
    for number, verb in enumerate(requests.verbs):
        if verb not in VERBS:
            yield f".requests.verbs[{number}]", f'"{verb}" is none of {", ".join(VERBS)}'


def _of_errors(errors: schema.Errors) -> Iterator[Problem]:
    if errors.code not in _REFUSALS:
        yield ".code", f"{errors.code} is no HTTP status of an error (400 to 599)"
    yield from _of_requests(errors.requests)


_CHECKS: Mapping[str, Callable[[Any], Iterator[Problem]]] = MappingProxyType(
    {
        "scale": _of_scale,
        "reclaim": lambda one: _of_nodes(one.nodes),
        "kubelets": lambda one: _of_nodes(one.nodes),
        "boot": _of_boot,
        "usage": _of_usage,
        "throttle": lambda one: _of_requests(one.requests),
        "errors": _of_errors,
    }
)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
