"""A plan in words and a table, for people.

Apart because a plan is also part of the answer to a what-if.
"""

from collections import Counter
from collections.abc import Iterator

from rich.table import Table

from cli.formats import counted, dollars
from libs.domain.objective import PPM
from libs.domain.plan import BufferVerdict, LaunchOption, Plan
from libs.domain.solution import Cost, PodCounts


def cost(known: Cost) -> str:
    """Say what new nodes cost, and how near that is to the least that is possible."""
    price = f"{dollars(known.new_nanos_per_hour)} $/h"
    bound, ratio = known.lower_bound_nanos_per_hour, known.bound_ratio_ppm
    if not known.new_nanos_per_hour or bound is None:
        return price
    if ratio is None:
        return f"{price}; no bound is known"
    return f"{price}; no plan costs less than {dollars(bound)} $/h: {ratio / PPM:.2f} times that"


def summary(pods: PodCounts) -> str:
    """Return in a line where the waiting pods go."""
    if not pods.waiting:
        return "no pod waits for a node"
    wait = "waits" if pods.waiting == 1 else "wait"
    return (
        f"{counted(pods.waiting, 'pod')} {wait}: {pods.on_existing} on existing nodes, "
        f"{pods.on_new} on new nodes, {pods.unplaced} without a place"
    )


def purchases(plan: Plan, virtual: frozenset[str]) -> Table:
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


def problems(plan: Plan) -> Iterator[str]:
    """Yield what is to be said of pools, overlays and buffers."""
    for message in plan.pool_messages:
        yield f'NodePool "{message.nodepool}": {message.message}'
    for overlay in plan.overlays:
        if not overlay.applied:
            yield f'NodeOverlay "{overlay.name}" is not in force: {overlay.problem}'
    for buffer in plan.buffers:
        yield _room(buffer)


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
