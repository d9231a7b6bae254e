"""What befalls nodes: slow boots, machines that never come, kubelets that die and return.

Apart from the kubelets because scripts write it and kubelets only read it. A script holds rules,
since it does not know the names that an autoscaler will give to its nodes. Law: of the rules that
match a node the last one counts, so a later event of a script overrides an earlier one by being
appended, and takes itself back by being removed.

    book.rules = (*book.rules, FateRule(labels={"topology.kubernetes.io/zone": "a"},
                                        fate=NodeFate(dead_since=now)))
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from services.simulator.core.objects import labels_of


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFate:
    """How one node fares; the default is that all goes well."""

    boot: timedelta | None = None
    """From the appearance of the Node to its readiness; None: as the kubelets' policy says."""
    boots: bool = True
    """False: it never becomes ready."""
    dead_since: datetime | None = None
    """From then on its kubelet does and says nothing: no lease, no status, no pod moves."""
    back_at: datetime | None = None
    """When a dead kubelet lives again; None: when another fate says so."""

    def is_dead(self, now: datetime) -> bool:
        """Tell whether the kubelet does nothing at `now`."""
        if self.dead_since is None or now < self.dead_since:
            return False
        return self.back_at is None or now < self.back_at


@dataclass(frozen=True, slots=True, kw_only=True)
class FateRule:
    """A fate for the nodes of a name or with some labels; with neither, for all."""

    fate: NodeFate
    name: str | None = None
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def matches(self, node: Mapping[str, Any]) -> bool:
        """Tell whether the rule is about a Node object."""
        if self.name is not None and node["metadata"]["name"] != self.name:
            return False
        return self.labels.items() <= labels_of(node).items()


class FateBook:
    """The rules in force: replaced as a whole by whoever scripts, looked up by the kubelets."""

    def __init__(self, rules: tuple[FateRule, ...] = ()) -> None:
        self.rules = rules

    def of(self, node: Mapping[str, Any]) -> NodeFate:
        """Return the fate of a Node object."""
        matching = (rule.fate for rule in reversed(self.rules) if rule.matches(node))
        return next(matching, NodeFate())
