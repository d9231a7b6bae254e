"""How many like pods each domain has, kept up to date instead of counted for each question.

Apart from `cluster`, which tells it of every pod that comes to a node or leaves it, because a
cluster is right without: what is not kept is counted. Kept is what was asked for lately and does
not depend on the pod that asks.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from libs.oracle.pods import Pod
from libs.oracle.selectors import LabelSelector

_KEPT = 128
"""How many tallies are kept; each costs a little with every pod of its namespace."""


class _Node(Protocol):
    @property
    def labels(self) -> Mapping[str, str]: ...


class Question(NamedTuple):
    """Whose pods are counted, by what, and on which nodes."""

    namespace: str
    selector: LabelSelector
    topology_key: str
    keys: tuple[str, ...]
    """Labels that a node must have to be part of a domain, `topology_key` among them."""


class Tallies:
    """Counts by domain, domains without pods included."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Question, dict[str, int]] = OrderedDict()

    def count(
        self, question: Question, nodes: Mapping[str, _Node], pods: Iterable[Pod]
    ) -> Mapping[str, int]:
        """Return the pods that do not end by domain; later changes show in it.

        Args:
            question: what is counted.
            nodes: all nodes by name.
            pods: those that the selector matches in the namespace; read if nothing is kept.
        """
        known = self._kept.pop(question, None)
        if known is None:
            known = {}
            for node in nodes.values():
                if (domain := _domain(question, node)) is not None:
                    known[domain] = 0
            for pod in pods:
                domain = _domain(question, nodes.get(pod.node_name))
                if domain is not None and not pod.is_terminating:
                    known[domain] += 1
            if len(self._kept) >= _KEPT:
                self._kept.popitem(last=False)
        self._kept[question] = known
        return known

    def change(self, pod: Pod, node: _Node, amount: int) -> None:
        """Hear that a pod has come to a node, or has left it."""
        if pod.is_terminating:
            return
        for question, counts in self._kept.items():
            if question.namespace == pod.namespace and question.selector.matches(pod.labels):
                domain = _domain(question, node)
                if domain is not None:
                    counts[domain] += amount

    def forget(self) -> None:
        """Hear that nodes have changed their domains."""
        self._kept.clear()


def _domain(question: Question, node: _Node | None) -> str | None:
    if node is None or not all(key in node.labels for key in question.keys):
        return None
    return node.labels[question.topology_key]
