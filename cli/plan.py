"""`joiner plan`: what would be bought for the pods in some files, without any server."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import typer
from rich.console import Console
from rich.table import Table

from cli import clusters
from cli.choices import load
from cli.failures import NEGATIVE, bad_input_exits, progress
from cli.formats import Format, counted, dollars, few, print_json, print_notes
from cli.options import Choices
from libs.domain.plan import BufferVerdict, LaunchOption, Plan
from libs.domain.reason import Unplaceable
from libs.domain.solution import PodCounts, Solution, with_unplaced
from libs.wire.solution_json import solution_document
from services.solver.core.solve import solve

_REASONS_SHOWN = 20


def run(files: Sequence[str], catalogue: str, output: Format, choices: Choices) -> None:
    """Carry out `joiner plan`."""
    with bad_input_exits(), progress("reading") as status:
        cluster, options = load(files, catalogue, choices)
        status.update("planning")
        solution = with_unplaced(solve(cluster.snapshot, options), cluster.left_out)
    print_notes(cluster.notes)
    if output is Format.JSON:
        print_json(solution_document(solution))
    else:
        _print_table(solution, cluster)
    if solution.pods.unplaced:
        raise typer.Exit(NEGATIVE)


def _print_table(solution: Solution, cluster: clusters.OfflineCluster) -> None:
    console = Console()
    pods = solution.pods
    console.print(_summary(pods), highlight=False)
    if solution.plan.nodeclaims:
        console.print(_purchases(solution.plan, _virtual(cluster)))
    cost = dollars(solution.cost.new_nanos_per_hour)
    nodes = counted(len(solution.plan.nodeclaims), "node")
    console.print(f"{nodes}, {cost} $/h", highlight=False)
    names = clusters.pod_names(cluster) if solution.plan.unplaced else {}
    for line in _reasons(solution.plan, names):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _summary(pods: PodCounts) -> str:
    if not pods.waiting:
        return "no pod waits for a node"
    wait = "waits" if pods.waiting == 1 else "wait"
    return (
        f"{counted(pods.waiting, 'pod')} {wait}: {pods.on_existing} on existing nodes, "
        f"{pods.on_new} on new nodes, {pods.unplaced} without a place"
    )


def _virtual(cluster: clusters.OfflineCluster) -> frozenset[str]:
    return frozenset(uid for one in cluster.snapshot.buffers.values() for uid in one.pod_uids)


def _purchases(plan: Plan, virtual: frozenset[str]) -> Table:
    """Return a row per pool and offering, dearest first; room of buffers is no pod."""
    bought: Counter[tuple[str, LaunchOption]] = Counter()
    pods: Counter[tuple[str, LaunchOption]] = Counter()
    for claim in plan.nodeclaims:
        bought[claim.nodepool, claim.cheapest] += 1
        pods[claim.nodepool, claim.cheapest] += sum(uid not in virtual for uid in claim.pod_uids)
    table = Table("nodes", "pool", "instance type", "zone", "capacity", "pods", "$/h", box=None)
    for key in sorted(bought, key=lambda key: (-bought[key] * _price(key), key[0], str(key[1]))):
        pool, option = key
        table.add_row(
            str(bought[key]),
            pool,
            option.instance_type,
            option.zone,
            option.capacity_type,
            str(pods[key]),
            dollars(bought[key] * option.price_nanos_per_hour),
        )
    return table


def _price(key: tuple[str, LaunchOption]) -> int:
    return key[1].price_nanos_per_hour


def _reasons(plan: Plan, names: Mapping[str, str]) -> Iterator[str]:
    for message in plan.pool_messages:
        yield f'NodePool "{message.nodepool}": {message.message}'
    for overlay in plan.overlays:
        if not overlay.applied:
            yield f'NodeOverlay "{overlay.name}" is not in force: {overlay.problem}'
    for buffer in plan.buffers:
        yield _room(buffer)
    for group in plan.unplaced[:_REASONS_SHOWN]:
        shown = few(names.get(uid, uid) for uid in group.pod_uids)
        yield f"{counted(len(group.pod_uids), 'pod')} without a place: {shown}"
        yield from _why(group.reason)
    hidden = len(plan.unplaced) - _REASONS_SHOWN
    if hidden > 0:
        yield f"and {counted(hidden, 'more reason')}; --format json has all"
    if plan.unplaced:
        uid = plan.unplaced[0].pod_uids[0]
        yield f"joiner explain pod {names.get(uid, uid)} tries which change gives it a place"


def _room(buffer: BufferVerdict) -> str:
    """Say where the virtual pods of a buffer went."""
    places = [
        (buffer.fit_existing, "on existing nodes"),
        (buffer.need_new, "on new nodes"),
        (buffer.unplaced, "without a place"),
    ]
    room = ", ".join(f"{count} {where}" for count, where in places if count) or "no room is kept"
    problem = f": {buffer.problem}" if buffer.problem else ""
    return f'CapacityBuffer "{buffer.namespace}/{buffer.name}": {room}{problem}'


def _why(reason: Unplaceable) -> Iterator[str]:
    """Yield what was in the way; the message sums up the rejections, where there are any."""
    if not reason.rejections:
        yield f"    {reason.message}"
    for rejection in reason.rejections:
        yield f"    {rejection.target_kind} {rejection.target}: {rejection.message}"
        if rejection.suggestion:
            yield f"        would help: {rejection.suggestion}"
    for rule, count in reason.existing:
        if count:
            yield f"    {counted(count, 'existing node')}: {rule}"
