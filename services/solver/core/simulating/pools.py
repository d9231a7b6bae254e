"""Pools and overlays that come and go."""

from libs.domain.nodepool import NodePool
from libs.domain.scenario import PutNodePool, PutOverlay, RemoveNodePool, RemoveOverlay
from services.solver.core.simulating.draft import Draft
from services.solver.core.simulating.nodes import drop, in_flight


def put_nodepool(draft: Draft, edit: PutNodePool) -> None:
    """Add or replace a pool; its nodes stay as they are."""
    draft.put("nodepools", edit.nodepool)


def remove_nodepool(draft: Draft, edit: RemoveNodePool) -> None:
    """Remove a pool and its nodes: they are owned by it.

    Raises:
        InvalidRequest: there is no such pool.
    """
    pool: NodePool = draft.named("nodepools", edit.name, "remove_nodepool", "nodepool")
    draft.remove("nodepools", pool.name)
    claims = {one.name for one in draft.all("nodeclaims") if one.nodepool == pool.name}
    flying = {one.name for one in in_flight(draft)}
    nodes = {node.name for node in draft.all("nodes") if node.nodeclaim in claims}
    drop(draft, nodes | (claims & flying))


def put_overlay(draft: Draft, edit: PutOverlay) -> None:
    """Add or replace an overlay; one that was set aside by that name is right now."""
    draft.put("overlays", edit.overlay)
    draft.remove("set_aside", f"NodeOverlay//{edit.overlay.name}")


def remove_overlay(draft: Draft, edit: RemoveOverlay) -> None:
    """Remove an overlay.

    Raises:
        InvalidRequest: there is no such overlay.
    """
    draft.named("overlays", edit.name, "remove_overlay", "overlay")
    draft.remove("overlays", edit.name)
