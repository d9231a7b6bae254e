"""Notes of objects that were set aside: what differs in names alone is said once.

Apart because one missing object may be what thousands of others refer to.
"""

from collections.abc import Iterable, Iterator

from cli.formats import counted, few, nameless
from libs.cluster.documents import Refused
from libs.domain.workload import SetAside

_PROBLEMS_SHOWN = 20


def set_aside(items: Iterable[SetAside], refused: Iterable[Refused]) -> Iterator[str]:
    """Say what else does not count: what was refused is told of as an error."""
    told = {(one.kind, one.namespace, one.name) for one in refused}
    alike: dict[tuple[str, str, str], list[SetAside]] = {}
    for item in items:
        if (item.kind, item.namespace, item.name) not in told:
            alike.setdefault((item.kind, item.field, nameless(item.message)), []).append(item)
    groups = list(alike.values())
    for first, *others in groups[:_PROBLEMS_SHOWN]:
        field = f": {first.field}" if first.field else ""
        more = f"; and {len(others)} more like it: {few(map(_named, others))}" if others else ""
        yield f'{first.kind} "{_named(first)}" set aside{field}: {first.message}{more}'
    hidden = sum(map(len, groups[_PROBLEMS_SHOWN:]))
    if hidden > 0:
        yield f"{counted(hidden, 'more object')} set aside"


def _named(item: SetAside) -> str:
    return "/".join(part for part in (item.namespace, item.name) if part)
