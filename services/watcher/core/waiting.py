"""Is there anything to decide? And which objects make a decision due?

Source: `docs/sources.md` B and C5: provisionable pods, nodes that are leaving, capacity buffers.
"""

from libs.domain.snapshot import ClusterSnapshot


def has_waiting_pods(snapshot: ClusterSnapshot) -> bool:
    """Return whether a pod, virtual ones included, waits for a place or will lose the one it has.

    Complexity: one pass over the pods' columns; rows only of pods on leaving nodes.
    """
    blocks = snapshot.pods.blocks
    if any(True in block.provisionable for block in blocks):
        return True
    leaving = {node.name for node in snapshot.nodes.values() if node.leaving}
    return bool(leaving) and any(
        name in leaving and block.row(index).reschedulable
        for block in blocks
        for index, name in enumerate(block.nodes)
    )
