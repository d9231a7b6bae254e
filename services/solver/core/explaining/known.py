"""Which labels, values and taints there are anywhere: on nodes, in pools, in what is sold.

Apart because both a pod's and a pool's words are held against them.
"""

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.taint import Taint
from services.solver.core.explaining.trial import Decided
from services.solver.core.offers.catalogue import CatalogueColumns


def known_values(decision: Decided, key: str) -> frozenset[str]:
    """Return the values of a label that some node has or could be bought with."""
    found: set[str] = set()
    for node in decision.snapshot.nodes.values():
        labels = label_keys.canonical_labels(dict(node.labels))
        if key in labels:
            found.add(labels[key])
    for offers in decision.encoded.market.by_pool.values():
        found |= sold_values(offers.columns, key)
    for template in decision.encoded.templates:
        own = template.requirements.get(key)
        if own is not None and not own.complement:
            found |= own.values
    return frozenset(found)


def sold_values(columns: CatalogueColumns, key: str) -> frozenset[str]:
    """Return the values of a label among the offerings of a catalogue."""
    column = columns.key(key)
    return frozenset(
        value
        for number in np.unique(column.index).tolist()
        for one in column.distinct[number]
        if one is not None and not one.complement
        for value in one.values
    )


def known_keys(decision: Decided) -> frozenset[str]:
    """Return the labels that some node has or could be bought with."""
    found: set[str] = set(label_keys.WELL_KNOWN)
    for node in decision.snapshot.nodes.values():
        found.update(label_keys.canonical_labels(dict(node.labels)))
    for offers in decision.encoded.market.by_pool.values():
        columns = offers.columns
        found |= columns.well_known | columns.offering_keys
        found.update(*(kind.requirements.keys() for kind in columns.types))
    for template in decision.encoded.templates:
        found.update(template.requirements.keys())
    return frozenset(found)


def known_taints(decision: Decided) -> tuple[Taint, ...]:
    """Return the taints that nodes have or would be bought with, sorted."""
    found: set[Taint] = set()
    for template in decision.encoded.templates:
        found.update(template.pool.template.taints)
    for one in decision.encoded.standing.classes:
        found.update(one.taints)
    return tuple(sorted(found))
