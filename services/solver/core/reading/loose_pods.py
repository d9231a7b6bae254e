"""Pods without a node, in columns: they may wait, and what is asked of a pod that waits is here.

Apart from pods on nodes because these are only counted, and those are dealt with one by one.
"""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import chain, compress
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np

from libs.domain.pod import Target
from services.solver.core.reading.bound_pods import picked
from services.solver.core.vectors import Ints


class LoosePods(NamedTuple):
    """Pods without a node that have not ended, in order of uid."""

    uids: tuple[str, ...]
    gangs: tuple[str, ...]
    targets: tuple[Target | None, ...]
    nominated: tuple[str, ...]
    numbers: Ints
    """(4, n): the id of the shape, when each was created, whether it waits, and its priority."""


NONE_LOOSE = LoosePods((), (), (), (), np.zeros((4, 0), np.int64))

_texts = attrgetter(*LoosePods._fields[:-1])


def in_one(parts: Iterable[LoosePods]) -> LoosePods:
    """Return pods that are in order, and in several parts."""
    many = tuple(parts)
    if len(many) < 2:
        return many[0] if many else NONE_LOOSE
    columns = zip(*map(_texts, many), strict=True)
    numbers = np.concatenate([one.numbers for one in many], axis=1)
    return LoosePods._make((*(tuple(chain.from_iterable(one)) for one in columns), numbers))


def exchanged(pods: LoosePods, gone: Iterable[str], come: LoosePods) -> LoosePods:
    """Return the pods without some of them, by uid, and with others that are not among the rest."""
    kept = _without(pods, gone)
    if not come.uids:
        return kept
    if not kept.uids:
        return come
    places = [bisect_left(kept.uids, uid) for uid in come.uids]
    # Where each of them is taken from: what is kept, then what comes.
    order = np.insert(np.arange(len(kept.uids)), places, np.arange(len(places)) + len(kept.uids))
    pick: Any = itemgetter(*order.tolist())
    columns = zip(_texts(kept), _texts(come), strict=True)
    numbers = np.concatenate([kept.numbers, come.numbers], axis=1).take(order, axis=1)
    return LoosePods._make((*(pick((*there, *new)) for there, new in columns), numbers))


def _without(pods: LoosePods, gone: Iterable[str]) -> LoosePods:
    """Return the pods but for some, by uid, some of which may not be among them."""
    stays = np.ones(len(pods.uids), np.bool_)
    for uid in gone if pods.uids else ():
        place = bisect_left(pods.uids, uid)
        if place < len(stays) and pods.uids[place] == uid:
            stays[place] = False
    if stays.all():
        return pods
    which = stays.tolist()
    texts = (tuple(compress(column, which)) for column in _texts(pods))
    return LoosePods._make((*texts, picked(pods.numbers, stays)))
