"""The run itself: fill an empty cluster, let the load grow and shrink, judge each quiet state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from cli.run import cluster, shop
from cli.run.observed import Observed
from cli.run.progress import (
    PodState,
    Progress,
    empty_nodes,
    is_daemon,
    state_of,
    unsettled,
    workload_of,
)
from cli.run.telling import Telling
from cli.run.timing import Purchase, purchases
from cli.run.workload import Kind, Workload, manifests
from libs.checker.state import check_state
from libs.kube.api import KubeApi
from libs.oracle.check import Violation
from libs.runtime.clock import Clock

_POLL = timedelta(milliseconds=250)
_QUIET = timedelta(seconds=2)
"""How long nothing may be open before a state counts as settled."""

_POOLS_WITHIN = timedelta(seconds=45)
_SETTLED_WITHIN = timedelta(seconds=90)
_REASONS_SHOWN = 5


class NotSettled(Exception):
    """Something that should have happened did not, in the time that it had."""

    def __init__(self, phase: str, still_open: tuple[str, ...]) -> None:
        super().__init__(f"{phase} did not come to an end")
        self.still_open = still_open


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone:
    """A quiet state that was reached."""

    name: str
    took: timedelta
    progress: Progress
    violations: tuple[Violation, ...]


@dataclass(slots=True, kw_only=True)
class Run:
    """What the phases work with, and what they found out."""

    api: KubeApi
    observed: Observed
    telling: Telling
    clock: Clock
    milestones: list[Milestone] = field(default_factory=list)
    bought: dict[str, Purchase] = field(default_factory=dict)
    """By uid of the pod that waited."""
    unplaced: dict[str, str] = field(default_factory=dict)
    """Why, by name of the pod that nothing can place."""


async def fill(run: Run) -> None:
    """Create pools and workloads, and wait until everything that can run does.

    Raises:
        NotSettled: a pod that can run still waits, or a node is not in use.
    """
    run.telling.begin("creating nodepools")
    await cluster.create(run.api, cluster.read_manifests())
    await cluster.create(run.api, map(cluster.namespace, shop.NAMESPACES))
    await _until_pools_are_ready(run)
    began = run.telling.elapsed
    run.telling.begin("creating workloads")
    await cluster.create(run.api, [found for one in shop.WORKLOADS for found in manifests(one)])
    run.telling.begin("buying nodes")
    await _reach(run, "all running", began, _replicas())
    await _explain_unplaceable(run)


async def rise(run: Run) -> None:
    """Scale some workloads up and wait until all their pods run.

    Raises:
        NotSettled: as in `fill`.
    """
    began = run.telling.elapsed
    run.telling.begin("scaling up")
    peak = {one: one.peak for one in shop.WORKLOADS if one.peak}
    await cluster.scale(run.api, peak)
    await _reach(run, "scaled up", began, _replicas() | {one.name: n for one, n in peak.items()})


async def fall(run: Run) -> None:
    """Scale them down again and wait until no node is empty.

    Raises:
        NotSettled: as in `fill`, or nodes stay though they are empty.
    """
    began = run.telling.elapsed
    run.telling.begin("scaling down, empty nodes go")
    await cluster.scale(run.api, {one: one.replicas for one in shop.WORKLOADS if one.peak})
    await _reach(run, "scaled down", began, _replicas(), no_empty_nodes=True)


def _replicas() -> dict[str, int]:
    return {one.name: one.replicas for one in shop.WORKLOADS if one.kind is not Kind.DAEMON_SET}


async def _until_pools_are_ready(run: Run) -> None:
    deadline = run.clock.monotonic() + _POOLS_WITHIN.total_seconds()
    while waiting := _unready_pools(run.observed):
        if run.clock.monotonic() > deadline:
            raise NotSettled(run.telling.phase, waiting)
        await run.clock.sleep(_POLL)


def _unready_pools(observed: Observed) -> tuple[str, ...]:
    if not observed.pools:
        return ("no nodepool is there",)
    return tuple(
        f'nodepool "{name}" is not ready'
        for name, pool in observed.pools.items()
        if not any(one.type == "Ready" and one.status == "True" for one in pool.status.conditions)
    )


async def _reach(
    run: Run,
    name: str,
    began: timedelta,
    replicas: Mapping[str, int],
    *,
    no_empty_nodes: bool = False,
) -> None:
    """Wait until a state is quiet, then judge it."""
    await _settle(run, replicas, no_empty_nodes=no_empty_nodes)
    took = run.telling.elapsed - began - _QUIET
    for uid, purchase in purchases(run.observed).items():
        run.bought.setdefault(uid, purchase)
    violations = tuple(check_state(await cluster.judged_objects(run.api)))
    progress = run.telling.measure()
    run.milestones.append(Milestone(name=name, took=took, progress=progress, violations=violations))
    verdict = f"refused: {len(violations)} violations" if violations else "accepted"
    run.telling.tell(f"{name} after {took.total_seconds():.1f} s; the checker: {verdict}")


async def _settle(run: Run, replicas: Mapping[str, int], *, no_empty_nodes: bool) -> None:
    deadline = run.clock.monotonic() + _SETTLED_WITHIN.total_seconds()
    quiet_since: float | None = None
    while True:
        now = run.clock.monotonic()
        still_open = _still_open(run, replicas, no_empty_nodes=no_empty_nodes)
        if not still_open:
            quiet_since = now if quiet_since is None else quiet_since
            if now - quiet_since >= _QUIET.total_seconds():
                return
        else:
            quiet_since = None
            if now > deadline:
                raise NotSettled(run.telling.phase, (*still_open, *await _reasons(run)))
        await run.clock.sleep(_POLL)


def _still_open(run: Run, replicas: Mapping[str, int], *, no_empty_nodes: bool) -> tuple[str, ...]:
    world = run.telling.world()
    found = tuple(unsettled(world, shop.WORKLOADS, replicas))
    if no_empty_nodes:
        found += tuple(f"{name} is empty and still there" for name in empty_nodes(world))
    return found


async def _reasons(run: Run) -> tuple[str, ...]:
    """Return why some of the pods wait that should not."""
    waiting = [
        pod.metadata
        for pod in run.observed.pods.values()
        if state_of(pod) is PodState.WAITING and not is_daemon(pod)
    ]
    found = []
    for pod in waiting[:_REASONS_SHOWN]:
        why = await cluster.why_waiting(run.api, pod.namespace, pod.name)
        found.append(f"{pod.namespace}/{pod.name} waits: {why or 'nothing was said of it'}")
    return tuple(found)


async def _explain_unplaceable(run: Run) -> None:
    for workload in _unplaceable():
        for pod in run.observed.pods.values():
            if workload_of(pod) == workload.name:
                why = await cluster.why_waiting(run.api, workload.namespace, pod.metadata.name)
                run.unplaced[f"{workload.namespace}/{pod.metadata.name}"] = why
                run.telling.tell(f"nothing can place {workload.name}: {why}")


def _unplaceable() -> tuple[Workload, ...]:
    return tuple(one for one in shop.WORKLOADS if not one.placeable)
