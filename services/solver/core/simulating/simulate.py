"""What-ifs answered: each is a solve of an edited snapshot, and what that changes.

Apart from the edits because scenarios of one question share a beginning: what the cluster costs now
and the columns of what is sold are found out once, and read by all, in whatever threads.

A pure function of (snapshot, options, scenario): in which order scenarios are answered, or how many
at a time, changes nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from libs.domain.capacity import Catalogue
from libs.domain.errors import InvalidRequest
from libs.domain.nodepool import NodePool
from libs.domain.overlay import Overlaid, overlaid
from libs.domain.scenario import Scenario, ScenarioAnswer
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution, SolveOptions
from libs.domain.workload import NodeOverlay
from services.solver.core.offers.catalogue import CatalogueColumns, build, resold
from services.solver.core.offers.market import NOTHING_REMEMBERED, Market, Memory, market
from services.solver.core.offers.price import existing_price, summed_price
from services.solver.core.simulating.difference import (
    Change,
    change_between,
    change_of,
    difference,
)
from services.solver.core.simulating.draft import Draft
from services.solver.core.simulating.edited import drafted
from services.solver.core.simulating.watching import Cancelled, look
from services.solver.core.solve import solve


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Base:
    """What all scenarios of a question start from."""

    snapshot: ClusterSnapshot
    options: SolveOptions
    cost_nanos_per_hour: int
    """Of all nodes and claims."""
    memory: Memory
    columns: tuple[CatalogueColumns, ...]
    """Of everything that is sold now."""
    overlays: tuple[Overlaid, ...]
    """What overlays make of it; none where they do not count."""


def base(
    snapshot: ClusterSnapshot, options: SolveOptions, *, memory: Memory = NOTHING_REMEMBERED
) -> Base:
    """Return what scenarios about a snapshot start from."""
    columns: list[CatalogueColumns] = []
    overlays: list[Overlaid] = []

    def columns_of(catalogue: Catalogue) -> CatalogueColumns:
        known = _known(columns, catalogue)
        if known is None:
            known = memory.columns_of(catalogue)
            columns.append(known)
        return known

    def overlaid_of(
        pools: Iterable[NodePool],
        catalogues: Mapping[str, Catalogue],
        asked: Iterable[NodeOverlay],
    ) -> Overlaid:
        overlays.append(memory.overlaid_of(pools, catalogues, asked))
        return overlays[-1]

    noting = replace(memory, columns_of=columns_of, overlaid_of=overlaid_of)
    sold = market(snapshot, options, noting)
    return Base(
        snapshot=snapshot,
        options=options,
        cost_nanos_per_hour=existing_price(snapshot, sold, memory),
        memory=memory,
        columns=tuple(columns),
        overlays=tuple(overlays),
    )


def simulate(
    start: Base,
    scenario: Scenario,
    position: int = 0,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    spent: Callable[[], bool] = lambda: True,
) -> ScenarioAnswer:
    """Return what Solve says after the edits of a scenario, and what changes.

    Args:
        start: what it starts from.
        scenario: the what-if.
        position: its place in the question.
        cancelled: asked between groups of pods, and between some thousands of pods that edits
            touch or that move; True ends the work.
        spent: whether the budget for refining is used up, as of `solve`.

    Raises:
        InvalidRequest: an edit cannot be made; the field path begins with `scenarios[position]`.
        Unavailable: `cancelled` said so.
    """
    try:
        draft = drafted(start.snapshot, scenario.edits, cancelled)
    except InvalidRequest as error:
        raise error.under(f"scenarios[{position}]") from None
    after = draft.snapshot()
    look(cancelled)
    memory = replace(
        _memory(start, after), cost_of=lambda there, sold: _cost_of(start, draft, there, sold)
    )
    solution = solve(after, start.options, memory=memory, cancelled=cancelled, spent=spent)
    found = _answer(start, change_of(draft), solution, cancelled)
    return replace(found, scenario=scenario.name, position=position)


def outcome(
    start: Base,
    after: ClusterSnapshot,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    spent: Callable[[], bool] = lambda: True,
) -> ScenarioAnswer:
    """Return the same, without a name, for a cluster that was changed by other means than edits.

    Raises:
        Unavailable: `cancelled` said so.
    """
    memory = _memory(start, after)
    solution = solve(after, start.options, memory=memory, cancelled=cancelled, spent=spent)
    return _answer(start, change_between(start.snapshot, after), solution, cancelled)


def _cost_of(start: Base, draft: Draft, after: ClusterSnapshot, sold: Market) -> int:
    """Return what exists costs after edits: what it did before, but for what was touched."""
    before = start.snapshot
    nodes = [name for name, _ in draft.touched("nodes")]
    claims = {name for name, _ in draft.touched("nodeclaims")}
    owners = {
        one.nodes[name].nodeclaim for one in (before, after) for name in nodes if name in one.nodes
    }
    if not claims <= owners or not _sells_alike(before, after):
        return existing_price(after, sold, start.memory)
    parts = (_part(one, nodes, sorted(owners)) for one in (before, after))
    once, now = (summed_price(one, sold, start.memory) for one in parts)
    return start.cost_nanos_per_hour - once + now


def _part(snapshot: ClusterSnapshot, nodes: list[str], claims: list[str]) -> ClusterSnapshot:
    own, owned = snapshot.nodeclaims, snapshot.nodes
    return replace(
        snapshot,
        nodes={name: owned[name] for name in nodes if name in owned},
        nodeclaims={name: own[name] for name in claims if name in own},
    )


def _answer(
    start: Base, change: Change, solution: Solution, cancelled: Cancelled
) -> ScenarioAnswer:
    cost = solution.cost.existing_nanos_per_hour + solution.cost.new_nanos_per_hour
    diff = replace(
        difference(start.snapshot, change, solution.plan, cancelled),
        cost_before_nanos_per_hour=start.cost_nanos_per_hour,
        cost_after_nanos_per_hour=cost,
    )
    return ScenarioAnswer(scenario="", solution=solution, diff=diff)


def _memory(start: Base, after: ClusterSnapshot) -> Memory:
    """Return what is remembered: of what is sold now; what only a what-if sells is forgotten.

    Else the catalogues of what-ifs would push out those that are asked about again.
    """
    own: list[CatalogueColumns] = []

    def columns_of(catalogue: Catalogue) -> CatalogueColumns:
        known = _known((*start.columns, *own), catalogue)
        if known is None:
            now = (one for one in start.columns if one.source.key == catalogue.key)
            again = (found for one in now if (found := resold(one, catalogue)) is not None)
            known = next(again, None) or build(catalogue)
            own.append(known)
        return known

    def overlaid_of(
        pools: Iterable[NodePool],
        catalogues: Mapping[str, Catalogue],
        asked: Iterable[NodeOverlay],
    ) -> Overlaid:
        if start.overlays and _sells_alike(start.snapshot, after):
            return start.overlays[0]
        return overlaid(pools, catalogues, asked)

    return replace(start.memory, columns_of=columns_of, overlaid_of=overlaid_of)


def _known(columns: Iterable[CatalogueColumns], catalogue: Catalogue) -> CatalogueColumns | None:
    return next((one for one in columns if one.source is catalogue), None)


def _sells_alike(one: ClusterSnapshot, other: ClusterSnapshot) -> bool:
    """Tell whether all that overlays are made of is shared."""
    return (
        one.nodepools is other.nodepools
        and one.catalogues is other.catalogues
        and one.overlays is other.overlays
    )
