"""What a consolidation is in words: the commands in their order, and why the other nodes stay."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table

from cli.formats import counted, dollars, few
from libs.domain.plan import Command, Decision, PlannedNodeClaim
from libs.domain.question import Consolidation

_REASONS_SHOWN = 20


def print_table(found: Consolidation, names: Mapping[str, str], nodes: int) -> None:
    """Print it for people.

    Args:
        found: the answer.
        names: `namespace/name` of pods by uid.
        nodes: how many nodes there are.
    """
    console = Console()
    console.print(_summary(found, nodes), highlight=False)
    if found.commands:
        console.print(_commands(found.commands))
        console.print(
            "in this order, each once the pods of the one before run again; "
            "any number of them from the first on will do",
            soft_wrap=True,
        )
    for line in _reasons(found.left_alone, names):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _summary(found: Consolidation, nodes: int) -> str:
    going = sum(len(one.candidates) for one in found.commands)
    before = found.existing_nanos_per_hour
    if not going:
        return f"no node of {nodes} is better given up; {dollars(before)} $/h"
    bought = sum(len(one.replacements) for one in found.commands)
    instead = f", {counted(bought, 'node')} bought instead" if bought else ""
    after = before - found.saving_nanos_per_hour
    return (
        f"{going} of {counted(nodes, 'node')} given up{instead}, "
        f"{counted(found.moves, 'pod')} moved: {dollars(before)} → {dollars(after)} $/h"
    )


def _commands(commands: Sequence[Command]) -> Table:
    table = Table("", "give up", "pool", "pods moved", "buy instead", "saves $/h", box=None)
    for number, one in enumerate(commands, start=1):
        table.add_row(
            str(number),
            few(candidate.node for candidate in one.candidates),
            few(dict.fromkeys(candidate.nodepool for candidate in one.candidates)),
            str(one.moves),
            ", ".join(map(_bought, one.replacements)),
            dollars(one.saving_nanos_per_hour),
        )
    return table


def _bought(claim: PlannedNodeClaim) -> str:
    option = claim.cheapest
    return f"{option.instance_type} {option.zone} {option.capacity_type}"


def _reasons(stay: Sequence[Decision], names: Mapping[str, str]) -> Iterator[str]:
    """Yield why nodes stay, those with the same reason together."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for one in stay:
        for blocker in one.blockers[:1]:
            pod = f" ({names.get(blocker.object, blocker.object)})" if blocker.object else ""
            by_reason[f"{blocker.message}{pod}"].append(one.node)
    for reason, nodes in list(by_reason.items())[:_REASONS_SHOWN]:
        verb = "stays" if len(nodes) == 1 else "stay"
        yield f"{counted(len(nodes), 'node')} {verb}: {few(nodes)}: {reason}"
    hidden = len(by_reason) - _REASONS_SHOWN
    if hidden > 0:
        yield f"and {counted(hidden, 'more reason')}; --format json has all"
