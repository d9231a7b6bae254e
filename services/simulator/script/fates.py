"""Which nodes something befalls, and what the kubelets are told of it.

Pure but for the book of rules, which the kubelets read and only scripts write.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from libs.runtime.randomness import Random
from services.simulator.core.kubelet.fate import FateBook, FateRule, NodeFate
from services.simulator.core.objects import Object, labels_of
from services.simulator.script.schema import Boot, Nodes

ZONE = "topology.kubernetes.io/zone"
CAPACITY_TYPE = "karpenter.sh/capacity-type"


def labels_wanted(nodes: Nodes, capacity_type: str = "") -> dict[str, str]:
    """Return the labels that a node must have to be meant."""
    wanted = dict(nodes.labels)
    if nodes.zone:
        wanted[ZONE] = nodes.zone
    if capacity_type:
        wanted[CAPACITY_TYPE] = capacity_type
    return wanted


def chosen(
    nodes: Nodes, present: Iterable[Object], random: Random, *, capacity_type: str = ""
) -> list[Object]:
    """Return the nodes that are meant, in the order of their names; some of them by lot."""
    wanted = labels_wanted(nodes, capacity_type).items()
    found = [
        node
        for node in sorted(present, key=_name)
        if wanted <= labels_of(node).items() and (not nodes.names or _name(node) in nodes.names)
    ]
    count = len(found)
    if nodes.count is not None:
        count = min(count, nodes.count)
    elif nodes.share is not None:
        count = math.ceil(nodes.share * len(found))
    return found if count == len(found) else sorted(random.sample(found, count), key=_name)


def boot_rules(boot: Boot) -> tuple[FateRule, ...]:
    """Return the rules by which nodes boot late or never."""
    fate = NodeFate(boot=boot.takes, boots=not boot.never)
    labels = labels_wanted(boot.nodes)
    if not boot.nodes.names:
        return (FateRule(fate=fate, labels=labels),)
    return tuple(FateRule(fate=fate, labels=labels, name=name) for name in boot.nodes.names)


def kept(rules: Iterable[FateRule], nodes: Iterable[Object]) -> tuple[FateRule, ...]:
    """Return the rules narrowed down to these nodes, by name."""
    known = list(nodes)
    return tuple(
        FateRule(fate=rule.fate, name=_name(node))
        for rule in rules
        for node in known
        if rule.matches(node)
    )


def death_rules(
    nodes: Iterable[Object], since: datetime, back: datetime | None = None
) -> tuple[FateRule, ...]:
    """Return the rules by which the kubelets of nodes die, and come back if they do."""
    fate = NodeFate(dead_since=since, back_at=back)
    return tuple(FateRule(fate=fate, name=_name(node)) for node in nodes)


def add_deaths(book: FateBook, rules: Iterable[FateRule]) -> None:
    """Let kubelets die; that wins over how their nodes boot."""
    book.rules = (*book.rules, *rules)


def add_boots(book: FateBook, rules: Iterable[FateRule]) -> None:
    """Let nodes boot so; it wins over earlier such rules, and changes nothing for the dead."""
    boots = (rule for rule in book.rules if rule.fate.dead_since is None)
    deaths = (rule for rule in book.rules if rule.fate.dead_since is not None)
    book.rules = (*boots, *rules, *deaths)


def remove(book: FateBook, rules: Iterable[FateRule]) -> None:
    """Let rules hold no more."""
    gone = {id(rule) for rule in rules}
    book.rules = tuple(rule for rule in book.rules if id(rule) not in gone)


def names(nodes: Iterable[Object]) -> Iterator[str]:
    """Yield the names of nodes."""
    return map(_name, nodes)


def _name(node: Mapping[str, Any]) -> str:
    return str(node["metadata"]["name"])
