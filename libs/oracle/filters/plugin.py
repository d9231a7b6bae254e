"""What a filter is: a function that looks at cluster and pod once, and returns a test of nodes.

Apart because every filter and `verdict` share these types.
"""

from collections.abc import Callable
from dataclasses import dataclass

from libs.oracle.cluster import Cluster, Node
from libs.oracle.pods import Pod

NodeTest = Callable[[Node], tuple[str, ...]]
"""Of a node: why it is refused, in kube-scheduler's words; empty if it passes."""

PASSES: tuple[str, ...] = ()
"""What a `NodeTest` returns for a node that passes."""


@dataclass(frozen=True, slots=True)
class PodRefused:
    """The pod can go nowhere, whatever the node."""

    reason: str


Prepare = Callable[[Cluster, Pod], NodeTest | PodRefused | None]
"""A filter; None means that it has nothing to say about this pod."""
