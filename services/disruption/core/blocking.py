"""How blockers are made and worded.

A message holds no countdown and no end of a window that moves, since each change of it is
published.
"""

from libs.domain.blocking import BlockerKind
from libs.domain.node import Node
from libs.domain.plan import Blocker


def blocker(kind: BlockerKind, message: str, concerned: str = "") -> Blocker:
    """Return a blocker; `concerned` names an object other than the node and its claim."""
    return Blocker(kind=kind.value, object=concerned, message=message)


def unmanaged(node: Node) -> Blocker:
    """Say that nobody manages the node."""
    return blocker(BlockerKind.UNMANAGED, f'node "{node.name}" has no nodeclaim')


def under_command(command_id: str) -> Blocker:
    """Say that the node is being disrupted already."""
    message = f'it is under command "{command_id}"'
    return blocker(BlockerKind.UNDER_COMMAND, message, command_id)
