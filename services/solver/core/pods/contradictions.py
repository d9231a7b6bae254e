"""Why a pod's own selection leaves no place at all, in words: which key, which values.

Apart from the reasons of pools and nodes because both say it, and neither has a part in it.
"""

from libs.domain.pod import NOWHERE, NodeTerm, PodShape
from libs.domain.requirements import Requirements
from services.solver.core.pods.ask import Ask, Place, combined

_PLACES_SHOWN = 3


def contradiction(ask: Ask) -> str:
    """Return why node selector and node affinity, which leave no place, contradict themselves."""
    shape = ask.shape
    if key := _empty(shape.node_selector):
        return f"its node selector asks for different values of {key}"
    terms = shape.required_node_terms
    if not terms or NOWHERE in terms:
        return "its node affinity has no term that matches any node; an empty term matches none"
    others = len(terms) - 1
    more = (
        ", and so does its other term" if others == 1 else f", and so do its {others} other terms"
    )
    return f"its node affinity contradicts {_with_what(shape, terms[0])}{more if others else ''}"


def _with_what(shape: PodShape, term: NodeTerm) -> str:
    if key := _empty(term.requirements):
        return f"itself: it leaves no value of {key}"
    key = _empty(shape.node_selector.intersection(term.requirements))
    own, selected = term.requirements.get(key), shape.node_selector.get(key)
    if own is None or selected is None:
        return "itself"
    return f"its node selector: {own} against {selected.condition}"


def _empty(asked: Requirements) -> str:
    """Return the first key of which no value, nor its absence, is accepted; else empty."""
    return next((one.key for one in asked if not one.satisfiable), "")


def volumes_apart(ask: Ask) -> str:
    """Return why volumes, which leave no place, do not go with the node selection or each other."""
    for alternatives in ask.shape.volumes:
        options = tuple(Place(requirements=one) for one in alternatives)
        if not combined(ask.node_places, options):
            where = " or ".join(map(str, alternatives[:_PLACES_SHOWN])) or "nothing"
            return f"its node selection rules out all places of a volume: {where}"
    return "its volumes cannot be used from one place"
