"""What is said at the end of a run."""

from collections.abc import Iterator
from itertools import islice

from cli.run.news import dollars
from cli.run.phases import Milestone, Run
from cli.run.progress import PodState
from cli.run.services import BATCH_IDLE
from cli.run.timing import largest_plan, percentile, waits

_TYPES_SHOWN = 8
_VIOLATIONS_SHOWN = 5
_REASON_SHOWN = 400


def summary(run: Run) -> Iterator[str]:
    """Yield the lines of the summary."""
    for one in run.milestones:
        yield from _milestone(one)
    yield from _timings(run)
    for pod, why in run.unplaced.items():
        yield f"nothing can place {pod}: {_shortened(why or 'no reason was given')}"
    if run.telling.costs and run.milestones:
        now = run.milestones[-1].progress.price_nanos_per_hour
        yield f"cost: {dollars(max(run.telling.costs))} at its highest, {dollars(now)} in the end"


def is_success(run: Run) -> bool:
    """Tell whether every judged state was accepted."""
    return bool(run.milestones) and not any(one.violations for one in run.milestones)


def _milestone(one: Milestone) -> Iterator[str]:
    progress = one.progress
    yield (
        f"{one.name}: after {one.took.total_seconds():.1f} s; "
        f"{progress.pods.get(PodState.RUNNING, 0)} pods and {progress.daemon_pods} of DaemonSets "
        f"on {progress.nodes} nodes for {dollars(progress.price_nanos_per_hour)}"
    )
    types = [f"{count} {name}" for name, count in islice(progress.types.items(), _TYPES_SHOWN)]
    more = len(progress.types) - len(types)
    yield f"  nodes: {', '.join(types)}{f' and {more} more types' if more > 0 else ''}"
    if not one.violations:
        yield "  checker: accepted, kube-scheduler's rules hold for every pod"
    else:
        yield f"  checker: refused, {len(one.violations)} violations"
    for violation in one.violations[:_VIOLATIONS_SHOWN]:
        where = " on ".join(part for part in (violation.pod, violation.node) if part)
        yield f"    {where}: {violation.rule}: {violation.message}"


def _timings(run: Run) -> Iterator[str]:
    seconds = waits(run.bought.values())
    if not seconds:
        return
    yield (
        f"waiting → bought: p50 {percentile(seconds, 50):.2f} s, p99 {percentile(seconds, 99):.2f} "
        f"s of {len(seconds)} pods, {BATCH_IDLE.seconds} s of quiet that closes a batch included"
    )
    pods, took = largest_plan(run.bought.values(), BATCH_IDLE)
    yield f"  the largest plan, for {pods} pods: bought {took:.2f} s after its batch was closed"


def _shortened(text: str) -> str:
    return text if len(text) <= _REASON_SHOWN else f"{text[:_REASON_SHOWN]}…"
