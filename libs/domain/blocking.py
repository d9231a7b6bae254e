"""Kinds of blockers: what may keep a node from being disrupted, and which event says so.

Apart because the kinds are an interface: disruption finds blockers, lifecycle makes events of them,
tools match on them.

Source: `docs/sources.md` 6.1 and 6.2.
"""

from enum import StrEnum


class BlockerKind(StrEnum):
    """The first group blocks every way of disrupting, the second one only some."""

    UNMANAGED = "Unmanaged"
    UNDER_COMMAND = "UnderCommand"
    """Object: the id of the command."""
    NOT_INITIALIZED = "NotInitialized"
    LEAVING = "Leaving"
    NOMINATED = "Nominated"
    DO_NOT_DISRUPT = "DoNotDisrupt"
    """Object: the pod; empty where node or claim say so."""
    STANDALONE = "Standalone"
    NODEPOOL_NOT_FOUND = "NodePoolNotFound"
    """Object: the pool."""
    CATALOGUE_NOT_FOUND = "CatalogueNotFound"
    """Object: the pool."""
    POD_DISRUPTION_BUDGET = "PodDisruptionBudget"
    """Object: the budget."""
    SEVERAL_POD_DISRUPTION_BUDGETS = "SeveralPodDisruptionBudgets"
    """Object: the pod."""

    STATIC = "Static"
    CONSOLIDATION_DISABLED = "ConsolidationDisabled"
    BUFFER_PODS = "BufferPods"
    NOT_EMPTY = "NotEmpty"
    NOT_CONSOLIDATABLE = "NotConsolidatable"
    BUDGET = "Budget"
    """Object: the pool."""
    GONE = "Gone"
    """There is no such node, or it is another claim's."""
    NO_PLACE = "NoPlace"
    """Object: a pod that finds no other place."""
    NOT_CHEAPER = "NotCheaper"
    """What could replace it costs as much, or a rule of spot nodes is against it."""
    PRICE_UNKNOWN = "PriceUnknown"
    NOT_CHOSEN = "NotChosen"
    """Others are the better choice, within what may be disrupted and moved."""


DISRUPTION_BLOCKED = frozenset(
    {
        BlockerKind.NOT_INITIALIZED,
        BlockerKind.LEAVING,
        BlockerKind.NOMINATED,
        BlockerKind.DO_NOT_DISRUPT,
        BlockerKind.STANDALONE,
        BlockerKind.NODEPOOL_NOT_FOUND,
        BlockerKind.CATALOGUE_NOT_FOUND,
        BlockerKind.POD_DISRUPTION_BUDGET,
        BlockerKind.SEVERAL_POD_DISRUPTION_BUDGETS,
    }
)
"""Told by the event DisruptionBlocked."""

UNCONSOLIDATABLE = frozenset({BlockerKind.CONSOLIDATION_DISABLED, BlockerKind.BUFFER_PODS})
"""Told by the event Unconsolidatable. Kinds in neither set are states of normal work, no events."""
